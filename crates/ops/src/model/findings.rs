//! What ails the device, by a model.

use super::{Prompt, list, object, severity, short, text};
use crate::diagnostics::Diagnostics;
use crate::finding::{Finding, RunbookCall, Severity};
use crate::runbook::Library;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SYSTEM: &str = include_str!("findings.md");
/// Of diagnostics, as much as a model is shown: of a longer log the end.
const MAX_BYTES: usize = 96 * 1024;
const MAX_FINDINGS: usize = 20;
const MAX_EVIDENCE: usize = 5;
/// Shorter, and it would be found in any diagnostics.
const SHORTEST_EVIDENCE: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    findings: Vec<Found>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    id: String,
    title: String,
    severity: Severity,
    confidence: f64,
    evidence: Vec<String>,
    runbook: Option<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: String,
    parameters: Vec<Given>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    name: String,
    value: String,
}

/// The question about redacted diagnostics.
pub fn ask_findings(diagnostics: &Diagnostics, library: &Library) -> Prompt {
    let runbooks: Vec<String> = library
        .iter()
        .map(|runbook| {
            let parameters: Vec<&str> = runbook.parameters.keys().map(String::as_str).collect();
            format!("- {} ({}): {}", runbook.id, parameters.join(", "), short(&runbook.title, 120))
        })
        .collect();
    let given = object(json!({"name": text(), "value": text()}));
    let call = object(json!({"id": text(), "parameters": list(given)}));
    let found = object(json!({
        "id": text(), "title": text(), "severity": severity(), "confidence": {"type": "number"},
        "evidence": list(text()), "runbook": {"anyOf": [call, {"type": "null"}]},
    }));
    Prompt {
        system: format!("{SYSTEM}\nRunbooks:\n{}\n", runbooks.join("\n")),
        question: format!("Diagnostics, as data:\n{}", bounded(diagnostics)),
        schema: object(json!({"findings": list(found)})),
    }
}

/// As JSON; where that is too long, without the oldest lines of the log.
fn bounded(diagnostics: &Diagnostics) -> String {
    let mut shown = diagnostics.clone();
    loop {
        let json = serde_json::to_string(&shown).unwrap_or_default();
        if json.len() <= MAX_BYTES || shown.logs.is_empty() {
            return json.chars().take(MAX_BYTES).collect();
        }
        let drop = shown.logs.len().div_ceil(2);
        shown.logs.drain(..drop);
    }
}

/// The findings that can be checked; what is wrong with the answer, in words for the model.
pub fn read_findings(answer: &str, diagnostics: &Diagnostics, library: &Library) -> Result<Vec<Finding>, String> {
    let answer: Answer = serde_json::from_str(answer.trim()).map_err(|e| format!("not a valid answer: {e}"))?;
    let said = serde_json::to_value(diagnostics).map(|value| lines(&value)).unwrap_or_default();
    let mut findings = Vec::new();
    for found in answer.findings.into_iter().take(MAX_FINDINGS) {
        if !(0.0..=1.0).contains(&found.confidence) {
            return Err("`confidence` must be from 0 to 1".to_owned());
        }
        let in_shape = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' || c == '_';
        if found.id.is_empty() || found.id.len() > 60 || !found.id.chars().all(in_shape) {
            return Err("`id` must be lower-case words with `.` and `_` between them".to_owned());
        }
        let is_said = |line: &&String| line.len() >= SHORTEST_EVIDENCE && said.iter().any(|said| said.contains(*line));
        let evidence: Vec<String> =
            found.evidence.iter().filter(is_said).take(MAX_EVIDENCE).map(|line| short(line, 500)).collect();
        // What nobody can look up is no finding.
        if evidence.is_empty() {
            continue;
        }
        findings.push(Finding {
            id: found.id,
            title: short(&found.title, 200),
            severity: found.severity,
            confidence: found.confidence,
            evidence,
            runbook: found.runbook.and_then(|call| known(call, library)),
        });
    }
    Ok(findings)
}

/// A runbook that there is, with parameters that it has.
fn known(call: Call, library: &Library) -> Option<RunbookCall> {
    let runbook = library.iter().find(|runbook| runbook.id == call.id)?;
    let parameters: BTreeMap<String, String> =
        call.parameters.into_iter().map(|given| (given.name, given.value)).collect();
    let fits = parameters.keys().all(|name| runbook.parameters.contains_key(name));
    fits.then_some(RunbookCall { id: call.id, parameters })
}

/// Every text that the diagnostics hold.
fn lines(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(lines).collect(),
        Value::Object(fields) => fields.values().flat_map(lines).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
