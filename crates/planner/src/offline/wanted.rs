//! Which columns are worth reading before the first question.

use super::text::split_name;
use domain::{Column, SourceSchema};

/// What to read of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Its different values, up to a cap.
    Distinct,
    /// Its least and greatest value.
    Range,
}

/// The columns whose values the planner recognises in questions: different values of text, ranges
/// of moments and years. Whoever reads them does so as the caller, through the path.
pub fn wanted_values(schema: &SourceSchema) -> Vec<(String, String, What)> {
    let of_table = |table: &domain::Table| {
        let name = table.name.clone();
        table.columns.iter().filter_map(move |c| Some((name.clone(), c.name.clone(), what(c)?))).collect::<Vec<_>>()
    };
    super::members::written_out(schema).tables.iter().flat_map(of_table).collect()
}

fn what(column: &Column) -> Option<What> {
    let words = split_name(&column.name);
    let says = |marks: &[&str]| words.iter().any(|w| marks.contains(&w.as_str()));
    let moment = says(&["date", "datetime", "timestamp", "time", "at", "on", "day", "dob", "birthday"]);
    match column.kind {
        kind if kind.is_temporal() => Some(What::Range),
        kind if kind.is_text() && moment => Some(What::Range),
        kind if kind.is_text() => Some(What::Distinct),
        kind if kind.is_numeric() && says(&["year", "founded"]) => Some(What::Range),
        _ => None,
    }
}
