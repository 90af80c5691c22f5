//! `POST /chat`: a question in, an answer with its run out.

use super::query::refuse;
use super::wire::{ChatRequest, RunBody, filtered_header, parse_id};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, StrictJson};
use crate::path::Walk;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{Ask, Caller, Door, Fault, Kind, Purpose, Run, SessionId, ThreadId, Wish};
use std::sync::Arc;

/// Turns of a thread that a question may lean on.
const TURNS: usize = 10;

/// HTTP 200 once a run exists, whatever came of it: `status` says.
pub async fn chat(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(request): StrictJson<ChatRequest>,
) -> Result<Response, HttpFault> {
    let reply = begin(&house, caller, request).await?.reply().await?;
    Ok(respond(&reply.run))
}

/// Checks the request and sends it on its way.
pub async fn begin(house: &Arc<House>, caller: Caller, request: ChatRequest) -> Result<Walk, HttpFault> {
    check_message(house, &request.message)?;
    // Whoever may not see the dataset is told so before there is a run.
    if let Err(fault) = house.dataset(&caller, &request.dataset_id).await {
        return Err(refuse(house, &caller, fault).await.into());
    }
    let thread = match &request.thread_id {
        Some(id) => parse_id(id, "thread")?,
        None => ThreadId::new(),
    };
    let history = match request.thread_id {
        Some(_) => house.ledger.thread(thread, &caller.actor, TURNS).await.map_err(Fault::from)?,
        None => Vec::new(),
    };
    let ask = Ask {
        door: Door::Chat,
        purpose: Purpose::Answer,
        source: request.dataset_id,
        wish: Wish::Question { text: request.message, history },
        session: SessionId::new(),
        thread: Some(thread),
    };
    Ok(house.start(caller, ask))
}

fn check_message(house: &House, message: &str) -> Result<(), HttpFault> {
    let most = house.config.question_chars;
    if message.trim().is_empty() {
        return Err(HttpFault::new(Kind::Invalid, "chat.empty_message", "`message` is empty"));
    }
    if message.chars().count() > most {
        let text = format!("`message` is longer than {most} characters");
        return Err(HttpFault::new(Kind::Invalid, "chat.input_too_long", text));
    }
    Ok(())
}

pub fn respond(run: &Run) -> Response {
    let mut response = Json(RunBody::of(run)).into_response();
    if let Some((name, value)) = filtered_header(run) {
        response.headers_mut().insert(name, value);
    }
    response
}
