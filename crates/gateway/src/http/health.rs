//! Is it alive, is it ready, what has it counted.

use super::HttpFault;
use super::identify::Identified;
use crate::House;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::Kind;
use serde_json::json;
use std::sync::Arc;

pub async fn live() -> &'static str {
    "ok\n"
}

/// Ready when it can keep records and hold workers. Broken contract files are told, and do not
/// make it unready: their last good versions are in force.
pub async fn ready(State(house): State<Arc<House>>) -> Response {
    let ledger = house.ledger.writable().await;
    let problems = house.contracts.problems();
    let sandbox = house.engines.sandbox();
    let stopping = house.shutdown.is_cancelled();
    let ready = ledger.is_ok() && !stopping;
    let body = json!({
        "status": if ready { "ok" } else { "unavailable" },
        "version": env!("CARGO_PKG_VERSION"),
        "dependencies": {
            "ledger": if ledger.is_ok() { "ok" } else { "not writable" },
            "sandbox": { "tier": sandbox.tier, "unenforced": sandbox.unenforced },
            "contracts": { "status": if problems.is_empty() { "ok" } else { "degraded" }, "problems": problems.len() },
            "planner": house.planning.name(),
            "datasets": house.datasets.iter().count(),
        },
        "stopping": stopping,
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

pub async fn metrics(State(house): State<Arc<House>>, Identified(caller): Identified) -> Result<Response, HttpFault> {
    if !caller.is_admin() {
        return Err(HttpFault::new(Kind::Forbidden, "auth.role", "metrics are for the role `admin`"));
    }
    house.metrics.active_runs.set(i64::try_from(house.active.len()).unwrap_or(i64::MAX));
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], house.metrics.render()).into_response())
}
