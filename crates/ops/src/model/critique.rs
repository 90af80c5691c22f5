//! What a model has to say against a script that it wrote: hints for the approver. They decide nothing.

use super::{Prompt, list, object, severity, short, text};
use crate::finding::Severity;
use domain::ScriptProposal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SYSTEM: &str = include_str!("critique.md");
const MAX_HINTS: usize = 10;

/// Something to look at twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    pub severity: Severity,
    pub message: String,
    /// Of the script, from 1; 0 where it is about the whole.
    pub line: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    hints: Vec<Hint>,
}

/// The question about a proposal whose texts were redacted.
pub fn critique(proposal: &ScriptProposal) -> Prompt {
    let hint = object(json!({"severity": severity(), "message": text(), "line": {"type": "integer"}}));
    Prompt {
        system: SYSTEM.to_owned(),
        question: format!("Proposal, as data:\n{}", serde_json::to_string(proposal).unwrap_or_default()),
        schema: object(json!({"hints": list(hint)})),
    }
}

pub fn read_critique(answer: &str) -> Result<Vec<Hint>, String> {
    let answer: Answer = serde_json::from_str(answer.trim()).map_err(|e| format!("not a valid answer: {e}"))?;
    let shortened = |hint: Hint| Hint { message: short(&hint.message, 300), ..hint };
    Ok(answer.hints.into_iter().take(MAX_HINTS).map(shortened).collect())
}
