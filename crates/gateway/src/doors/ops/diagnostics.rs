//! `POST /api/v1/ai/diagnostics`: what a device says about itself, kept without what nobody else must see.

use super::masks::each_text;
use super::{APPROVERS, ENGINEERS, PEOPLE, allow, device_of, enrolled, new_id, refuse, unknown};
use crate::House;
use crate::aside::aside;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{Caller, Door, Fault, Kind};
use jiff::Timestamp;
use ledger::AuditEvent;
use ledger::ops::{DEVICE_ROLE, KeptDiagnostics};
use ops::Submission;
use policy::redact::Masks;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Commands whose output one submission may have.
const MAX_OUTPUTS: usize = 64;

/// Whether placeholders are to be turned back, for those who may see.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Reveal {
    #[serde(default)]
    pub reveal: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    device_id: String,
}

pub async fn submit(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(submission): StrictJson<Submission>,
) -> Result<(StatusCode, Json<Value>), HttpFault> {
    let start = Instant::now();
    if caller.role == DEVICE_ROLE {
        if device_of(&house, &caller).await? != submission.device_id {
            let fault = Fault::new(Kind::Forbidden, "device.other", "a device speaks for itself only");
            return Err(refuse(&house, &caller, fault).await.into());
        }
    } else {
        allow(&house, &caller, ENGINEERS).await?;
    }
    if submission.outputs.len() > MAX_OUTPUTS {
        let message = format!("`outputs` has more than {MAX_OUTPUTS} commands");
        return Err(HttpFault::new(Kind::Invalid, "diagnostics.too_many", message));
    }
    let device = enrolled(&house, &submission.device_id).await?;
    let (redactor, id) = (house.ops.redactor.clone(), device.id.clone());
    let (submission, masks) = aside(move || redacted(&redactor, submission, &id)).await??;
    let normalised = submission.normalise();
    let kept = KeptDiagnostics {
        id: new_id("dg"),
        device_id: device.id,
        actor: caller.actor.clone(),
        at: Timestamp::now(),
        submission: serde_json::to_value(&submission).map_err(|_| Fault::internal("diagnostics.json"))?,
        masks: masks.values().map(|(placeholder, value)| (placeholder.to_owned(), value.to_owned())).collect(),
    };
    house.ledger.keep_diagnostics(&caller, &kept).await.map_err(Fault::from)?;
    house.metrics.ops.took("diagnostics", start.elapsed());
    let body = json!({
        "diagnostics_id": kept.id, "device_id": kept.device_id, "at": kept.at, "redacted": kept.masks.len(),
        "diagnostics": normalised,
    });
    Ok((StatusCode::CREATED, Json(body)))
}

/// Every text of it but the device's own id.
fn redacted(
    redactor: &policy::redact::Redactor,
    submission: Submission,
    device: &str,
) -> Result<(Submission, Masks), Fault> {
    let failed = |_| Fault::internal("diagnostics.redact");
    let mut masks = Masks::default();
    let mut value = serde_json::to_value(submission).map_err(failed)?;
    each_text(&mut value, &mut |text| *text = redactor.redact(text, &mut masks));
    let mut submission: Submission = serde_json::from_value(value).map_err(failed)?;
    device.clone_into(&mut submission.device_id);
    Ok((submission, masks))
}

/// `GET /api/v1/ai/diagnostics?device_id=`: what a device has said, without the texts.
pub async fn list(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Query(filter): Query<Filter>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let lines = house.ledger.diagnostics_of(&filter.device_id).await.map_err(Fault::from)?;
    Ok(Json(json!({ "diagnostics": lines })))
}

/// `GET /api/v1/ai/diagnostics/{id}`.
pub async fn show(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    Query(wish): Query<Reveal>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let kept = find(&house, &id).await?;
    let mut body = json!({
        "diagnostics_id": kept.id, "device_id": kept.device_id, "actor": kept.actor, "at": kept.at,
        "redacted": kept.masks.len(), "submission": kept.submission,
    });
    if wish.reveal {
        reveal(&house, &caller, &kept, &mut body).await?;
    }
    Ok(Json(body))
}

pub async fn find(house: &House, id: &str) -> Result<KeptDiagnostics, Fault> {
    house.ledger.diagnostics(id).await.map_err(Fault::from)?.ok_or_else(|| unknown("diagnostics", id))
}

/// Puts the values back, for approvers; that they have looked is on record.
pub async fn reveal(house: &House, caller: &Caller, kept: &KeptDiagnostics, body: &mut Value) -> Result<(), Fault> {
    allow(house, caller, APPROVERS).await?;
    let event = AuditEvent::new("diagnostics.revealed").by(caller).through(Door::Ops);
    let event = event.detail(json!({ "diagnostics": kept.id, "device": kept.device_id }));
    house.ledger.append(event).await.map_err(Fault::from)?;
    let masks = Masks::keeping(kept.masks.clone());
    each_text(body, &mut |text| *text = masks.restore(text));
    Ok(())
}
