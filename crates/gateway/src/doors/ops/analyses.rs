//! `POST /api/v1/ai/analyses`: what ails a device, by rules; as JSON, or told while it is found.

use super::diagnostics::{Reveal, find, reveal};
use super::{ENGINEERS, PEOPLE, allow, new_id, unknown};
use crate::House;
use crate::aside::aside;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::{Caller, Fault};
use jiff::Timestamp;
use ledger::ops::Analysis;
use ops::Submission;
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a stream is silent at most.
const HEARTBEAT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisRequest {
    diagnostics_id: String,
}

pub async fn analyse(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    headers: HeaderMap,
    StrictJson(request): StrictJson<AnalysisRequest>,
) -> Result<Response, HttpFault> {
    allow(&house, &caller, ENGINEERS).await?;
    let id = new_id("an");
    let wants_stream =
        headers.get(header::ACCEPT).is_some_and(|accept| accept.as_bytes().starts_with(b"text/event-stream"));
    // In a task of its own: who hangs up loses the reply, never the record.
    let (work, analysis_id) = (house.clone(), id.clone());
    let task = house.tasks.spawn(async move { work.find_out(&caller, &analysis_id, &request.diagnostics_id).await });
    let done = async move { task.await.unwrap_or_else(|_| Err(Fault::internal("analysis.task"))) };
    match wants_stream {
        true => Ok(stream(id, done)),
        false => Ok((StatusCode::CREATED, Json(done.await?)).into_response()),
    }
}

impl House {
    async fn find_out(&self, caller: &Caller, id: &str, diagnostics_id: &str) -> Result<Analysis, Fault> {
        let start = Instant::now();
        let kept = find(self, diagnostics_id).await?;
        let submission: Submission =
            serde_json::from_value(kept.submission).map_err(|_| Fault::internal("analysis.submission"))?;
        let rules = self.ops.rules.clone();
        let findings = aside(move || rules.analyse(&submission.normalise())).await?;
        let analysis = Analysis {
            analysis_id: id.to_owned(),
            diagnostics_id: kept.id,
            device_id: kept.device_id,
            actor: caller.actor.clone(),
            at: Timestamp::now(),
            planner: "offline".to_owned(),
            findings: serde_json::to_value(findings).map_err(|_| Fault::internal("analysis.json"))?,
        };
        self.ledger.keep_analysis(caller, &analysis).await.map_err(Fault::from)?;
        self.metrics.ops.took("analysis", start.elapsed());
        Ok(analysis)
    }
}

/// `status`, then each `finding`, then `done` with all of it, or `error`; a `heartbeat` whenever there was silence.
fn stream(id: String, done: impl Future<Output = Result<Analysis, Fault>> + Send + 'static) -> Response {
    let events = async_stream::stream! {
        yield Ok::<_, Infallible>(event("status", &json!({ "analysis_id": id, "status": "analysing" })));
        match done.await {
            Ok(analysis) => {
                for finding in analysis.findings.as_array().into_iter().flatten() {
                    yield Ok(event("finding", finding));
                }
                yield Ok(event("done", &json!(analysis)));
            }
            Err(fault) => {
                let error = json!({ "code": fault.code, "message": fault.message, "details": { "hint": fault.hint } });
                yield Ok(event("error", &json!({ "analysis_id": id, "error": error })));
            }
        }
    };
    let heartbeat = KeepAlive::new().interval(HEARTBEAT).event(Event::default().event("heartbeat").data("{}"));
    Sse::new(events).keep_alive(heartbeat).into_response()
}

fn event(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

/// `GET /api/v1/ai/analyses/{id}`.
pub async fn show(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    Query(wish): Query<Reveal>,
) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let analysis = find_analysis(&house, &id).await?;
    let mut body = json!(analysis);
    if wish.reveal {
        let kept = find(&house, &analysis.diagnostics_id).await?;
        reveal(&house, &caller, &kept, &mut body).await?;
    }
    Ok(Json(body))
}

pub async fn find_analysis(house: &House, id: &str) -> Result<Analysis, Fault> {
    house.ledger.analysis(id).await.map_err(Fault::from)?.ok_or_else(|| unknown("analysis", id))
}
