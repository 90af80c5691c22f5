//! Spark's SQL, as Sail has it.

use super::functions::Functions;
use super::no_translation;
use super::notation::escaped;
use super::speech::Speech;
use crate::sql::refuse::Walk;
use sqlparser::ast::{DataType, ExactNumberInfo, Ident, ObjectName, ObjectNamePart};
use std::sync::OnceLock;

pub struct Spark;

impl Speech for Spark {
    fn usual(&self) -> &'static str {
        "default"
    }

    fn name(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn text(&self, text: &str) -> String {
        escaped(text)
    }

    fn functions(&self) -> &'static Functions {
        static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
        FUNCTIONS.get_or_init(|| Functions::read(include_str!("functions/spark.txt")))
    }

    fn data_type(&self, from: &DataType) -> Walk<DataType> {
        type_of(from)
    }

    fn format(&self, format: &str) -> Option<(&'static str, String)> {
        Some(("date_format", pattern_of(format)?))
    }

    fn fraction(&self, _: &str) -> Option<String> {
        None
    }

    fn field(&self, of: &str, name: &str) -> String {
        format!("{of}.{}", self.name(name))
    }

    fn folds_case(&self) -> bool {
        true
    }

    fn orders_by_aggregates(&self) -> bool {
        false
    }

    fn has_escapes(&self) -> bool {
        true
    }
}

fn type_of(from: &DataType) -> Walk<DataType> {
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

/// A format of strftime in the letters of Spark's patterns; none where it holds what they cannot say.
fn pattern_of(format: &str) -> Option<String> {
    let mut pattern = String::new();
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        match c {
            '%' => pattern.push_str(match characters.next()? {
                'Y' => "yyyy",
                'y' => "yy",
                'm' => "MM",
                'B' => "MMMM",
                'b' => "MMM",
                'd' => "dd",
                'j' => "DDD",
                'A' => "EEEE",
                'a' => "EEE",
                'H' => "HH",
                'M' => "mm",
                'S' => "ss",
                _ => return None,
            }),
            // Letters mean something there, and so do these.
            c if c.is_ascii_alphabetic() || matches!(c, '\'' | '[' | ']' | '{' | '}' | '#') => return None,
            c => pattern.push(c),
        }
    }
    Some(pattern)
}
