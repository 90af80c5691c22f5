//! Types that a CAST or a literal may name.

use super::kind::Kind;
use super::refuse::refuse;
use crate::sql::refuse::clip;
use domain::{Fault, Flavour};
use sqlparser::ast::{DataType, ExactNumberInfo, ObjectNamePart, TimezoneInfo};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Of 64 bits.
    Int,
    /// Of fewer. DuckDB's alone.
    Int32,
    Int16,
    Int8,
    Float,
    Float32,
    Numeric(Option<(u64, u64)>),
    BigNumeric,
    Text,
    Bytes,
    Bool,
    Date,
    /// Without a time zone.
    Datetime,
    /// With one.
    Timestamp,
    Time,
}

impl Type {
    pub fn parse(flavour: Flavour, data_type: &DataType) -> Result<Self, Fault> {
        let found = match flavour {
            Flavour::BigQuery => bigquery(data_type),
            Flavour::DuckDb => duckdb(data_type),
        };
        found.ok_or_else(|| {
            let known = match flavour {
                Flavour::BigQuery => {
                    "INT64, FLOAT64, NUMERIC, BIGNUMERIC, DECIMAL, STRING, BYTES, BOOL, DATE, DATETIME, TIMESTAMP, TIME"
                }
                Flavour::DuckDb => {
                    "BIGINT, INTEGER, DOUBLE, DECIMAL, VARCHAR, BLOB, BOOLEAN, DATE, TIMESTAMP, TIMESTAMPTZ, TIME"
                }
            };
            let name = clip(&data_type.to_string());
            let message = format!("a predicate may not cast to `{name}`");
            refuse("type_not_allowed", message, format!("types: {known}")).detail("type", name)
        })
    }

    pub fn kind(self) -> Kind {
        match self {
            Self::Int | Self::Int32 | Self::Int16 | Self::Int8 => Kind::Integer,
            Self::Float | Self::Float32 | Self::Numeric(_) | Self::BigNumeric => Kind::Number,
            Self::Text => Kind::Text,
            Self::Bytes => Kind::Bytes,
            Self::Bool => Kind::Bool,
            Self::Date => Kind::Date,
            Self::Datetime | Self::Timestamp => Kind::Moment,
            Self::Time => Kind::Time,
        }
    }
}

fn bigquery(data_type: &DataType) -> Option<Type> {
    use DataType as T;
    Some(match data_type {
        T::Int64 | T::BigInt(None) | T::Int(None) | T::Integer(None) | T::SmallInt(None) | T::TinyInt(None) => {
            Type::Int
        }
        T::Float64 => Type::Float,
        T::Numeric(info) | T::Decimal(info) => Type::Numeric(digits(info)?),
        T::BigNumeric(ExactNumberInfo::None) => Type::BigNumeric,
        T::String(None) => Type::Text,
        T::Bytes(None) => Type::Bytes,
        T::Bool | T::Boolean => Type::Bool,
        T::Date => Type::Date,
        T::Datetime(None) => Type::Datetime,
        T::Timestamp(None, TimezoneInfo::None) => Type::Timestamp,
        T::Time(None, TimezoneInfo::None) => Type::Time,
        _ => return None,
    })
}

fn duckdb(data_type: &DataType) -> Option<Type> {
    use DataType as T;
    Some(match data_type {
        T::BigInt(None) | T::Int8(None) | T::Int64 => Type::Int,
        T::Int(None) | T::Integer(None) | T::Int4(None) | T::Int32 => Type::Int32,
        T::SmallInt(None) | T::Int2(None) | T::Int16 => Type::Int16,
        T::TinyInt(None) => Type::Int8,
        T::Double(ExactNumberInfo::None) | T::DoublePrecision | T::Float8 | T::Float64 => Type::Float,
        T::Float(ExactNumberInfo::None) | T::Real | T::Float4 | T::Float32 => Type::Float32,
        T::Numeric(info) | T::Decimal(info) | T::Dec(info) => Type::Numeric(digits(info)?),
        T::Varchar(None) | T::Text | T::String(None) | T::Char(None) | T::CharVarying(None) => Type::Text,
        T::Blob(None) | T::Bytea => Type::Bytes,
        T::Bool | T::Boolean => Type::Bool,
        T::Date => Type::Date,
        T::Datetime(None) | T::Timestamp(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Type::Datetime,
        T::Timestamp(None, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone) => Type::Timestamp,
        T::Time(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Type::Time,
        T::Custom(name, args) if args.is_empty() => match name.0.as_slice() {
            [ObjectNamePart::Identifier(one)] if one.value.eq_ignore_ascii_case("timestamptz") => Type::Timestamp,
            _ => return None,
        },
        _ => return None,
    })
}

/// `(precision, scale)`, with 0 for a scale that is left out; outer none if it makes no sense.
fn digits(info: &ExactNumberInfo) -> Option<Option<(u64, u64)>> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => return Some(None),
        ExactNumberInfo::Precision(precision) => (*precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (*precision, u64::try_from(*scale).ok()?),
    };
    ((1..=38).contains(&precision) && scale <= precision).then_some(Some((precision, scale)))
}
