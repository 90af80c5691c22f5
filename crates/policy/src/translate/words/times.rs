//! Spans of time.

use super::super::no_translation;
use super::calls::cast;
use crate::sql::refuse::Walk;
use sqlparser::ast::{
    BinaryOperator, DataType, DateTimeField, Expr, Interval, TimezoneInfo, UnaryOperator, Value, ValueWithSpan,
};

/// A constant one: engines do not agree on intervals of anything else.
pub fn interval(interval: &Interval) -> Walk<String> {
    match (&interval.leading_field, count(&interval.value), &interval.last_field) {
        (Some(DateTimeField::Quarter), Some(count), None) => Ok(format!("INTERVAL '{}' MONTH", count * 3)),
        (Some(unit), Some(count), None) => Ok(format!("INTERVAL '{count}' {}", unit_of(unit)?)),
        _ => Err(no_translation(&interval.to_string())),
    }
}

/// A date and some hours are a moment; Sail and DataFusion would leave it at the date.
pub fn with_hours(expr: &mut Expr) {
    let Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } = expr else { return };
    let moment = match (is_short(left), is_short(right)) {
        (false, true) => left,
        (true, false) => right,
        _ => return,
    };
    let inner = std::mem::replace(moment.as_mut(), Expr::Value(Value::Null.into()));
    **moment = cast(inner, DataType::Timestamp(None, TimezoneInfo::None));
}

/// A span that is not of whole days.
fn is_short(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_short(inner),
        Expr::Interval(Interval { leading_field: Some(unit), .. }) => {
            unit_of(unit).is_ok_and(|unit| matches!(unit, "HOUR" | "MINUTE" | "SECOND"))
        }
        _ => false,
    }
}

/// How many of a unit: a whole number, written as one or as text.
fn count(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Number(digits, _) | Value::SingleQuotedString(digits), .. }) => {
            digits.parse::<i32>().ok().map(i64::from)
        }
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => count(expr).map(|count| -count),
        Expr::Nested(inner) => count(inner),
        _ => None,
    }
}

fn unit_of(unit: &DateTimeField) -> Walk<&'static str> {
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
