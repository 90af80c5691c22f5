//! `POST /chat/stream` and `GET /runs/{id}/events`: progress as server-sent events.
//!
//! `status` planning, validating, executing; then `result`, then `done`. Each carries the run's id
//! and a number, so that a broken stream is taken up again with `Last-Event-ID`.

use super::ask::begin;
use super::runs::ended;
use super::wire::{ChatRequest, RunBody, parse_id};
use crate::House;
use crate::active::{Event, Watch};
use crate::http::error::error_json;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, StrictJson};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::{Fault, Run, RunId};
use futures_util::Stream;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Numbers of the last two events; `status` events have those before.
const RESULT: usize = 4;
const DONE: usize = 5;

pub async fn chat_stream(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(request): StrictJson<ChatRequest>,
) -> Result<Response, HttpFault> {
    let walk = begin(&house, caller, request).await?;
    Ok(stream(live(walk.watch.clone(), 0)))
}

/// Takes up the stream of a run that is on its way, or tells the end of one that has ended.
pub async fn resume(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpFault> {
    let run_id: RunId = parse_id(&id, "run")?;
    let seen = headers.get("last-event-id").and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok()).unwrap_or(0);
    if let Some(watch) = house.active.get(&caller, run_id) {
        return Ok(stream(live(watch, seen)));
    }
    let run = ended(&house, &caller, run_id).await?;
    let events = ending(&run).into_iter().filter(move |(number, _)| *number > seen).map(|(_, event)| Ok(event));
    Ok(stream(futures_util::stream::iter(events)))
}

fn stream(events: impl Stream<Item = Result<sse::Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response()
}

/// What has been told so far, after `seen`, and then what is told next, to the end.
fn live(watch: Arc<Watch>, seen: usize) -> impl Stream<Item = Result<sse::Event, Infallible>> + Send {
    async_stream::stream! {
        let mut events = watch.subscribe();
        let (mut heard, mut stages) = (0, 0);
        loop {
            let news: Vec<Event> = events.borrow_and_update().iter().skip(heard).cloned().collect();
            for event in news {
                heard += 1;
                match event {
                    Event::Entered(stage) => {
                        stages += 1;
                        if stages > seen {
                            yield Ok(status(stages, watch.run_id, stage.as_str()));
                        }
                    }
                    // The result has all of them.
                    Event::Words(_) => {}
                    Event::Finished(reply) => {
                        let last = match &reply {
                            Ok(reply) => ending(&reply.run),
                            Err(fault) => broken(watch.run_id, fault),
                        };
                        for (number, event) in last {
                            if number > seen {
                                yield Ok(event);
                            }
                        }
                        return;
                    }
                }
            }
            if events.changed().await.is_err() {
                return;
            }
        }
    }
}

fn status(number: usize, run_id: RunId, status: &str) -> sse::Event {
    numbered(number, "status", &json!({ "run_id": run_id, "status": status }))
}

fn ending(run: &Run) -> Vec<(usize, sse::Event)> {
    vec![
        (RESULT, numbered(RESULT, "result", &RunBody::of(run))),
        (DONE, numbered(DONE, "done", &json!({ "run_id": run.run_id }))),
    ]
}

/// The run could not be recorded: there is no run body, but the stream still ends as promised.
fn broken(run_id: RunId, fault: &Fault) -> Vec<(usize, sse::Event)> {
    let body = json!({ "run_id": run_id, "status": "failed", "result": { "error": error_json(fault) } });
    vec![(RESULT, numbered(RESULT, "result", &body)), (DONE, numbered(DONE, "done", &json!({ "run_id": run_id })))]
}

fn numbered(number: usize, name: &str, body: &impl serde::Serialize) -> sse::Event {
    let data = serde_json::to_string(body).unwrap_or_default();
    sse::Event::default().id(number.to_string()).event(name).data(data)
}
