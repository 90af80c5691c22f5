//! `/api/v1/ai/proposals`: a script with its manifest and rollback, from a finding, from a runbook or of somebody's own.

use super::analyses::find_analysis;
use super::diagnostics::find as find_diagnostics;
use super::drafts::{Written, draft, from_finding, from_rollback};
use super::masks::{Values, each_text, hidden, restored};
use super::{APPROVERS, ENGINEERS, PEOPLE, allow, enrolled, new_id, unknown};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{Caller, Fault, Kind, ScriptProposal};
use ledger::ops::{KeptProposal, ProposalState};
use ops::RunbookCall;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// One of `finding` (by its place in the analysis), `runbook`, `script` and `rollback_of` (a package that has run).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposeRequest {
    #[serde(default)]
    device_id: Option<String>,
    #[serde(default)]
    analysis_id: Option<String>,
    #[serde(default)]
    finding: Option<usize>,
    /// Who writes the script of a finding: its runbook if it has one, else the model, unless this says which.
    #[serde(default)]
    by: Option<By>,
    #[serde(default)]
    runbook: Option<RunbookCall>,
    #[serde(default)]
    script: Option<ScriptProposal>,
    #[serde(default)]
    rollback_of: Option<String>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum By {
    Runbook,
    Model,
}

#[derive(Deserialize, JsonSchema)]
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
    let undone = match &request.rollback_of {
        Some(id) => Some(from_rollback(&house, id).await?),
        None => None,
    };
    let known = analysis.as_ref().map(|a| &a.device_id).or(undone.as_ref().map(|(device, _)| device));
    let device = request.device_id.clone().or_else(|| known.cloned());
    let device = device.ok_or_else(|| invalid("`device_id` or `analysis_id` is missing"))?;
    if known.is_some_and(|known| *known != device) {
        return Err(invalid("the analysis or the package is of another device").into());
    }
    enrolled(&house, &device).await?;
    let written = match (&request.finding, &request.runbook, request.script, undone) {
        (Some(place), None, None, None) => {
            let analysis = analysis.as_ref().ok_or_else(|| invalid("a `finding` needs its `analysis_id`"))?;
            from_finding(&house, analysis, *place, request.by).await?
        }
        (None, Some(call), None, None) => {
            Written::plain(house.ops.library.propose(call).map_err(|e| invalid(&e.to_string()))?)
        }
        (None, None, Some(script), None) => Written::plain(script),
        (None, None, None, Some((_, rollback))) => Written::plain(rollback),
        _ => return Err(invalid("give one of `finding`, `runbook`, `script` and `rollback_of`").into()),
    };
    let model_time = written.model_time;
    let draft = draft(&house, &device, written).await?;
    let id = new_id("pr");
    let kept = house.ledger.propose_script(&caller, &id, (&device, request.analysis_id.as_deref()), draft).await;
    house.metrics.ops.took("proposal", start.elapsed().saturating_sub(model_time));
    Ok((StatusCode::CREATED, Json(shown(&house, &caller, &kept.map_err(Fault::from)?).await?)))
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
    let script = match values_of(&house, &kept).await? {
        Some(values) => restored(&values, &script)?,
        None => script,
    };
    enrolled(&house, &kept.device_id).await?;
    let draft = draft(&house, &kept.device_id, Written::plain(script)).await?;
    let edited = house.ledger.edit_script(&caller, &id, draft).await.map_err(Fault::from)??;
    Ok(Json(shown(&house, &caller, &edited).await?))
}

/// `POST /api/v1/ai/proposals/{id}/withdraw`.
pub async fn withdraw(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, ENGINEERS).await?;
    let kept = house.ledger.withdraw_script(&caller, &id).await.map_err(Fault::from)??;
    Ok(Json(shown(&house, &caller, &kept).await?))
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
    Ok(Json(shown(&house, &caller, &find(&house, &id).await?).await?))
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

/// A proposal as this caller may see it: what was taken out of the diagnostics is for approvers. An engineer sees
/// placeholders, and may write them.
pub async fn shown(house: &House, caller: &Caller, kept: &KeptProposal) -> Result<Value, Fault> {
    let approvals = house.ledger.approvals(kept).await.map_err(Fault::from)?;
    let package = house.ledger.package_of(&kept.proposal_id).await.map_err(Fault::from)?;
    let mut body = json!(kept);
    if !APPROVERS.contains(&caller.role.as_str())
        && let Some(values) = values_of(house, kept).await?
    {
        for part in ["proposal", "previous", "report"] {
            if let Some(part) = body.get_mut(part) {
                each_text(part, &mut |text| *text = hidden(&values, text));
            }
        }
    }
    if let Some(object) = body.as_object_mut() {
        object.insert("approvals".to_owned(), json!(approvals));
        object.insert("approvals_needed".to_owned(), json!(kept.risk.approvers()));
        object.insert("package_id".to_owned(), json!(package.map(|package| package.package_id)));
    }
    Ok(body)
}

/// What placeholders stand for in a proposal that came of an analysis.
async fn values_of(house: &House, kept: &KeptProposal) -> Result<Option<Values>, Fault> {
    let Some(id) = &kept.analysis_id else { return Ok(None) };
    let analysis = find_analysis(house, id).await?;
    Ok(Some(find_diagnostics(house, &analysis.diagnostics_id).await?.masks))
}

pub(super) fn invalid(message: &str) -> Fault {
    Fault::new(Kind::Invalid, "proposal.invalid", message)
}
