//! `/api/v1/ai/proposals`: a script with its manifest and rollback, from a finding, from a runbook or of somebody's own.

use super::analyses::find_analysis;
use super::drafts::{Written, draft, from_finding, from_rollback};
use super::masks::{Values, each_text, each_text_of, hidden, restored};
use super::{APPROVERS, ENGINEERS, PEOPLE, allow, enrolled, new_id, unknown};
use crate::House;
use crate::aside::aside;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{Caller, Fault, Kind, Risk, ScriptProposal};
use jiff::Timestamp;
use ledger::ops::{Approval, KeptProposal, ProposalState};
use ops::RunbookCall;
use policy::script::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
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

/// A proposal as it is shown: with what people said to it, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    #[serde(flatten)]
    kept: KeptProposal,
    /// All that were ever given, void ones too.
    approvals: Vec<Approval>,
    /// How many different people must approve it.
    approvals_needed: usize,
    package_id: Option<String>,
}

/// A proposal in the inbox.
#[derive(Serialize, JsonSchema)]
pub struct Line {
    proposal_id: String,
    device_id: String,
    requester: String,
    #[schemars(with = "String")]
    at: Timestamp,
    version: i64,
    digest: String,
    intent: String,
    risk: Risk,
    state: ProposalState,
    #[schemars(with = "String")]
    expires_at: Timestamp,
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
) -> Result<(StatusCode, Json<Shown>), HttpFault> {
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
    let known = analysis.as_ref().map(|a| &a.device_id).or(undone.as_ref().map(|undone| &undone.device_id));
    let device = request.device_id.clone().or_else(|| known.cloned());
    let device = device.ok_or_else(|| invalid("`device_id` or `analysis_id` is missing"))?;
    if known.is_some_and(|known| *known != device) {
        return Err(invalid("the analysis or the package is of another device").into());
    }
    enrolled(&house, &device).await?;
    let analysis_id = request.analysis_id.or_else(|| undone.as_ref().and_then(|undone| undone.analysis_id.clone()));
    let written = match (&request.finding, &request.runbook, request.script, undone) {
        (Some(place), None, None, None) => {
            let analysis = analysis.as_ref().ok_or_else(|| invalid("a `finding` needs its `analysis_id`"))?;
            from_finding(&house, analysis, *place, request.by).await?
        }
        (None, Some(call), None, None) => {
            Written::plain(house.ops.library.propose(call).map_err(|e| invalid(&e.to_string()))?)
        }
        (None, None, Some(script), None) => Written::plain(script),
        (None, None, None, Some(undone)) => Written::plain(undone.script),
        _ => return Err(invalid("give one of `finding`, `runbook`, `script` and `rollback_of`").into()),
    };
    let model_time = written.model_time;
    let draft = draft(&house, &device, written).await?;
    let id = new_id("pr");
    house.disk.admit()?;
    let kept = house.ledger.propose_script(&caller, &id, (&device, analysis_id.as_deref()), draft).await;
    house.metrics.ops.took("proposal", start.elapsed().saturating_sub(model_time));
    Ok((StatusCode::CREATED, Json(shown(&house, &caller, kept.map_err(Fault::from)?).await?)))
}

/// `PUT /api/v1/ai/proposals/{id}`: another text. Approvals of the one before are void.
pub async fn edit(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    StrictJson(script): StrictJson<ScriptProposal>,
) -> Result<Json<Shown>, HttpFault> {
    allow(&house, &caller, ENGINEERS).await?;
    let kept = find(&house, &id).await?;
    let script = match values_of(&house, &kept).await? {
        Some(values) => aside(move || filled(&values, &script)).await??,
        None => script,
    };
    enrolled(&house, &kept.device_id).await?;
    let draft = draft(&house, &kept.device_id, Written::plain(script)).await?;
    house.disk.admit()?;
    let edited = house.ledger.edit_script(&caller, &id, draft).await.map_err(Fault::from)??;
    Ok(Json(shown(&house, &caller, edited).await?))
}

/// `POST /api/v1/ai/proposals/{id}/withdraw`.
pub async fn withdraw(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<Shown>, HttpFault> {
    allow(&house, &caller, ENGINEERS).await?;
    let kept = house.ledger.withdraw_script(&caller, &id).await.map_err(Fault::from)??;
    Ok(Json(shown(&house, &caller, kept).await?))
}

/// `POST /api/v1/ai/validations`: the report alone; nothing is kept.
pub async fn validate(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(request): StrictJson<ValidateRequest>,
) -> Result<Json<Report>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    enrolled(&house, &request.device_id).await?;
    Ok(Json(house.review_script(&request.device_id, &request.script).await?))
}

/// `GET /api/v1/ai/proposals/{id}`: with its report, its approvals and what became of it.
pub async fn show(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<Shown>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    Ok(Json(shown(&house, &caller, find(&house, &id).await?).await?))
}

/// `GET /api/v1/ai/proposals?state=waiting`: the inbox, without texts.
pub async fn list(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Query(filter): Query<Filter>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let kept = house.ledger.script_proposals(filter.state).await.map_err(Fault::from)?;
    let values = match may_see(&caller) {
        true => BTreeMap::new(),
        false => {
            let analyses: BTreeSet<String> = kept.iter().filter_map(|p| p.analysis_id.clone()).collect();
            house.ledger.masks_of(analyses).await.map_err(Fault::from)?
        }
    };
    let lines = aside(move || lines(kept, &values)).await?;
    Ok(Json(json!({ "proposals": lines })))
}

/// `values` are what each analysis has that this caller may not see.
fn lines(kept: Vec<KeptProposal>, values: &BTreeMap<String, Values>) -> Vec<Line> {
    let line = |kept: KeptProposal| {
        let intent = kept.proposal.intent;
        let values = kept.analysis_id.and_then(|id| values.get(&id));
        Line {
            proposal_id: kept.proposal_id,
            device_id: kept.device_id,
            requester: kept.requester,
            at: kept.at,
            version: kept.version,
            digest: kept.digest,
            intent: values.map_or_else(|| intent.clone(), |values| hidden(values, &intent)),
            risk: kept.risk,
            state: kept.state,
            expires_at: kept.expires_at,
        }
    };
    kept.into_iter().map(line).collect()
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
pub async fn shown(house: &House, caller: &Caller, mut kept: KeptProposal) -> Result<Shown, Fault> {
    let approvals = house.ledger.approvals(&kept).await.map_err(Fault::from)?;
    let package = house.ledger.package_of(&kept.proposal_id).await.map_err(Fault::from)?;
    if !may_see(caller)
        && let Some(values) = values_of(house, &kept).await?
    {
        kept = aside(move || covered(kept, &values)).await?;
    }
    let (approvals_needed, package_id) = (kept.risk.approvers(), package.map(|package| package.package_id));
    Ok(Shown { kept, approvals, approvals_needed, package_id })
}

/// Without the values in what somebody wrote, or policy said about it.
fn covered(mut kept: KeptProposal, values: &Values) -> KeptProposal {
    let mut cover = |text: &mut String| *text = hidden(values, text);
    each_text_of(&mut kept.proposal, &mut cover);
    kept.previous.iter_mut().for_each(|previous| each_text_of(previous, &mut cover));
    each_text(&mut kept.report, &mut cover);
    kept
}

/// Whether somebody sees what placeholders stand for.
pub(super) fn may_see(caller: &Caller) -> bool {
    APPROVERS.contains(&caller.role.as_str())
}

/// The text of somebody who may not see, with the values in it. Each placeholder stays a word of its own: glued to another
/// its value would no longer be hidden from whom it is hidden.
fn filled(values: &Values, script: &ScriptProposal) -> Result<ScriptProposal, Fault> {
    let full = restored(values, script)?;
    let seen = |script: &ScriptProposal| {
        let mut seen = script.clone();
        each_text_of(&mut seen, &mut |text| *text = hidden(values, text));
        seen
    };
    match seen(&full) == seen(script) {
        true => Ok(full),
        false => {
            Err(invalid("a placeholder has to be a word of its own").hint("put spaces, slashes or quotes around it"))
        }
    }
}

/// What placeholders stand for in a proposal that came of an analysis.
pub(super) async fn values_of(house: &House, kept: &KeptProposal) -> Result<Option<Values>, Fault> {
    let Some(id) = &kept.analysis_id else { return Ok(None) };
    let mut known = house.ledger.masks_of(BTreeSet::from([id.clone()])).await.map_err(Fault::from)?;
    Ok(known.remove(id))
}

pub(super) fn invalid(message: &str) -> Fault {
    Fault::new(Kind::Invalid, "proposal.invalid", message)
}
