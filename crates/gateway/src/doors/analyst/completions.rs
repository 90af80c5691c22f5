//! `POST /v1/chat/completions`.

use super::answer::Answer;
use super::conversation::{self, Conversation};
use super::request::CompletionRequest;
use super::session::Session;
use super::{database, refuse, stream};
use crate::House;
use crate::audit_lines::Asked;
use crate::doors::chat::FILTERED_BY;
use crate::http::identify::Identified;
use crate::http::{HttpFault, StrictJson};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use domain::{Caller, Fault};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;

pub async fn completions(
    State(house): State<Arc<House>>,
    Identified(mut caller): Identified,
    StrictJson(request): StrictJson<CompletionRequest>,
) -> Result<Response, HttpFault> {
    caller.end_user = request.end_user();
    let mut session = begin(&house, caller, &request).await?;
    let reply = Heading::of(&session, &request);
    if request.is_streamed() {
        return Ok(stream::stream(session, reply, request.wants_usage()));
    }
    let answer = session.answer().await?;
    Ok(whole(session, &reply, &answer))
}

/// Checks the request and sends it on its way. What is refused has its audit line too.
async fn begin(house: &Arc<House>, caller: Caller, request: &CompletionRequest) -> Result<Session, Fault> {
    let last = request.messages.last().and_then(|message| message.text(0).ok()).unwrap_or_default();
    let asked = Asked::new(&caller, &last);
    match admit(house, &caller, request).await {
        Ok((source, talk)) => Ok(Session::start(house, caller, source, talk, asked)),
        Err(fault) => {
            let fault = refuse(house, &caller, fault).await;
            house.audit_lines.tell(&asked, asked.since.elapsed(), Err(&fault), &[]);
            Err(fault)
        }
    }
}

async fn admit(house: &House, caller: &Caller, request: &CompletionRequest) -> Result<(String, Conversation), Fault> {
    request.refuse_unsupported()?;
    let talk = conversation::read(&request.messages, house.config.question_chars)?;
    let dataset = database::behind(house, caller, &request.model).await?;
    Ok((dataset.id.clone(), talk))
}

/// What a completion and all of its chunks begin with.
pub struct Heading {
    id: String,
    created: i64,
    model: String,
}

impl Heading {
    /// The id is that of the session: `GET /runs?session_id=…` finds what it is made of.
    fn of(session: &Session, request: &CompletionRequest) -> Self {
        let created = jiff::Timestamp::now().as_second();
        Self { id: format!("chatcmpl-{}", session.id), created, model: request.model.clone() }
    }

    /// `usage` is left out where it is none.
    pub fn with(&self, object: &str, choices: Value, usage: Option<Value>) -> Value {
        let mut body = json!({
            "id": self.id, "object": object, "created": self.created, "model": self.model, "choices": choices,
        });
        if let (Some(usage), Some(body)) = (usage, body.as_object_mut()) {
            body.insert("usage".to_owned(), usage);
        }
        body
    }
}

/// Where no model was asked, no token was used.
pub fn usage(answer: &Answer) -> Value {
    let (prompt, completion) = answer.tokens;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt.saturating_add(completion),
    })
}

fn whole(session: Session, heading: &Heading, answer: &Answer) -> Response {
    let message = json!({ "role": "assistant", "content": answer.text, "refusal": null });
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": "stop" });
    let completion = heading.with("chat.completion", json!([choice]), Some(usage(answer)));
    let bytes = Bytes::from(completion.to_string());
    let length = HeaderValue::from(bytes.len());
    // The session ends when its answer is on its way.
    let body = async_stream::stream! {
        yield Ok::<_, Infallible>(bytes);
        drop(session);
    };
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CONTENT_LENGTH, length);
    if !answer.filtered_by.is_empty()
        && let Ok(resources) = HeaderValue::from_str(&answer.filtered_by.join(", "))
    {
        headers.insert(FILTERED_BY, resources);
    }
    response
}
