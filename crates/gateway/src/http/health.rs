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
use std::time::{Duration, Instant};

pub async fn live() -> &'static str {
    "ok\n"
}

/// Ready when it can keep records and hold workers. Broken contract files are told, and do not
/// make it unready: their last good versions are in force.
pub async fn ready(State(house): State<Arc<House>>) -> Response {
    let ledger = match ledger_takes_writes(&house).await {
        true if house.disk.admit().is_err() => "disk nearly full",
        true => "ok",
        false => "not writable",
    };
    let problems = house.contracts.problems();
    let sandbox = house.engines.sandbox();
    let stopping = house.shutdown.is_cancelled();
    let ready = ledger == "ok" && !stopping;
    let body = json!({
        "status": if ready { "ok" } else { "unavailable" },
        "version": env!("CARGO_PKG_VERSION"),
        "dependencies": {
            "ledger": ledger,
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

/// Tried with a real write, at most every other second: anybody may ask.
async fn ledger_takes_writes(house: &House) -> bool {
    let mut tried = house.ledger_tried.lock().await;
    match *tried {
        Some((at, fine)) if at.elapsed() < Duration::from_secs(2) => fine,
        _ => {
            // A database that is away is waited for by requests, but not by those who ask whether it is.
            let written = tokio::time::timeout(Duration::from_secs(2), house.ledger.writable()).await;
            let fine = written.is_ok_and(|written| written.is_ok());
            *tried = Some((Instant::now(), fine));
            fine
        }
    }
}

pub async fn metrics(State(house): State<Arc<House>>, Identified(caller): Identified) -> Result<Response, HttpFault> {
    if !caller.is_admin() {
        return Err(HttpFault::new(Kind::Forbidden, "auth.role", "metrics are for the role `admin`"));
    }
    house.metrics.disk(house.disk.space());
    house.metrics.active_runs.set(i64::try_from(house.active.len()).unwrap_or(i64::MAX));
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], house.metrics.render()).into_response())
}
