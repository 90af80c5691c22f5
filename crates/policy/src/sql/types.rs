//! Types that a CAST may name.

use super::refuse::{Walk, clip, refuse};
use domain::Dialect;
use sqlparser::ast::{ArrayElemTypeDef, DataType, ObjectNamePart, StructBracketKind, StructField};

/// Numbers, text, dates, JSON and lists of them.
pub fn plain(dialect: Dialect, data_type: &DataType) -> Walk {
    if is_plain(dialect, data_type) {
        return Ok(());
    }
    let message = format!("the type `{}` is not allowed", clip(&data_type.to_string()));
    Err(refuse(
        "sql.type_not_allowed",
        message,
        "cast to numbers, text, boolean, date, time, timestamp, interval, uuid or json",
    ))
}

fn is_plain(dialect: Dialect, data_type: &DataType) -> bool {
    use DataType as T;
    let duckdb = dialect == Dialect::DuckDb;
    let postgres = dialect == Dialect::Postgres;
    if dialect == Dialect::BigQuery {
        return super::bigquery::is_plain(data_type);
    }
    match data_type {
        T::Character(_) | T::Char(_) | T::CharacterVarying(_) | T::CharVarying(_) | T::Varchar(_) | T::Nvarchar(_) => {
            true
        }
        T::Text | T::String(None) | T::Clob(None) | T::Blob(None) | T::Bytea => true,
        T::Numeric(_) | T::Decimal(_) | T::Dec(_) | T::Float(_) | T::Double(_) | T::DoublePrecision => true,
        T::Real | T::Float4 | T::Float8 | T::Float32 | T::Float64 => true,
        T::TinyInt(None) | T::SmallInt(None) | T::Int(None) | T::Integer(None) | T::BigInt(None) => true,
        T::Int2(None) | T::Int4(None) | T::Int8(None) | T::MediumInt(None) => true,
        T::HugeInt | T::UHugeInt | T::UTinyInt | T::USmallInt | T::UBigInt => duckdb,
        T::Int16 | T::Int32 | T::Int64 | T::Int128 => duckdb,
        T::Bool | T::Boolean | T::Date | T::Time(..) | T::Datetime(_) | T::Timestamp(..) => true,
        T::Uuid | T::JSON | T::Interval { .. } => true,
        T::JSONB => postgres,
        T::Array(ArrayElemTypeDef::SquareBracket(inner, _)) => (duckdb || postgres) && is_plain(dialect, inner),
        T::Struct(fields, StructBracketKind::Parentheses) => {
            duckdb
                && fields.iter().all(|StructField { field_name, field_type, options }| {
                    options.is_none()
                        && field_name.iter().all(|n| super::literal::identifier(n).is_ok())
                        && is_plain(dialect, field_type)
                })
        }
        T::Custom(name, args) => {
            args.is_empty()
                && matches!(name.0.as_slice(), [ObjectNamePart::Identifier(ident)] if is_custom(dialect, &ident.value))
        }
        _ => false,
    }
}

/// Types for which the parser has no word of its own.
fn is_custom(dialect: Dialect, name: &str) -> bool {
    let duckdb = [
        "timestamp_s",
        "timestamp_ms",
        "timestamp_us",
        "timestamp_ns",
        "timestamptz",
        "timetz",
        "uinteger",
        "bignum",
        "varint",
        "long",
        "short",
        "logical",
    ];
    match dialect {
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => {
            duckdb.iter().any(|known| known.eq_ignore_ascii_case(name))
        }
        Dialect::Sqlite | Dialect::BigQuery => false,
        Dialect::Postgres => name.eq_ignore_ascii_case("timestamptz"),
    }
}
