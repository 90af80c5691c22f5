//! What ails a device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// By a rule, or by a model: the same shape, and no more believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The rule's id, or the model's name for it: `disk.full`.
    pub id: String,
    pub title: String,
    pub severity: Severity,
    /// From 0 to 1.
    pub confidence: f64,
    /// Lines of the diagnostics, as they are.
    pub evidence: Vec<String>,
    /// What may be done about it.
    pub runbook: Option<RunbookCall>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Critical,
}

/// A runbook with what it needs to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunbookCall {
    pub id: String,
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
}
