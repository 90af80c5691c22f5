//! JSON values, taken strictly as the type of their field.
//!
//! | type | taken | kept as |
//! |---|---|---|
//! | uuid | `"8-4-4-4-12"` | lowercase |
//! | string, text | text; one of `values` where the contract lists them | as it is |
//! | integer | a whole number of 64 bits | as it is |
//! | number | a finite number | as it is |
//! | decimal | a number, or its digits as text | as it is |
//! | boolean | `true`, `false` | as it is |
//! | date | `"YYYY-MM-DD"` | as it is |
//! | time | `"HH:MM"`, `"HH:MM:SS"` | with seconds |
//! | timestamp | RFC 3339, `"YYYY-MM-DDTHH:MM:SS"` (UTC), or a date (its midnight) | UTC, milliseconds; microseconds where they are given |
//! | json | any JSON | compact text |
//!
//! Nothing is converted between types: `"5"` is no number, `5` no text, `1` no boolean. `null` goes where the field
//! is nullable.

use super::invalid;
use crate::contract::Field;
use crate::sql::refuse::clip;
use crate::suggest::did_you_mean;
use domain::{Fault, FieldType, Value};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use serde_json::Value as Json;

/// A value that is longer is a document, and not for here.
const MAX_TEXT: usize = 64 * 1024;

/// The value as it is bound, or what is wrong with it.
pub fn take(field: &Field, json: &Json) -> Result<Value, Fault> {
    if json.is_null() {
        let message = format!("the field `{}` must have a value", field.name);
        let null = field.nullable.then_some(Value::Null);
        return null.ok_or_else(|| invalid("change.null", message, "give it one, or leave the field out"));
    }
    let taken = scalar(field.kind, json).ok_or_else(|| {
        let shown = clip(&json.to_string());
        let message =
            format!("the value `{shown}` does not fit the field `{}`: {} is needed", field.name, needed(field.kind));
        invalid("change.value_type", message, "write the value in the type of its field; nothing is converted")
    })?;
    if let Value::Text(text) = &taken {
        fits(field, text)?;
    }
    Ok(taken)
}

/// Text that the source can hold, and that the contract lists.
fn fits(field: &Field, text: &str) -> Result<(), Fault> {
    if text.len() > MAX_TEXT {
        let message = format!("the value of `{}` has {} bytes, more than {MAX_TEXT}", field.name, text.len());
        return Err(invalid("change.value_too_long", message, "send less"));
    }
    if text.contains('\0') {
        let message = format!("the value of `{}` has a NUL in it", field.name);
        return Err(invalid("change.value_type", message, "take it out"));
    }
    if field.values.is_empty() || field.values.iter().any(|value| value == text) {
        return Ok(());
    }
    let message = format!("`{}` is not a value of the field `{}`", clip(text), field.name);
    let hint = did_you_mean(text, field.values.iter().map(String::as_str), "values");
    Err(invalid("change.value_not_listed", message, hint))
}

fn scalar(kind: FieldType, json: &Json) -> Option<Value> {
    match (kind, json) {
        (FieldType::Json, any) => Some(Value::Text(any.to_string())),
        (FieldType::Boolean, Json::Bool(truth)) => Some(Value::Bool(*truth)),
        (FieldType::Integer, Json::Number(number)) => number.as_i64().map(Value::Int),
        (FieldType::Number | FieldType::Decimal, Json::Number(number)) => match number.as_i64() {
            Some(whole) => Some(Value::Int(whole)),
            None => number.as_f64().filter(|f| f.is_finite()).map(Value::Float),
        },
        (_, Json::String(text)) => textual(kind, text).map(Value::Text),
        _ => None,
    }
}

fn textual(kind: FieldType, text: &str) -> Option<String> {
    match kind {
        FieldType::String | FieldType::Text => Some(text.to_owned()),
        FieldType::Uuid if text.len() == 36 => uuid::Uuid::parse_str(text).ok().map(|u| u.to_string()),
        FieldType::Decimal => is_decimal(text).then(|| text.to_owned()),
        FieldType::Date => date(text).map(|d| d.to_string()),
        FieldType::Time => text.parse::<Time>().ok().map(|t| t.strftime("%H:%M:%S").to_string()),
        FieldType::Timestamp => timestamp(text),
        _ => None,
    }
}

fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    plain(whole) && plain(fraction) && whole.len() + fraction.len() <= 38
}

fn date(text: &str) -> Option<Date> {
    (text.len() == 10).then(|| text.parse::<Date>().ok()).flatten()
}

fn timestamp(text: &str) -> Option<String> {
    let instant = match (date(text), text.parse::<jiff::Timestamp>()) {
        (Some(date), _) => date.to_zoned(TimeZone::UTC).ok()?.timestamp(),
        (None, Ok(instant)) => instant,
        (None, Err(_)) => text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    // A version that a source made of microseconds is compared with in full.
    let form = match instant.subsec_nanosecond() % 1_000_000 {
        0 => "%Y-%m-%dT%H:%M:%S%.3fZ",
        _ => "%Y-%m-%dT%H:%M:%S%.6fZ",
    };
    Some(instant.strftime(form).to_string())
}

fn needed(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Integer => "a whole number",
        FieldType::Number => "a number",
        FieldType::Decimal => "a number, or its digits as text",
        FieldType::Boolean => "true or false",
        FieldType::Date => "a date as \"YYYY-MM-DD\"",
        FieldType::Timestamp => "a time as \"YYYY-MM-DDTHH:MM:SSZ\" or a date",
        FieldType::Time => "a time of day as \"HH:MM:SS\"",
        FieldType::Uuid => "a uuid as text",
        FieldType::String | FieldType::Text => "text",
        FieldType::Json => "JSON",
        FieldType::Bytes | FieldType::List | FieldType::Struct | FieldType::Other => "another field",
    }
}
