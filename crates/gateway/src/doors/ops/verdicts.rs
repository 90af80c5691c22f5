//! `POST /api/v1/ai/proposals/{id}/approve` and `/reject`: what people say to a script, bound to what they have seen.

use super::proposals::{Shown, find, shown};
use super::{APPROVERS, allow};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, StrictJson};
use axum::Json;
use axum::extract::State;
use domain::{Fault, Kind};
use jiff::Timestamp;
use ledger::ops::Verdict;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Instant;

const MAX_COMMENT_CHARS: usize = 2000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictRequest {
    /// Of the proposal as it was shown.
    digest: String,
    #[serde(default)]
    comment: String,
}

impl VerdictRequest {
    fn of(self, proposal_id: String) -> Result<Verdict, Fault> {
        if self.comment.chars().count() > MAX_COMMENT_CHARS {
            let message = format!("`comment` is longer than {MAX_COMMENT_CHARS} characters");
            return Err(Fault::new(Kind::Invalid, "approval.comment", message));
        }
        Ok(Verdict { proposal_id, digest: self.digest, comment: self.comment, now: Timestamp::now() })
    }
}

/// The last yes that is needed sends it on its way.
pub async fn approve(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    StrictJson(request): StrictJson<VerdictRequest>,
) -> Result<Json<Shown>, HttpFault> {
    allow(&house, &caller, APPROVERS).await?;
    let start = Instant::now();
    let verdict = request.of(id.clone())?;
    let standing = house.ledger.approve_script(&caller, verdict).await.map_err(Fault::from)?;
    let standing = standing.inspect_err(|fault| house.metrics.ops.refused(fault))?;
    if standing.is_enough() {
        house.start_script(caller.clone(), &standing.proposal).await?;
    }
    house.metrics.ops.took("approval", start.elapsed());
    Ok(Json(shown(&house, &caller, find(&house, &id).await?).await?))
}

pub async fn reject(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    StrictJson(request): StrictJson<VerdictRequest>,
) -> Result<Json<Shown>, HttpFault> {
    allow(&house, &caller, APPROVERS).await?;
    let rejected = house.ledger.reject_script(&caller, request.of(id)?).await.map_err(Fault::from)??;
    Ok(Json(shown(&house, &caller, rejected).await?))
}
