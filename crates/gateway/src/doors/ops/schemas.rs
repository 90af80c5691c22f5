//! `GET /api/v1/ai/schemas`: the JSON Schemas of all that goes in and out.

use super::{analyses, devices, proposals, verdicts};
use axum::Json;
use ledger::ops as kept;
use schemars::{Schema, schema_for};
use serde_json::{Map, Value};

pub async fn schemas() -> Json<Map<String, Value>> {
    let all = ops::schemas::all().into_iter().chain(requests()).chain(replies());
    Json(all.map(|(name, schema)| (name.to_owned(), schema.to_value())).collect())
}

fn requests() -> [(&'static str, Schema); 8] {
    [
        ("analysis_request", schema_for!(analyses::AnalysisRequest)),
        ("claim_request", schema_for!(devices::ClaimRequest)),
        ("enrol_request", schema_for!(devices::EnrolRequest)),
        ("expect_request", schema_for!(devices::ExpectRequest)),
        ("log_request", schema_for!(devices::LogRequest)),
        ("proposal_request", schema_for!(proposals::ProposeRequest)),
        ("result_request", schema_for!(devices::ResultRequest)),
        ("verdict_request", schema_for!(verdicts::VerdictRequest)),
    ]
}

fn replies() -> [(&'static str, Schema); 6] {
    [
        ("analysis", schema_for!(kept::Analysis)),
        ("approval", schema_for!(kept::Approval)),
        ("device", schema_for!(kept::Device)),
        ("diagnostics_line", schema_for!(kept::DiagnosticsLine)),
        ("kept_package", schema_for!(kept::KeptPackage)),
        ("proposal", schema_for!(kept::KeptProposal)),
    ]
}
