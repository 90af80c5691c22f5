//! Values: checked against the type that they are compared with, then bound.

use super::compile::Compiler;
use super::expr::Typed;
use super::{bigquery, invalid};
use crate::sql::refuse::clip;
use crate::sql::walk::placeholder;
use domain::{Dialect, Fault, FieldType, Value};
use jiff::civil::{Date, DateTime, Time};

impl Compiler<'_> {
    /// The placeholder of a value.
    pub(super) fn bind(&mut self, value: Value) -> String {
        let number = self.params.number(value);
        placeholder(self.dialect(), number)
    }

    /// A value as it must be written beside something of that type.
    pub(super) fn value_for(&mut self, value: &Value, beside: &Typed) -> Result<String, Fault> {
        let kind = beside.kind;
        let mismatch = |expected: &str| {
            let shown = clip(&serde_json::to_string(value).unwrap_or_default());
            let message = format!("the value `{shown}` does not fit: {expected} is needed");
            invalid("plan.value_type", message, "write the value in the type of the field")
        };
        let typed = match (kind, value) {
            (_, Value::Null) => {
                return Err(invalid("plan.null_value", "nothing compares with null", "use `is_null` or `is_not_null`"));
            }
            (FieldType::Integer | FieldType::Number | FieldType::Decimal, Value::Int(_) | Value::Float(_)) => {
                return Ok(self.bind(value.clone()));
            }
            (FieldType::Decimal, Value::Text(text)) => {
                return self.decimal(text).ok_or_else(|| mismatch("a decimal number"));
            }
            (FieldType::Boolean, Value::Bool(_)) | (FieldType::String | FieldType::Text, Value::Text(_)) => {
                return Ok(self.bind(value.clone()));
            }
            (FieldType::Date, Value::Text(text)) => date(text).map(|d| (d, "DATE")),
            (FieldType::Timestamp, Value::Text(text)) => timestamp(text).map(|t| (t, "TIMESTAMP")),
            (FieldType::Time, Value::Text(text)) => time(text).map(|t| (t, "TIME")),
            (FieldType::Uuid, Value::Text(text)) => uuid::Uuid::parse_str(text).ok().map(|_| (text.clone(), "UUID")),
            _ => None,
        };
        let Some((text, native)) = typed else { return Err(mismatch(expected(kind))) };
        let bound = self.bind(Value::Text(text));
        Ok(match self.dialect() {
            Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::Postgres => {
                format!("CAST({bound} AS {native})")
            }
            Dialect::BigQuery => format!("CAST({bound} AS {})", bigquery::native(kind, beside.zoned)),
            Dialect::Sqlite => bound,
        })
    }

    /// Exact decimals keep their digits: as text, cast to just as many places.
    fn decimal(&mut self, text: &str) -> Option<String> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |s: &str| s.chars().all(|c| c.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || whole.len() + fraction.len() > 38 {
            return None;
        }
        let bound = self.bind(Value::Text(text.to_owned()));
        Some(match self.dialect() {
            Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::Postgres => {
                format!("CAST({bound} AS DECIMAL(38,{}))", fraction.len())
            }
            Dialect::Sqlite => format!("CAST({bound} AS NUMERIC)"),
            Dialect::BigQuery => format!("CAST({bound} AS {})", bigquery::decimal(whole.len(), fraction.len())),
        })
    }
}

fn expected(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Integer | FieldType::Number => "a number",
        FieldType::Decimal => "a number or a decimal as text",
        FieldType::Boolean => "true or false",
        FieldType::Date => "a date as \"YYYY-MM-DD\"",
        FieldType::Timestamp => "a time as \"YYYY-MM-DD HH:MM:SS\" or a date",
        FieldType::Time => "a time of day as \"HH:MM:SS\"",
        FieldType::Uuid => "a uuid as text",
        FieldType::String | FieldType::Text => "text in quotes",
        FieldType::Json | FieldType::Bytes | FieldType::List | FieldType::Struct | FieldType::Other => {
            "a comparable field"
        }
    }
}

fn date(text: &str) -> Option<String> {
    (text.len() == 10).then(|| text.parse::<Date>().ok()).flatten().map(|d| d.to_string())
}

fn time(text: &str) -> Option<String> {
    text.parse::<Time>().ok().map(|t| t.to_string())
}

/// ISO text with a space and milliseconds, or microseconds where they are given, in UTC where an offset is given; a date is its midnight.
fn timestamp(text: &str) -> Option<String> {
    let civil = match (date(text), text.parse::<jiff::Timestamp>()) {
        (Some(date), _) => date.parse::<Date>().ok()?.to_datetime(Time::midnight()),
        (None, Ok(instant)) => instant.to_zoned(jiff::tz::TimeZone::UTC).datetime(),
        (None, Err(_)) => text.parse::<DateTime>().ok()?,
    };
    let form = match civil.subsec_nanosecond() % 1_000_000 {
        0 => "%Y-%m-%d %H:%M:%S%.3f",
        _ => "%Y-%m-%d %H:%M:%S%.6f",
    };
    Some(civil.strftime(form).to_string())
}
