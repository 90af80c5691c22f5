//! Cells as people read them.

use domain::ResultColumn;
use domain::plan::DateUnit;
use jiff::civil::Date;
use serde_json::Value;

/// A number with thousands separated and no more decimals than it needs.
pub(super) fn number(value: f64) -> String {
    let decimals = if value.fract() == 0.0 { 0 } else { 2 };
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if value < 0.0 { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{grouped}") } else { format!("{sign}{grouped}.{fraction}") }
}

/// The number in a cell; decimals and big integers travel as text.
pub(super) fn figure(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A cell in a sentence.
pub(super) fn cell(value: &Value, column: &ResultColumn) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        _ if column.name.ends_with("_percent") && figure(value).is_some() => {
            format!("{} %", number(figure(value).unwrap_or_default()))
        }
        Value::String(text) if column.kind.is_numeric() => figure(value).map_or_else(|| text.clone(), number),
        Value::String(text) => moment(text),
        Value::Number(n) if is_label(column) => n.to_string(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), number),
        other => other.to_string(),
    }
}

/// Years and identifiers are names, not amounts: 2024, not 2,024.
fn is_label(column: &ResultColumn) -> bool {
    let name = column.name.as_str();
    name == "id" || name.ends_with("_id") || name == "year" || name.ends_with("_year")
}

/// The day that a bucket starts with, as people call the bucket.
pub(super) fn period(day: &str, unit: DateUnit) -> String {
    let Some(date) = day.get(..10).and_then(|d| d.parse::<Date>().ok()) else { return day.to_owned() };
    match unit {
        DateUnit::Year => date.year().to_string(),
        DateUnit::Quarter => format!("Q{} {}", (date.month() - 1) / 3 + 1, date.year()),
        DateUnit::Month => date.strftime("%B %Y").to_string(),
        DateUnit::Week => format!("the week of {date}"),
        DateUnit::Day => date.to_string(),
        DateUnit::Hour => day.to_owned(),
    }
}

/// A timestamp at midnight is a day.
fn moment(text: &str) -> String {
    for midnight in ["T00:00:00", " 00:00:00"] {
        if let Some((day, rest)) = text.split_once(midnight)
            && day.len() == 10
            && rest.chars().all(|c| matches!(c, '0' | '.' | 'Z'))
        {
            return day.to_owned();
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (value, text) in
            [(0.0, "0"), (1234.0, "1,234"), (-1_234_567.891, "-1,234,567.89"), (12.5, "12.50"), (999.0, "999")]
        {
            assert_eq!(number(value), text);
        }
        assert_eq!(moment("2024-01-01T00:00:00"), "2024-01-01");
        assert_eq!(moment("2024-01-01 00:30:00"), "2024-01-01 00:30:00");
    }
}
