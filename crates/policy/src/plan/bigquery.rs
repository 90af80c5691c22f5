//! What plans say differently in BigQuery.

use super::compile::Compiler;
use super::expr::Typed;
use domain::plan::{AggregateFn, DatePart, DateUnit, Operator};
use domain::{FieldType, Value};

pub const FLOAT: &str = "FLOAT64";
/// The type of moments with a time zone; those without are `DATETIME`.
pub const ZONED: &str = "TIMESTAMP";

/// The type that a bound text is read as.
pub fn native(kind: FieldType, zoned: bool) -> &'static str {
    match kind {
        FieldType::Date => "DATE",
        FieldType::Time => "TIME",
        FieldType::Timestamp if zoned => ZONED,
        FieldType::Timestamp => "DATETIME",
        _ => "STRING",
    }
}

/// The narrower of its exact types that holds so many digits before and behind the point.
pub fn decimal(whole: usize, fraction: usize) -> &'static str {
    if whole <= 29 && fraction <= 9 { "NUMERIC" } else { "BIGNUMERIC" }
}

pub fn trunc(unit: DateUnit, of: &str) -> String {
    let cut = |word: &str| format!("DATE_TRUNC({of}, {word})");
    match unit {
        DateUnit::Hour => cut("HOUR"),
        DateUnit::Day => format!("CAST({of} AS DATE)"),
        // Its weeks begin on Sundays.
        DateUnit::Week => format!("CAST({} AS DATE)", cut("ISOWEEK")),
        DateUnit::Month => format!("CAST({} AS DATE)", cut("MONTH")),
        DateUnit::Quarter => format!("CAST({} AS DATE)", cut("QUARTER")),
        DateUnit::Year => format!("CAST({} AS DATE)", cut("YEAR")),
    }
}

/// A date has no hours to be cut to there.
pub fn truncated(unit: DateUnit, of: &Typed) -> String {
    let date = unit == DateUnit::Hour && of.kind == FieldType::Date;
    if date { trunc(unit, &format!("CAST({} AS DATETIME)", of.sql)) } else { trunc(unit, &of.sql) }
}

pub fn extract(part: DatePart, of: &str) -> String {
    let word = match part {
        // From Sunday as 1.
        DatePart::Weekday => return format!("(MOD(EXTRACT(DAYOFWEEK FROM {of}) + 5, 7) + 1)"),
        DatePart::Year => "YEAR",
        DatePart::Quarter => "QUARTER",
        DatePart::Month => "MONTH",
        DatePart::Day => "DAY",
        DatePart::Hour => "HOUR",
    };
    format!("EXTRACT({word} FROM {of})")
}

/// The average of decimals would be cut off behind nine digits. There is no exact median of a group: it is the mean of the
/// two values in the middle, which are one and the same where the number of values is odd.
pub fn average(function: AggregateFn, of: &str) -> String {
    let of = format!("CAST({of} AS {FLOAT})");
    if function != AggregateFn::Median {
        return format!("avg({of})");
    }
    let sorted = format!("array_agg({of} IGNORE NULLS ORDER BY {of})");
    let middle = |rank: &str| format!("{sorted}[safe_offset(div({rank}, 2))]");
    let (low, high) = (middle(&format!("(count({of}) - 1)")), middle(&format!("count({of})")));
    format!("(({low} + {high}) / 2)")
}

/// One side of a comparison with another: moments are compared with moments of their own type only.
pub fn alike(with: &Typed, (sql, kind, zoned): (&str, FieldType, bool)) -> String {
    let moment = with.kind == FieldType::Timestamp;
    match kind {
        FieldType::Date if moment => format!("CAST({sql} AS {})", native(with.kind, with.zoned)),
        FieldType::Timestamp if moment && zoned != with.zoned => {
            format!("CAST({sql} AS {})", native(with.kind, with.zoned))
        }
        _ => sql.to_owned(),
    }
}

impl Compiler<'_> {
    /// A backslash escapes there without being asked to, and there is no ILIKE.
    pub(super) fn bigquery_like(&mut self, left: &Typed, op: Operator, pattern: &str) -> String {
        let bound = self.bind(Value::Text(pattern.replace('\\', "\\\\")));
        match op {
            Operator::ILike => format!("(lower({}) LIKE lower({bound}))", left.sql),
            _ => format!("({} LIKE {bound})", left.sql),
        }
    }
}
