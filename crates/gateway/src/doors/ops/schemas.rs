//! `GET /api/v1/ai/schemas`: the JSON Schemas of all that goes in and out.

use super::{analyses, devices, diagnostics, proposals, verdicts};
use axum::Json;
use domain::Risk;
use ledger::ops as kept;
use ops::model::Hint;
use policy::script::Reason;
use schemars::{Schema, SchemaGenerator, json_schema, schema_for};
use serde_json::{Map, Value, json};

pub async fn schemas() -> Json<Map<String, Value>> {
    let all = ops::schemas::all().into_iter().chain(requests()).chain(replies());
    Json(all.map(|(name, schema)| (name.to_owned(), schema.to_value())).collect())
}

fn requests() -> [(&'static str, Schema); 9] {
    [
        ("analysis_request", schema_for!(analyses::AnalysisRequest)),
        ("claim_request", schema_for!(devices::ClaimRequest)),
        ("enrol_request", schema_for!(devices::EnrolRequest)),
        ("expect_request", schema_for!(devices::ExpectRequest)),
        ("log_request", schema_for!(devices::LogRequest)),
        ("proposal_request", schema_for!(proposals::ProposeRequest)),
        ("result_request", schema_for!(devices::ResultRequest)),
        ("validation_request", schema_for!(proposals::ValidateRequest)),
        ("verdict_request", schema_for!(verdicts::VerdictRequest)),
    ]
}

fn replies() -> [(&'static str, Schema); 14] {
    [
        ("analysis", schema_for!(kept::Analysis)),
        ("approval", schema_for!(kept::Approval)),
        ("claim_reply", schema_for!(devices::ClaimReply)),
        ("device", schema_for!(kept::Device)),
        ("diagnostics_line", schema_for!(kept::DiagnosticsLine)),
        ("enrol_reply", schema_for!(devices::EnrolReply)),
        ("error", error()),
        ("expect_reply", schema_for!(devices::ExpectReply)),
        ("kept_diagnostics", schema_for!(diagnostics::Shown)),
        ("kept_package", schema_for!(kept::KeptPackage)),
        ("proposal", schema_for!(proposals::Shown)),
        ("proposal_line", schema_for!(proposals::Line)),
        ("submitted", schema_for!(diagnostics::Submitted)),
        ("validation_report", report()),
    ]
}

/// [`super::envelope::body`].
fn error() -> Schema {
    let text = || json!({ "type": "string" });
    let error = json!({ "code": text(), "message": text(), "details": { "type": "object" } });
    whole(&json!({ "error": object(&error, &[]), "request_id": text() }), &[])
}

/// What policy says of a script, and what its author says against it, if that is a model.
fn report() -> Schema {
    let mut made = SchemaGenerator::default();
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer", "minimum": 1 });
    let fault = json!({
        "kind": text(), "code": text(), "message": text(), "hint": text(),
        "span": object(&json!({ "line": number(), "column": number() }), &[]),
        "details": { "type": "object", "additionalProperties": text() },
    });
    let critique = json!({ "by": text(), "hints": list(made.subschema_for::<Hint>()), "fault": text() });
    let report = json!({
        "digest": { "type": "string", "pattern": "^[0-9a-f]{64}$" },
        "violations": list(object(&fault, &["span", "details"])),
        "risk": made.subschema_for::<Risk>(),
        "reasons": list(made.subschema_for::<Reason>()),
        "commands": list(text()),
        "critique": object(&critique, &["hints", "fault"]),
    });
    let mut schema = whole(&report, &["critique"]);
    schema.insert("$defs".to_owned(), Value::Object(made.take_definitions(true)));
    schema
}

fn whole(properties: &Value, optional: &[&str]) -> Schema {
    let mut schema = json_schema!({ "$schema": "https://json-schema.org/draft/2020-12/schema" });
    for (key, value) in object(properties, optional).as_object().into_iter().flatten() {
        schema.insert(key.clone(), value.clone());
    }
    schema
}

/// With these properties and no others.
fn object(properties: &Value, optional: &[&str]) -> Value {
    let names = properties.as_object().into_iter().flat_map(Map::keys);
    let required: Vec<&String> = names.filter(|name| !optional.contains(&name.as_str())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn list(items: impl Into<Value>) -> Value {
    json!({ "type": "array", "items": items.into() })
}
