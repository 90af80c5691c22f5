//! Dates cut to a unit and taken apart, the same in every dialect: ISO dates, weeks from Monday.

use super::{bigquery, postgres};
use domain::Dialect;
use domain::plan::{DatePart, DateUnit};

/// The start of the unit that a date lies in: a date, or for hours a timestamp.
pub fn trunc(dialect: Dialect, unit: DateUnit, of: &str) -> String {
    match dialect {
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => {
            let cut = format!("date_trunc('{}', {of})", unit_word(unit));
            if unit == DateUnit::Hour { cut } else { format!("CAST({cut} AS DATE)") }
        }
        Dialect::Postgres => postgres::trunc(unit_word(unit), unit == DateUnit::Hour, of),
        Dialect::BigQuery => bigquery::trunc(unit, of),
        Dialect::Sqlite => match unit {
            DateUnit::Year => format!("strftime('%Y-01-01', {of})"),
            DateUnit::Quarter => {
                let month = format!("(CAST(strftime('%m', {of}) AS INTEGER) - 1) / 3 * 3 + 1");
                format!("(strftime('%Y-', {of}) || printf('%02d', {month}) || '-01')")
            }
            DateUnit::Month => format!("strftime('%Y-%m-01', {of})"),
            DateUnit::Week => format!("date({of}, 'weekday 0', '-6 days')"),
            DateUnit::Day => format!("date({of})"),
            DateUnit::Hour => format!("strftime('%Y-%m-%d %H:00:00', {of})"),
        },
    }
}

/// A timestamp of SQLite in the one form that values are bound in.
pub fn instant(of: &str) -> String {
    format!("strftime('%Y-%m-%d %H:%M:%f', {of})")
}

/// One part of a date, as a whole number.
pub fn extract(dialect: Dialect, part: DatePart, of: &str) -> String {
    let number = |format: &str| format!("CAST(strftime('{format}', {of}) AS INTEGER)");
    match (dialect, part) {
        (Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion, DatePart::Weekday) => {
            format!("EXTRACT(isodow FROM {of})")
        }
        (Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion, _) => {
            format!("EXTRACT({} FROM {of})", part_word(part))
        }
        (Dialect::BigQuery, _) => bigquery::extract(part, of),
        (Dialect::Postgres, DatePart::Weekday) => postgres::extract("isodow", of),
        (Dialect::Postgres, _) => postgres::extract(part_word(part), of),
        (Dialect::Sqlite, DatePart::Year) => number("%Y"),
        (Dialect::Sqlite, DatePart::Quarter) => format!("(({} + 2) / 3)", number("%m")),
        (Dialect::Sqlite, DatePart::Month) => number("%m"),
        (Dialect::Sqlite, DatePart::Weekday) => format!("(({} + 6) % 7 + 1)", number("%w")),
        (Dialect::Sqlite, DatePart::Day) => number("%d"),
        (Dialect::Sqlite, DatePart::Hour) => number("%H"),
    }
}

fn unit_word(unit: DateUnit) -> &'static str {
    match unit {
        DateUnit::Year => "year",
        DateUnit::Quarter => "quarter",
        DateUnit::Month => "month",
        DateUnit::Week => "week",
        DateUnit::Day => "day",
        DateUnit::Hour => "hour",
    }
}

pub fn part_word(part: DatePart) -> &'static str {
    match part {
        DatePart::Year => "year",
        DatePart::Quarter => "quarter",
        DatePart::Month => "month",
        DatePart::Weekday => "weekday",
        DatePart::Day => "day",
        DatePart::Hour => "hour",
    }
}
