//! The sentence that goes with a result, and the one that goes with a refusal.

use crate::rows;
use domain::{Ask, Fault, Kind, QueryPlan, Rows, Run, Wish};
use planner::offline::{self, AnswerInput};

/// As many rows as a sentence can be about.
const ROWS_READ: usize = 1_000;

/// Written from the result itself, never from what was expected of it.
pub fn sentence(run: &Run, ask: &Ask, result: &Rows) -> String {
    let plan: Option<QueryPlan> = run.plan_json.clone().and_then(|json| serde_json::from_value(json).ok());
    let question = match &ask.wish {
        Wish::Question { text, .. } | Wish::Instruction { text, .. } => text.as_str(),
        Wish::Proposal(_) | Wish::Step { .. } => "",
    };
    offline::sentence(&AnswerInput {
        question,
        reading: run.reading.as_deref().unwrap_or_default(),
        plan: plan.as_ref(),
        columns: &result.columns,
        rows: &rows::head(result, ROWS_READ).unwrap_or_default(),
        row_count: result.row_count,
        truncated: result.truncated,
        filtered_by: &run.filtered_by,
    })
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
