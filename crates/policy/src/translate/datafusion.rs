//! DataFusion's SQL, as Ballista has it.

use super::functions::Functions;
use super::no_translation;
use super::speech::Speech;
use crate::sql::refuse::Walk;
use sqlparser::ast::{DataType, ExactNumberInfo, TimezoneInfo};
use std::sync::OnceLock;

pub struct DataFusion;

/// Digits of a second that a moment has, as in DuckDB; left to itself it would take nine, and reach no further than 2262.
const MICROSECONDS: u64 = 6;

/// Digits of an exact number, at most.
const LONGEST: usize = 38;

impl Speech for DataFusion {
    fn usual(&self) -> &'static str {
        "public"
    }

    fn name(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// A backslash is a character like any other.
    fn text(&self, text: &str) -> String {
        format!("'{}'", text.replace('\'', "''"))
    }

    fn functions(&self) -> &'static Functions {
        static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
        FUNCTIONS.get_or_init(|| Functions::read(include_str!("functions/datafusion.txt")))
    }

    fn data_type(&self, from: &DataType) -> Walk<DataType> {
        type_of(from)
    }

    /// Its formats are those of strftime, of which these mean the same.
    fn format(&self, format: &str) -> Option<(&'static str, String)> {
        let mut characters = format.chars();
        while let Some(c) = characters.next() {
            if c == '%'
                && !matches!(characters.next()?, 'Y' | 'y' | 'm' | 'B' | 'b' | 'd' | 'j' | 'A' | 'a' | 'H' | 'M' | 'S')
            {
                return None;
            }
        }
        Some(("to_char", format.to_owned()))
    }

    /// It would be floating point: `0.1 + 0.2` and money would not be what they are in DuckDB.
    fn fraction(&self, digits: &str) -> Option<String> {
        let (whole, fraction) = digits.split_once('.')?;
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let (scale, precision) = (fraction.len(), (whole.len() + fraction.len()).max(1));
        let exact = plain(whole) && plain(fraction) && precision <= LONGEST;
        exact.then(|| format!("CAST('{digits}' AS DECIMAL({precision},{scale}))"))
    }

    fn field(&self, of: &str, name: &str) -> String {
        format!("{of}[{}]", self.text(name))
    }

    fn folds_case(&self) -> bool {
        false
    }

    fn orders_by_aggregates(&self) -> bool {
        true
    }

    fn has_escapes(&self) -> bool {
        false
    }
}

fn type_of(from: &DataType) -> Walk<DataType> {
    use DataType as T;
    Ok(match from {
        T::Varchar(_) | T::Text | T::String(None) | T::Char(_) | T::CharVarying(_) | T::CharacterVarying(_) => {
            T::Varchar(None)
        }
        T::Character(_) | T::Nvarchar(_) | T::Uuid | T::JSON => T::Varchar(None),
        T::BigInt(None) | T::Int8(None) | T::Int64 => T::BigInt(None),
        T::Int(None) | T::Integer(None) | T::Int4(None) | T::Int32 => T::Int(None),
        T::SmallInt(None) | T::Int2(None) | T::Int16 => T::SmallInt(None),
        T::TinyInt(None) => T::TinyInt(None),
        T::HugeInt | T::Int128 => T::Decimal(ExactNumberInfo::PrecisionAndScale(38, 0)),
        T::Double(_) | T::DoublePrecision | T::Float8 | T::Float64 => T::Double(ExactNumberInfo::None),
        T::Float(_) | T::Real | T::Float4 | T::Float32 => T::Real,
        T::Decimal(info @ ExactNumberInfo::PrecisionAndScale(..))
        | T::Numeric(info @ ExactNumberInfo::PrecisionAndScale(..)) => T::Decimal(*info),
        // DuckDB's own, where none is given.
        T::Decimal(ExactNumberInfo::None) | T::Numeric(ExactNumberInfo::None) => {
            T::Decimal(ExactNumberInfo::PrecisionAndScale(18, 3))
        }
        T::Bool | T::Boolean => T::Boolean,
        T::Date => T::Date,
        T::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) | T::Datetime(_) => {
            T::Timestamp(Some(MICROSECONDS), TimezoneInfo::None)
        }
        T::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => {
            T::Timestamp(Some(MICROSECONDS), TimezoneInfo::WithTimeZone)
        }
        T::Blob(_) | T::Bytea => T::Bytea,
        other => return Err(no_translation(&other.to_string())),
    })
}
