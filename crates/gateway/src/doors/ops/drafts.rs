//! Where the text of a proposal comes from, and what policy thinks of it. A model may write one, and say what speaks
//! against it; policy alone decides.

use super::diagnostics::find as find_diagnostics;
use super::masks::{Values, hidden, restored};
use super::proposals::{By, find as find_proposal, invalid};
use super::unknown;
use crate::House;
use crate::planning::Thought;
use domain::package::Ending;
use domain::{Fault, Kind, ScriptProposal};
use jiff::{SignedDuration, Timestamp};
use ledger::ops::{Analysis, Draft, PackageState};
use ops::Finding;
use ops::model::{self, Hint, Room};
use serde_json::{Value, json};
use std::time::Duration;

/// A text, and what its author has to say against it.
pub struct Written {
    proposal: ScriptProposal,
    /// Who wrote it, and what it thinks of it, if that was a model.
    critique: Option<Value>,
    pub model_time: Duration,
}

impl Written {
    pub fn plain(proposal: ScriptProposal) -> Self {
        Self { proposal, critique: None, model_time: Duration::ZERO }
    }
}

/// What takes a package back. What is hidden in the one is hidden in the other.
pub struct Undone {
    pub device_id: String,
    pub analysis_id: Option<String>,
    pub script: ScriptProposal,
}

/// The rollback of a package that has run, or may have, as a script of its own that the first would undo: people decide about it like
/// about any other.
pub async fn from_rollback(house: &House, package: &str) -> Result<Undone, Fault> {
    let package =
        house.ledger.package(package).await.map_err(Fault::from)?.ok_or_else(|| unknown("package", package))?;
    let has_run = match &package.result {
        Some(result) => result.ending != Ending::Refused,
        None => package.state == PackageState::Unheard,
    };
    if !has_run {
        let message = format!("the package `{}` has not run", package.package_id);
        return Err(Fault::new(Kind::Conflict, "package.not_run", message).hint("there is nothing to take back"));
    }
    let kept = find_proposal(house, &package.proposal_id).await?;
    let rollback = kept.proposal.rollback.ok_or_else(|| {
        Fault::new(Kind::NotFound, "package.no_rollback", "the package has no rollback").hint("write a `script`")
    })?;
    let intent = format!("Undo `{}`: {}", package.package_id, kept.proposal.intent);
    let script = kept.proposal.script;
    Ok(Undone {
        device_id: package.device_id,
        analysis_id: kept.analysis_id,
        script: ScriptProposal { script: rollback, rollback: Some(script), intent, ..kept.proposal },
    })
}

/// The script for a finding. Its placeholders are put back: the device needs what they stand for, and approvers see it.
pub async fn from_finding(house: &House, analysis: &Analysis, place: usize, by: Option<By>) -> Result<Written, Fault> {
    let finding = analysis.findings.as_array().and_then(|all| all.get(place)).cloned();
    let finding = finding.ok_or_else(|| unknown("finding", &place.to_string()))?;
    let finding: Finding = serde_json::from_value(finding).map_err(|_| Fault::internal("proposal.finding"))?;
    let values = find_diagnostics(house, &analysis.diagnostics_id).await?.masks;
    if by != Some(By::Model)
        && let Some(call) = &finding.runbook
    {
        let proposal = house.ops.library.propose(&restored(&values, call)?).map_err(|e| invalid(&e.to_string()))?;
        return Ok(Written::plain(proposal));
    }
    let no_runbook = || {
        Fault::new(Kind::NotFound, "finding.no_runbook", format!("there is no runbook for `{}`", finding.id))
            .hint("send a `script` of your own")
    };
    match by {
        Some(By::Runbook) => Err(no_runbook()),
        _ => by_model(house, &analysis.device_id, &finding, &values).await?.ok_or_else(no_runbook),
    }
}

/// Written by the model, once more if policy refuses it, and then criticised by it. None where there is no model.
async fn by_model(house: &House, device: &str, finding: &Finding, values: &Values) -> Result<Option<Written>, Fault> {
    let room = room(house, device).await?;
    let first = house.think_once(model::ask_script(finding, &room, None), model::read_script).await?;
    let Some(Thought { answer, used, mut took, .. }) = first else { return Ok(None) };
    let mut script = answer?;
    let report = house.review_script(device, &restored(values, &script)?).await?;
    if !report.violations.is_empty() {
        house.metrics.ops.violated(report.violations.iter());
        let told: Vec<String> =
            report.violations.iter().map(|fault| hidden(values, &format!("{fault} ({})", fault.hint))).collect();
        let again = model::ask_script(finding, &room, Some((&script, &told)));
        if let Some(second) = house.think_once(again, model::read_script).await? {
            took += second.took;
            script = second.answer.unwrap_or(script);
        }
    }
    let thought = house.think_once(model::critique(&script), model::read_critique).await?;
    took += thought.as_ref().map_or(Duration::ZERO, |thought| thought.took);
    house.metrics.ops.took("model", took);
    let said: Option<Result<Vec<Hint>, Fault>> = thought.map(|thought| thought.answer);
    let critique = match said {
        Some(Ok(hints)) => json!({ "by": used.name, "hints": restored(values, &hints)? }),
        Some(Err(fault)) => json!({ "by": used.name, "fault": fault.code }),
        None => json!({ "by": used.name }),
    };
    Ok(Some(Written { proposal: restored(values, &script)?, critique: Some(critique), model_time: took }))
}

/// What a script may use on this device.
async fn room(house: &House, device: &str) -> Result<Room, Fault> {
    let (grants, policy) = (house.grants(device).await?, &house.ops.policy);
    Ok(Room {
        commands: policy.commands(),
        writable: grants.writable_roots,
        network: grants.network,
        max_timeout_seconds: policy.settings().max_timeout_seconds,
    })
}

/// With what policy thinks of it for this device, and what its author does.
pub async fn draft(house: &House, device: &str, written: Written) -> Result<Draft, Fault> {
    let report = house.review_script(device, &written.proposal).await?;
    house.metrics.ops.violated(report.violations.iter());
    let now = Timestamp::now();
    let lifetime = SignedDuration::try_from(house.config.ops.approval).unwrap_or(SignedDuration::ZERO);
    let mut shown = serde_json::to_value(&report).map_err(|_| Fault::internal("proposal.report"))?;
    if let (Some(critique), Some(shown)) = (written.critique, shown.as_object_mut()) {
        shown.insert("critique".to_owned(), critique);
    }
    Ok(Draft {
        accepted: report.violations.is_empty(),
        risk: report.risk,
        report: shown,
        proposal: written.proposal,
        now,
        expires_at: now.saturating_add(lifetime).unwrap_or(now),
    })
}
