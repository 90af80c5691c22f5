//! A model's answer: its form as the model is held to it, and as it is read. Strictly: a key too many is no answer.

use super::wrong::Wrong;
use crate::records::clarify::which_resource;
use crate::records::decide::Planned;
use crate::records::router::{Intent, Routed};
use crate::records::shown;
use crate::records::surface::Surface;
use domain::{ChangePlan, Clarification};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    plan: Option<ChangePlan>,
    question: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    resources: Vec<String>,
    confidence: f64,
    /// Asked for, since a model that gives reasons routes better, and not passed on: it may repeat the instruction, and
    /// reasons are logged.
    #[serde(rename = "reason")]
    _reason: String,
    intent: Intent,
}

/// The reason of every route that a model chose.
const BY_MODEL: &str = "a model chose";
/// The longest question that is passed on, in characters.
const MOST_CHARS: usize = 300;

/// Reads an answer over these resources; what is wrong with it, in words for the model.
pub(super) fn planned(surface: &Surface, resources: &[String], text: &str) -> Result<Planned, Wrong> {
    let answer: Answer = serde_json::from_str(text.trim())?;
    match (answer.plan, answer.question) {
        (Some(plan), None) => {
            let step = plan.step().ok_or_else(|| Wrong::rule("`steps` must hold exactly one step"))?;
            let known = resources.iter().any(|name| name == step.resource());
            let resource = surface.resource(step.resource()).filter(|_| known);
            let resource = resource.ok_or_else(|| Wrong::unknown(step.resource()))?;
            let source = resource.source.clone();
            Ok(Planned::Plan { source, reading: shown::in_words(&plan), plan: Box::new(plan) })
        }
        (None, Some(question)) if !question.trim().is_empty() => {
            Ok(Planned::Clarify(Clarification { question: short(&question), choices: Vec::new() }))
        }
        (None, _) => Ok(Planned::Clarify(which_resource(surface, resources))),
        (Some(_), Some(_)) => Err(Wrong::rule("give a plan or a question, and null for the other")),
    }
}

/// Reads a route; names that the role does not know are left out.
pub(super) fn routed(surface: &Surface, most: usize, text: &str) -> Result<Routed, Wrong> {
    let route: Route = serde_json::from_str(text.trim())?;
    if !(0.0..=1.0).contains(&route.confidence) {
        return Err(Wrong::rule("`confidence` must be from 0 to 1"));
    }
    let mut resources: Vec<String> = Vec::new();
    for name in route.resources.into_iter().filter(|name| surface.resource(name).is_some()) {
        if !resources.contains(&name) && resources.len() < most {
            resources.push(name);
        }
    }
    Ok(Routed { resources, confidence: route.confidence, reason: BY_MODEL.to_owned(), intent: route.intent })
}

/// One line, and not a long one.
fn short(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MOST_CHARS).collect()
}

/// JSON Schema of [`Answer`], for structured output.
pub(super) fn plan_schema() -> Value {
    let scalar = json!({"type": ["string", "number", "boolean", "null"]});
    let text = json!({"type": "string"});
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let operators = ["=", "!=", ">", ">=", "<", "<=", "IN", "BETWEEN", "LIKE", "ILIKE"];
    let any = json!({"anyOf": [scalar, {"type": "array", "items": scalar}]});
    let predicate = object(json!({"field": text, "op": {"enum": operators}, "value": any}), &["field", "op", "value"]);
    let on = object(json!({"leftField": text, "rightField": text}), &["leftField", "rightField"]);
    let join = object(
        json!({"target_resource": text, "on": {"type": "array", "items": on}, "type": {"enum": ["inner"]}}),
        &["target_resource", "on"],
    );
    let order = object(json!({"field": text, "dir": {"enum": ["asc", "desc"]}}), &["field", "dir"]);
    let values = json!({"type": "object", "additionalProperties": scalar});
    let list = |of: &Value| json!({"type": "array", "items": of});
    let read = object(
        json!({"op": {"enum": ["READ"]}, "resource": text, "select": list(&text), "where": list(&predicate),
            "join": list(&join), "order_by": list(&order), "limit": {"type": "integer"}, "offset": {"type": "integer"}}),
        &["op", "resource", "select", "limit"],
    );
    let insert =
        object(json!({"op": {"enum": ["INSERT"]}, "resource": text, "values": values}), &["op", "resource", "values"]);
    let update = object(
        json!({"op": {"enum": ["UPDATE"]}, "resource": text, "where": list(&predicate), "update": values, "limit": {"enum": [1]}}),
        &["op", "resource", "where", "update", "limit"],
    );
    let steps = json!({"type": "array", "items": {"anyOf": [read, insert, update]}});
    let plan = object(json!({"version": {"enum": ["1"]}, "steps": steps}), &["version", "steps"]);
    object(
        json!({"plan": {"anyOf": [plan, {"type": "null"}]}, "question": {"type": ["string", "null"]}}),
        &["plan", "question"],
    )
}

/// JSON Schema of [`Route`].
pub(super) fn route_schema(surface: &Surface) -> Value {
    let names: Vec<&str> = surface.resources.iter().map(|r| r.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "resources": {"type": "array", "items": {"enum": names}},
            "confidence": {"type": "number"},
            "reason": {"type": "string"},
            "intent": {"enum": ["READ", "WRITE"]},
        },
        "required": ["resources", "confidence", "reason", "intent"],
        "additionalProperties": false,
    })
}
