//! Types and units by Spark's names.

use super::super::no_translation;
use crate::sql::refuse::Walk;
use sqlparser::ast::{CastKind, DataType, DateTimeField, ExactNumberInfo, Expr, Ident, ObjectName, ObjectNamePart};

pub fn unit_of(unit: &DateTimeField) -> Walk<&'static str> {
    Ok(match unit.to_string().trim_matches(['\'', '"']).to_ascii_lowercase().trim_end_matches('s') {
        "year" => "YEAR",
        "month" => "MONTH",
        "week" => "WEEK",
        "day" => "DAY",
        "hour" => "HOUR",
        "minute" => "MINUTE",
        "second" => "SECOND",
        other => return Err(no_translation(other)),
    })
}

pub fn type_of(from: &DataType) -> Walk<DataType> {
    use DataType as T;
    let custom = |name: &str| T::Custom(ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]), Vec::new());
    Ok(match from {
        T::Varchar(_) | T::Text | T::String(None) | T::Char(_) | T::CharVarying(_) | T::CharacterVarying(_) => {
            T::String(None)
        }
        T::Character(_) | T::Nvarchar(_) | T::Uuid | T::JSON => T::String(None),
        T::BigInt(None) | T::Int8(None) | T::Int64 => T::BigInt(None),
        T::Int(None) | T::Integer(None) | T::Int4(None) | T::Int32 => T::Int(None),
        T::SmallInt(None) | T::Int2(None) | T::Int16 => T::SmallInt(None),
        T::TinyInt(None) => T::TinyInt(None),
        T::HugeInt | T::Int128 => T::Decimal(ExactNumberInfo::PrecisionAndScale(38, 0)),
        T::Double(_) | T::DoublePrecision | T::Float8 | T::Float64 => T::Double(ExactNumberInfo::None),
        T::Float(_) | T::Real | T::Float4 | T::Float32 => T::Float(ExactNumberInfo::None),
        T::Decimal(info @ ExactNumberInfo::PrecisionAndScale(..))
        | T::Numeric(info @ ExactNumberInfo::PrecisionAndScale(..)) => T::Decimal(*info),
        // DuckDB's own, where none is given.
        T::Decimal(ExactNumberInfo::None) | T::Numeric(ExactNumberInfo::None) => {
            T::Decimal(ExactNumberInfo::PrecisionAndScale(18, 3))
        }
        T::Bool | T::Boolean => T::Boolean,
        T::Date => T::Date,
        T::Timestamp(..) | T::Datetime(_) => custom("TIMESTAMP_NTZ"),
        T::Blob(_) | T::Bytea => custom("BINARY"),
        other => return Err(no_translation(&other.to_string())),
    })
}

pub fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, format: None }
}
