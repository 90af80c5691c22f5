//! `POST /api/v1/ai/analyses`: what ails a device, by rules and by the model where there is one; as JSON, or
//! told while it is found.

use super::diagnostics::{Reveal, find, reveal};
use super::{ENGINEERS, PEOPLE, allow, new_id, unknown};
use crate::House;
use crate::aside::aside;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query, StrictJson};
use crate::planning::Thought;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::{Caller, Fault};
use jiff::Timestamp;
use ledger::ops::Analysis;
use ops::{Diagnostics, Finding, RuleBase, Submission, model};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a stream is silent at most.
const HEARTBEAT: Duration = Duration::from_secs(5);

#[derive(Deserialize, JsonSchema)]
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
    house.disk.admit()?;
    let id = new_id("an");
    let wants_stream =
        headers.get(header::ACCEPT).is_some_and(|accept| accept.as_bytes().starts_with(b"text/event-stream"));
    // In a task of its own: who hangs up loses the reply, never the record.
    let (work, analysis_id) = (house.clone(), id.clone());
    let task = house.tasks.spawn(async move { work.find_out(&caller, &analysis_id, &request.diagnostics_id).await });
    let done = async move { task.await.unwrap_or_else(|_| Err(Fault::internal("analysis.task"))) };
    match wants_stream {
        true => Ok(stream(id, done, HEARTBEAT)),
        false => Ok((StatusCode::CREATED, Json(done.await?)).into_response()),
    }
}

impl House {
    async fn find_out(&self, caller: &Caller, id: &str, diagnostics_id: &str) -> Result<Analysis, Fault> {
        let start = Instant::now();
        let kept = find(self, diagnostics_id).await?;
        let (rules, submission) = (self.ops.rules.clone(), kept.submission);
        let (diagnostics, by_rules) = aside(move || by_rules(&rules, submission)).await??;
        let thought = self.findings_of_model(&diagnostics).await?;
        let model_time = thought.as_ref().map_or(Duration::ZERO, |thought| thought.took);
        let own_time = start.elapsed().saturating_sub(model_time);
        self.metrics.ops.took("analysis", own_time);
        let mut account = json!({ "own_ms": own_time.as_secs_f64() * 1e3 });
        if let (Some(thought), Some(account)) = (&thought, account.as_object_mut()) {
            self.metrics.ops.took("model", model_time);
            account.insert("model".to_owned(), thought.account());
        }
        let (planner, findings) = merged(by_rules, thought);
        let analysis = Analysis {
            analysis_id: id.to_owned(),
            diagnostics_id: kept.id,
            device_id: kept.device_id,
            actor: caller.actor.clone(),
            at: Timestamp::now(),
            planner,
            findings: serde_json::to_value(findings).map_err(|_| Fault::internal("analysis.json"))?,
            account,
        };
        self.ledger.keep_analysis(caller, &analysis).await.map_err(Fault::from)?;
        Ok(analysis)
    }

    async fn findings_of_model(&self, diagnostics: &Diagnostics) -> Result<Option<Thought<Vec<Finding>>>, Fault> {
        let prompt = model::ask_findings(diagnostics, &self.ops.library);
        self.think(prompt, |answer| model::read_findings(answer, diagnostics, &self.ops.library)).await
    }
}

/// What came in, in one shape, and what the rules find in it.
fn by_rules(rules: &RuleBase, submission: Value) -> Result<(Diagnostics, Vec<Finding>), Fault> {
    let submission: Submission =
        serde_json::from_value(submission).map_err(|_| Fault::internal("analysis.submission"))?;
    let diagnostics = submission.normalise();
    let found = rules.analyse(&diagnostics);
    Ok((diagnostics, found))
}

/// What a model found, then what the rules know besides; a model that has nothing to say leaves the rules.
fn merged(by_rules: Vec<Finding>, thought: Option<Thought<Vec<Finding>>>) -> (String, Vec<Finding>) {
    let Some(Thought { answer: Ok(mut found), used, .. }) = thought else { return ("offline".to_owned(), by_rules) };
    let unnamed: Vec<Finding> =
        by_rules.into_iter().filter(|known| !found.iter().any(|finding| finding.id == known.id)).collect();
    found.extend(unnamed);
    found.sort_by(|a, b| {
        (b.severity, b.confidence).partial_cmp(&(a.severity, a.confidence)).unwrap_or(std::cmp::Ordering::Equal)
    });
    (used.name, found)
}

/// `status`, then each `finding`, then `done` with all of it, or `error`; a `heartbeat` whenever there was silence.
fn stream(
    id: String,
    done: impl Future<Output = Result<Analysis, Fault>> + Send + 'static,
    silence: Duration,
) -> Response {
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
    let heartbeat = KeepAlive::new().interval(silence).event(Event::default().event("heartbeat").data("{}"));
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
) -> Result<Json<Analysis>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let mut analysis = find_analysis(&house, &id).await?;
    if wish.reveal {
        let kept = find(&house, &analysis.diagnostics_id).await?;
        analysis.findings = reveal(&house, &caller, &kept, analysis.findings).await?;
    }
    Ok(Json(analysis))
}

pub async fn find_analysis(house: &House, id: &str) -> Result<Analysis, Fault> {
    house.ledger.analysis(id).await.map_err(Fault::from)?.ok_or_else(|| unknown("analysis", id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;
    use tokio::sync::oneshot;

    fn analysis() -> Analysis {
        let text = |text: &str| text.to_owned();
        Analysis {
            analysis_id: text("an-1"),
            diagnostics_id: text("dg-1"),
            device_id: text("d-1"),
            actor: text("eva"),
            at: Timestamp::UNIX_EPOCH,
            planner: text("offline"),
            findings: json!([{ "id": "disk.full" }, { "id": "dns.none" }]),
            account: json!({}),
        }
    }

    /// The names of the events of a stream whose analysis ends once there were two heartbeats.
    async fn told(result: Result<Analysis, Fault>) -> Vec<String> {
        let (end, ended) = oneshot::channel();
        let done = async move { ended.await.map_or_else(|_| Err(Fault::internal("test")), |()| result) };
        let mut parts = stream("an-1".to_owned(), done, Duration::from_millis(1)).into_body().into_data_stream();
        let (mut end, mut text) = (Some(end), String::new());
        while let Some(part) = parts.next().await {
            text.push_str(std::str::from_utf8(&part.unwrap()).unwrap());
            if text.matches("event: heartbeat").count() == 2
                && let Some(end) = end.take()
            {
                end.send(()).unwrap();
            }
        }
        let mut names: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix("event: ")).map(str::to_owned).collect();
        names.dedup();
        names
    }

    #[tokio::test]
    async fn a_stream_beats_until_its_analysis_has_ended() {
        assert_eq!(told(Ok(analysis())).await, ["status", "heartbeat", "finding", "done"]);
        let fault = Fault::new(domain::Kind::Unavailable, "model.busy", "the model is busy");
        assert_eq!(told(Err(fault)).await, ["status", "heartbeat", "error"]);
    }
}
