//! The audit chain: where it stands, and whether it is whole.

use super::{Admin, note};
use crate::House;
use crate::http::{HttpFault, Query};
use axum::Json;
use axum::extract::State;
use domain::{Fault, Kind};
use ledger::{AuditState, ChainReport};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const MOST_ENTRIES: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Last {
    /// Entries to list, at most 500.
    limit: Option<usize>,
}

/// `GET /audit`: how many entries, the last signed head, the newest entries.
pub async fn show(
    State(house): State<Arc<House>>,
    Admin(_): Admin,
    Query(Last { limit }): Query<Last>,
) -> Result<Json<AuditState>, HttpFault> {
    let last = limit.unwrap_or(50);
    if !(1..=MOST_ENTRIES).contains(&last) {
        let message = format!("`limit` is 1 to {MOST_ENTRIES}");
        return Err(HttpFault::new(Kind::Invalid, "request.query", message));
    }
    Ok(Json(house.ledger.audit_state(last).await.map_err(Fault::from)?))
}

/// `POST /audit/verify`: walks the whole chain, as `gatehouse audit verify` does.
pub async fn verify(State(house): State<Arc<House>>, Admin(admin): Admin) -> Result<Json<Value>, HttpFault> {
    let report = house.ledger.verify().await.map_err(Fault::from)?;
    note(&house, &admin, "audit.verified", json!({ "whole": report.is_whole(), "entries": report.entries })).await?;
    let ChainReport { entries, signed, unsigned_since, heads, exported, reexported, capsules, pruned, flaw } = &report;
    Ok(Json(json!({
        "whole": report.is_whole(), "entries": entries, "signed": signed, "unsigned_since": unsigned_since, "heads": heads,
        "exported": exported, "reexported": reexported, "capsules": capsules, "pruned": pruned, "flaw": flaw,
    })))
}
