//! `/api/v1/ai/proposals`: a script with its manifest and rollback, from a finding, from a runbook or of somebody's own.

use super::analyses::find_analysis;
use super::diagnostics::find as find_diagnostics;
use super::{ENGINEERS, PEOPLE, allow, enrolled, new_id, unknown};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{Fault, Kind, ScriptProposal};
use jiff::{SignedDuration, Timestamp};
use ledger::ops::{Draft, KeptProposal, ProposalState};
use ops::{Finding, RunbookCall};
use policy::redact::Masks;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// One of `finding` (by its place in the analysis), `runbook` and `script`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposeRequest {
    #[serde(default)]
    device_id: Option<String>,
    #[serde(default)]
    analysis_id: Option<String>,
    #[serde(default)]
    finding: Option<usize>,
    #[serde(default)]
    runbook: Option<RunbookCall>,
    #[serde(default)]
    script: Option<ScriptProposal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidateRequest {
    device_id: String,
    script: ScriptProposal,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    #[serde(default)]
    state: Option<ProposalState>,
}

pub async fn propose(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(request): StrictJson<ProposeRequest>,
) -> Result<(StatusCode, Json<Value>), HttpFault> {
    allow(&house, &caller, ENGINEERS).await?;
    let start = Instant::now();
    let analysis = match &request.analysis_id {
        Some(id) => Some(find_analysis(&house, id).await?),
        None => None,
    };
    let device = request.device_id.clone().or_else(|| analysis.as_ref().map(|a| a.device_id.clone()));
    let device = device.ok_or_else(|| invalid("`device_id` or `analysis_id` is missing"))?;
    if analysis.as_ref().is_some_and(|analysis| analysis.device_id != device) {
        return Err(invalid("the analysis is of another device").into());
    }
    let proposal = match (&request.finding, &request.runbook, request.script) {
        (Some(place), None, None) => {
            let analysis = analysis.as_ref().ok_or_else(|| invalid("a `finding` needs its `analysis_id`"))?;
            from_finding(&house, &analysis.findings, &analysis.diagnostics_id, *place).await?
        }
        (None, Some(call), None) => house.ops.library.propose(call).map_err(|e| invalid(&e.to_string()))?,
        (None, None, Some(script)) => script,
        _ => return Err(invalid("give one of `finding`, `runbook` and `script`").into()),
    };
    let draft = draft(&house, &device, proposal).await?;
    let id = new_id("pr");
    let kept = house.ledger.propose_script(&caller, &id, (&device, request.analysis_id.as_deref()), draft).await;
    house.metrics.ops.took("proposal", start.elapsed());
    Ok((StatusCode::CREATED, Json(body(&house, &kept.map_err(Fault::from)?).await?)))
}

/// The runbook of a finding. Its parameters may be placeholders: the device needs what they stand for, and approvers see it.
async fn from_finding(
    house: &House,
    findings: &Value,
    diagnostics: &str,
    place: usize,
) -> Result<ScriptProposal, Fault> {
    let finding = findings.as_array().and_then(|all| all.get(place)).cloned();
    let finding = finding.ok_or_else(|| unknown("finding", &place.to_string()))?;
    let finding: Finding = serde_json::from_value(finding).map_err(|_| Fault::internal("proposal.finding"))?;
    let mut call = finding.runbook.ok_or_else(|| {
        Fault::new(Kind::NotFound, "finding.no_runbook", format!("there is no runbook for `{}`", finding.id))
            .hint("send a `script` of your own")
    })?;
    let masks = Masks::keeping(find_diagnostics(house, diagnostics).await?.masks);
    call.parameters.values_mut().for_each(|value| *value = masks.restore(value));
    house.ops.library.propose(&call).map_err(|e| invalid(&e.to_string()))
}

/// With what policy thinks of it for this device.
async fn draft(house: &House, device: &str, proposal: ScriptProposal) -> Result<Draft, Fault> {
    enrolled(house, device).await?;
    let report = house.review_script(device, &proposal).await?;
    house.metrics.ops.violated(report.violations.iter());
    let now = Timestamp::now();
    let lifetime = SignedDuration::try_from(house.config.ops.approval).unwrap_or(SignedDuration::ZERO);
    Ok(Draft {
        accepted: report.violations.is_empty(),
        risk: report.risk,
        report: serde_json::to_value(&report).map_err(|_| Fault::internal("proposal.report"))?,
        proposal,
        now,
        expires_at: now.saturating_add(lifetime).unwrap_or(now),
    })
}

/// `PUT /api/v1/ai/proposals/{id}`: another text. Approvals of the one before are void.
pub async fn edit(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    StrictJson(script): StrictJson<ScriptProposal>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, ENGINEERS).await?;
    let kept = find(&house, &id).await?;
    let draft = draft(&house, &kept.device_id, script).await?;
    let edited = house.ledger.edit_script(&caller, &id, draft).await.map_err(Fault::from)??;
    Ok(Json(body(&house, &edited).await?))
}

/// `POST /api/v1/ai/proposals/{id}/withdraw`.
pub async fn withdraw(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, ENGINEERS).await?;
    let kept = house.ledger.withdraw_script(&caller, &id).await.map_err(Fault::from)??;
    Ok(Json(body(&house, &kept).await?))
}

/// `POST /api/v1/ai/validations`: the report alone; nothing is kept.
pub async fn validate(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(request): StrictJson<ValidateRequest>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    enrolled(&house, &request.device_id).await?;
    Ok(Json(json!(house.review_script(&request.device_id, &request.script).await?)))
}

/// `GET /api/v1/ai/proposals/{id}`: with its report, its approvals and what became of it.
pub async fn show(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    Ok(Json(body(&house, &find(&house, &id).await?).await?))
}

/// `GET /api/v1/ai/proposals?state=waiting`: the inbox, without texts.
pub async fn list(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Query(filter): Query<Filter>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let kept = house.ledger.script_proposals(filter.state).await.map_err(Fault::from)?;
    let line = |p: &KeptProposal| {
        json!({
            "proposal_id": p.proposal_id, "device_id": p.device_id, "requester": p.requester, "at": p.at,
            "version": p.version, "digest": p.digest, "intent": p.proposal.intent, "risk": p.risk, "state": p.state,
            "expires_at": p.expires_at,
        })
    };
    Ok(Json(json!({ "proposals": kept.iter().map(line).collect::<Vec<_>>() })))
}

/// `GET /api/v1/ai/runbooks`.
pub async fn runbooks(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    Ok(Json(json!({ "runbooks": house.ops.library.iter().collect::<Vec<_>>() })))
}

pub async fn find(house: &House, id: &str) -> Result<KeptProposal, Fault> {
    house.ledger.script_proposal(id).await.map_err(Fault::from)?.ok_or_else(|| unknown("proposal", id))
}

pub async fn body(house: &House, kept: &KeptProposal) -> Result<Value, Fault> {
    let approvals = house.ledger.approvals(kept).await.map_err(Fault::from)?;
    let package = house.ledger.package_of(&kept.proposal_id).await.map_err(Fault::from)?;
    let mut body = json!(kept);
    if let Some(object) = body.as_object_mut() {
        object.insert("approvals".to_owned(), json!(approvals));
        object.insert("approvals_needed".to_owned(), json!(kept.risk.approvers()));
        object.insert("package_id".to_owned(), json!(package.map(|package| package.package_id)));
    }
    Ok(body)
}

fn invalid(message: &str) -> Fault {
    Fault::new(Kind::Invalid, "proposal.invalid", message)
}
