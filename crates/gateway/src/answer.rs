//! The sentence that goes with a result, and the one that goes with a refusal.

use crate::rows;
use domain::{Ask, Fault, Kind, QueryPlan, Rows, Run, Wish};
use planner::offline::{self, AnswerInput};

/// As many rows as a sentence can be about.
const ROWS_READ: usize = 1_000;

/// Written from the result itself, never from what was expected of it.
pub fn sentence(run: &Run, ask: &Ask, result: &Rows) -> String {
    let plan: Option<QueryPlan> = run.plan_json.clone().and_then(|json| serde_json::from_value(json).ok());
    let (Wish::Question { text, .. }, Some(plan)) = (&ask.wish, plan) else { return plain(run, result) };
    let Ok(head) = rows::head(result, ROWS_READ) else { return plain(run, result) };
    offline::sentence(&AnswerInput {
        question: text,
        reading: run.reading.as_deref().unwrap_or_default(),
        plan: &plan,
        columns: &result.columns,
        rows: &head,
        row_count: result.row_count,
        truncated: result.truncated,
        filtered_by: &run.filtered_by,
    })
}

/// For statements that the caller wrote: they know what they asked.
fn plain(run: &Run, result: &Rows) -> String {
    let count = match (result.row_count, result.truncated) {
        (n, true) => format!("The first {n} rows; there are more."),
        (1, false) => "1 row.".to_owned(),
        (n, false) => format!("{n} rows."),
    };
    match run.filtered_by.as_slice() {
        [] => count,
        some => format!("{count} Policy shows you only some rows of {}.", some.join(", ")),
    }
}

pub fn refusal(fault: &Fault) -> String {
    let lead = match fault.kind {
        Kind::NotUnderstood => "I can't answer that",
        Kind::SqlPolicy | Kind::Forbidden => "That is not allowed",
        Kind::Timeout | Kind::ResourceExceeded => "That was stopped",
        _ => "That did not work",
    };
    format!("{lead}: {}. Hint: {}.", fault.message.trim_end_matches('.'), fault.hint.trim_end_matches('.'))
}
