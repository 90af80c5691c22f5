//! A completion in chunks, as server-sent events: the role, the text, why it ended, what it used, `[DONE]`.

use super::answer::Answer;
use super::completions::{Heading, usage};
use super::envelope;
use super::session::Session;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;

/// How often a client that waits is told that somebody is there. Proxies give up on silence.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

pub fn stream(mut session: Session, heading: Heading, wants_usage: bool) -> Response {
    let chunks = Chunks { heading, wants_usage };
    let events = async_stream::stream! {
        yield chunks.delta(json!({ "role": "assistant", "content": "" }));
        let mut in_pieces = false;
        while let Some(words) = session.words().await {
            in_pieces = true;
            yield chunks.delta(json!({ "content": words }));
        }
        match session.answer().await {
            Ok(answer) => {
                // Words that came before are no answer where there is none.
                if in_pieces && !answer.succeeded {
                    yield chunks.delta(json!({ "content": "\n\n" }));
                }
                for piece in answer.pieces().filter(|_| !in_pieces || !answer.succeeded) {
                    yield chunks.delta(json!({ "content": piece }));
                }
                yield chunks.end();
                if wants_usage {
                    yield chunks.usage(&answer);
                }
                yield Ok(Event::default().data("[DONE]"));
            }
            // The status has gone out long since; without `[DONE]` no client takes this for an answer.
            Err(fault) => yield data(&envelope::body(&fault)),
        }
        drop(session);
    };
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE).text("keepalive");
    Sse::new(events).keep_alive(keep_alive).into_response()
}

struct Chunks {
    heading: Heading,
    wants_usage: bool,
}

type Chunk = Result<Event, Infallible>;

impl Chunks {
    fn delta(&self, delta: Value) -> Chunk {
        self.chunk(json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null }]), Value::Null)
    }

    fn end(&self) -> Chunk {
        self.chunk(json!([{ "index": 0, "delta": {}, "logprobs": null, "finish_reason": "stop" }]), Value::Null)
    }

    fn usage(&self, answer: &Answer) -> Chunk {
        self.chunk(json!([]), usage(answer))
    }

    /// Whoever asks for usage finds the key in every chunk, null in all but the last.
    fn chunk(&self, choices: Value, usage: Value) -> Chunk {
        data(&self.heading.with("chat.completion.chunk", choices, self.wants_usage.then_some(usage)))
    }
}

fn data(json: &Value) -> Chunk {
    Ok(Event::default().data(json.to_string()))
}
