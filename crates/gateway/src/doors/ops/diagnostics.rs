//! `POST /api/v1/ai/diagnostics`: what a device says about itself, kept without what nobody else must see.

use super::masks::{Values, each_text};
use super::of_device::device_of;
use super::{APPROVERS, ENGINEERS, PEOPLE, allow, enrolled, new_id, refuse, unknown};
use crate::House;
use crate::aside::aside;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{Caller, Door, Fault, Kind};
use jiff::Timestamp;
use ledger::AuditEvent;
use ledger::ops::{DEVICE_ROLE, KeptDiagnostics};
use ops::{Diagnostics, Submission};
use policy::redact::{Masks, Redactor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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

/// What was made of a submission.
#[derive(Serialize, JsonSchema)]
pub struct Submitted {
    diagnostics_id: String,
    device_id: String,
    #[schemars(with = "String")]
    at: Timestamp,
    /// How many values were taken out of it.
    redacted: usize,
    diagnostics: Diagnostics,
}

/// A submission as it was kept.
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    diagnostics_id: String,
    device_id: String,
    actor: String,
    #[schemars(with = "String")]
    at: Timestamp,
    redacted: usize,
    #[schemars(with = "Submission")]
    submission: Value,
}

pub async fn submit(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    headers: HeaderMap,
    StrictJson(submission): StrictJson<Submission>,
) -> Result<(StatusCode, Json<Submitted>), HttpFault> {
    let start = Instant::now();
    if caller.role == DEVICE_ROLE {
        if device_of(&house, &caller, &headers).await? != submission.device_id {
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
    let Redacted { submission, diagnostics, masks } = aside(move || redacted(&redactor, submission, &id)).await??;
    let kept = KeptDiagnostics {
        id: new_id("dg"),
        device_id: device.id,
        actor: caller.actor.clone(),
        at: Timestamp::now(),
        submission,
        masks,
    };
    house.disk.admit()?;
    house.ledger.keep_diagnostics(&caller, &kept).await.map_err(Fault::from)?;
    house.metrics.ops.took("diagnostics", start.elapsed());
    let KeptDiagnostics { id: diagnostics_id, device_id, at, masks, .. } = kept;
    let submitted = Submitted { diagnostics_id, device_id, at, redacted: masks.len(), diagnostics };
    Ok((StatusCode::CREATED, Json(submitted)))
}

/// What is left of a submission, as it came and in one shape.
struct Redacted {
    submission: Value,
    diagnostics: Diagnostics,
    masks: Values,
}

/// Every text of it but the device's own id.
fn redacted(redactor: &Redactor, submission: Submission, device: &str) -> Result<Redacted, Fault> {
    let failed = |_| Fault::internal("diagnostics.redact");
    let mut masks = Masks::default();
    let mut value = serde_json::to_value(submission).map_err(failed)?;
    each_text(&mut value, &mut |text| *text = redactor.redact(text, &mut masks));
    let mut submission: Submission = serde_json::from_value(value).map_err(failed)?;
    device.clone_into(&mut submission.device_id);
    Ok(Redacted {
        diagnostics: submission.normalise(),
        submission: serde_json::to_value(submission).map_err(failed)?,
        masks: masks.values().map(|(placeholder, value)| (placeholder.to_owned(), value.to_owned())).collect(),
    })
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
) -> Result<Json<Shown>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let mut kept = find(&house, &id).await?;
    if wish.reveal {
        kept.submission = reveal(&house, &caller, &kept, kept.submission.clone()).await?;
    }
    let KeptDiagnostics { id: diagnostics_id, device_id, actor, at, submission, masks } = kept;
    Ok(Json(Shown { diagnostics_id, device_id, actor, at, redacted: masks.len(), submission }))
}

pub async fn find(house: &House, id: &str) -> Result<KeptDiagnostics, Fault> {
    house.ledger.diagnostics(id).await.map_err(Fault::from)?.ok_or_else(|| unknown("diagnostics", id))
}

/// Puts the values back, for approvers; that they have looked is on record.
pub async fn reveal(house: &House, caller: &Caller, kept: &KeptDiagnostics, mut said: Value) -> Result<Value, Fault> {
    allow(house, caller, APPROVERS).await?;
    let event = AuditEvent::new("diagnostics.revealed").by(caller).through(Door::Ops);
    let event = event.detail(json!({ "diagnostics": kept.id, "device": kept.device_id }));
    house.ledger.append(event).await.map_err(Fault::from)?;
    let masks = Masks::keeping(kept.masks.clone());
    aside(move || {
        each_text(&mut said, &mut |text| *text = masks.restore(text));
        said
    })
    .await
}
