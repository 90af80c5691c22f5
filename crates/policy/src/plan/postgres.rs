//! What plans say differently in Postgres.

use domain::FieldType;
use domain::plan::AggregateFn;

pub const DOUBLE: &str = "DOUBLE PRECISION";
/// Text that Postgres reads as a number. Anything else would be an error there, not NULL.
const NUMBER: &str = r"^\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*$";
/// Text that begins like a moment. A day that is in no calendar is an error of the data.
const MOMENT: &str = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}.*)?\s*$";

pub fn trunc(unit: &str, moment: bool, of: &str) -> String {
    let cut = format!("date_trunc('{unit}', {of})");
    format!("CAST({cut} AS {})", if moment { "TIMESTAMP" } else { "DATE" })
}

/// EXTRACT gives decimals there.
pub fn extract(part: &str, of: &str) -> String {
    format!("CAST(EXTRACT({part} FROM {of}) AS BIGINT)")
}

/// The average of decimals would have as many digits as there is room for.
pub fn average(function: AggregateFn, of: &str) -> String {
    match function {
        AggregateFn::Median => format!("percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST({of} AS {DOUBLE}))"),
        _ => format!("CAST(avg({of}) AS {DOUBLE})"),
    }
}

pub fn number(of: &str, kind: FieldType) -> String {
    read(of, kind.is_text().then_some(NUMBER), DOUBLE)
}

pub fn moment(of: &str, kind: FieldType) -> String {
    read(of, kind.is_text().then_some(MOMENT), "TIMESTAMP")
}

fn read(of: &str, pattern: Option<&str>, native: &str) -> String {
    match pattern {
        Some(pattern) => format!("CASE WHEN {of} ~ '{pattern}' THEN CAST({of} AS {native}) END"),
        None => format!("CAST({of} AS {native})"),
    }
}
