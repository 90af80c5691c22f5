//! From a request of this door to the path, and from a refusal to the wire.

use super::hybrid::Joined;
use super::registry::{self, Entry};
use super::{ScanRequest, audit};
use crate::House;
use crate::http::HttpFault;
use crate::streamed::{NotStreamed, Streamed, Wanted};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{Ask, Caller, Door, Fault, Proposal, Purpose, SessionId, Wish};
use ledger::{AuditEvent, OverQuota};
use serde_json::json;
use std::sync::Arc;

/// A reply that is no result.
pub enum Refusal {
    Fault(HttpFault),
    OverQuota(OverQuota, Caller),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault.into())
    }
}

impl From<HttpFault> for Refusal {
    fn from(fault: HttpFault) -> Self {
        Self::Fault(fault)
    }
}

/// Sends a scan on its way.
pub async fn begin(
    house: &Arc<House>,
    caller: &Caller,
    request: ScanRequest,
    purpose: Purpose,
    wanted: Wanted,
) -> Result<Streamed, Refusal> {
    let kind = match purpose {
        Purpose::Estimate => "fetch_estimate",
        Purpose::Describe => "fetch_sample",
        _ => "fetch_scan",
    };
    let entry = find(house, caller, kind, &request.table_id).await?;
    let (source, flavour) = (entry.dataset.id.clone(), entry.flavour());
    let proposal = Proposal::Scan { source, scan: Box::new(request.into_scan(flavour)) };
    stream(house, caller, proposal, purpose, wanted).await
}

/// Sends a proposal on its way.
pub async fn stream(
    house: &Arc<House>,
    caller: &Caller,
    proposal: Proposal,
    purpose: Purpose,
    wanted: Wanted,
) -> Result<Streamed, Refusal> {
    stream_in(house, caller, SessionId::new(), (proposal, purpose), wanted, None).await
}

/// The same as one of several in a session, or over a source that exists for this request alone.
pub async fn stream_in(
    house: &Arc<House>,
    caller: &Caller,
    session: SessionId,
    (proposal, purpose): (Proposal, Purpose),
    wanted: Wanted,
    joined: Option<Joined>,
) -> Result<Streamed, Refusal> {
    let ask = Ask {
        door: Door::Scan,
        purpose,
        source: proposal.source().to_owned(),
        wish: Wish::Proposal(proposal),
        session,
        thread: None,
    };
    house.stream_over(caller.clone(), ask, wanted, joined).await.map_err(|why| refused(caller, why))
}

/// The reply to who gets no result.
pub fn refused(caller: &Caller, why: NotStreamed) -> Refusal {
    match why {
        NotStreamed::Fault(fault) => fault.into(),
        NotStreamed::OverQuota(over) => Refusal::OverQuota(over, caller.clone()),
    }
}

/// The table of that id, or a refusal that is on record.
pub async fn find<'h>(house: &'h House, caller: &Caller, kind: &'static str, id: &str) -> Result<Entry<'h>, Refusal> {
    match registry::find(house, caller, id).await {
        Ok(entry) => Ok(entry),
        Err(fault) => {
            let event = audit::refused(kind, id, &fault).by(caller).through(Door::Scan);
            house.ledger.append(event).await.map_err(Fault::from)?;
            house.metrics.scans.done(&caller.actor, "rejected", 0, std::time::Duration::ZERO);
            Err(fault.into())
        }
    }
}

/// What is shown again without asking the engine is on record all the same.
pub async fn note_kept(house: &House, caller: &Caller, kind: &'static str, id: &str) -> Result<(), Fault> {
    let detail = json!({ "table_id": id, "status": "ok", "cached": true });
    let event = AuditEvent::new(kind).by(caller).through(Door::Scan).detail(detail);
    house.ledger.append(event).await.map(drop).map_err(Fault::from)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Fault(fault) => fault.into_response(),
            Self::OverQuota(over, caller) => over_quota(over, &caller),
        }
    }
}

/// The shape of §3.8.
fn over_quota(over: OverQuota, caller: &Caller) -> Response {
    let body = Json(json!({
        "error": "quota_exceeded",
        "kind": over.kind.as_str(),
        "current": over.current,
        "limit": over.limit,
        "retry_after_seconds": over.retry_after_seconds,
        "request_id": caller.request_id,
    }));
    let mut response = (StatusCode::TOO_MANY_REQUESTS, body).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(over.retry_after_seconds.max(1)));
    response
}
