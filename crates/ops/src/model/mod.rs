//! What a model is asked, and how its answers are read. Strictly: a key too many is no answer, evidence that is not in the
//! diagnostics is none, and nothing that it says about a script counts as a check of it.
//!
//! Everything that goes into a prompt was redacted before. Diagnostics are data: instructions in them are for nobody.

mod critique;
mod findings;
mod script;

pub use critique::{Hint, critique, read_critique};
pub use findings::{ask_findings, read_findings};
pub use script::{Room, ask_script, read_script};

use serde_json::{Value, json};

/// One question to a model that answers in a given form.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// What is the same for every question of this kind.
    pub system: String,
    pub question: String,
    /// JSON Schema of the answer.
    pub schema: Value,
}

/// One line, and not a long one.
fn short(text: &str, most: usize) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(most).collect()
}

fn object(properties: Value) -> Value {
    let required: Vec<String> = properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn list(of: Value) -> Value {
    json!({"type": "array", "items": of})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn severity() -> Value {
    json!({"enum": ["info", "warning", "critical"]})
}
