//! The Messages API: how a turn is asked for (here) and how the answer is read (`stream`).

mod stream;

pub(crate) use stream::Reader;

use crate::agent::{CallResult, Entry, Role, Tool};
use crate::model::{Request, set};
use serde_json::{Value, json};

pub(crate) const VERSION: &str = "2026-10-21";
/// Marks for the cache that the API takes in one request; one of them is the transcript's.
const MOST_MARKS: usize = 4;

pub(crate) fn body(request: &Request<'_>) -> Value {
    let mut body = json!({
        "model": request.model,
        "max_tokens": request.max_tokens,
        "stream": true,
        "messages": messages(request),
    });
    if !request.system.is_empty() {
        set(&mut body, "system", system(request.system));
    }
    if !request.tools.is_empty() {
        set(&mut body, "tools", request.tools.iter().map(tool).collect());
        set(&mut body, "tool_choice", json!({"type": if request.may_call { "auto" } else { "none" }}));
    }
    if let Some(schema) = request.schema {
        set(&mut body, "output_config", json!({"format": {"type": "json_schema", "schema": schema}}));
    }
    body
}

fn system(parts: &[String]) -> Value {
    let unmarked = parts.len().saturating_sub(MOST_MARKS - 1);
    let blocks = parts.iter().map(|part| text_block(part)).enumerate();
    blocks.map(|(at, block)| if at < unmarked { block } else { cached(block) }).collect()
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
}

/// The transcript. Its end is marked for the cache too, so that the next turn reads all of this one from there; but the
/// model's own message goes back as it came.
fn messages(request: &Request<'_>) -> Value {
    let mut messages: Vec<Value> = request.transcript.iter().map(message).collect();
    if let Some(Entry::Reply(_)) = request.transcript.last() {
        messages.extend(request.note.map(|note| json!({"role": "user", "content": [text_block(note)]})));
        return Value::Array(messages);
    }
    let last = messages.last_mut().and_then(|message| message.get_mut("content")?.as_array_mut());
    if let Some(content) = last {
        content.extend(request.note.map(text_block));
        if let Some(block) = content.pop() {
            content.push(cached(block));
        }
    }
    Value::Array(messages)
}

fn message(entry: &Entry) -> Value {
    match entry {
        Entry::Said(said) => {
            let role = if said.role == Role::User { "user" } else { "assistant" };
            json!({"role": role, "content": [text_block(&said.text)]})
        }
        Entry::Reply(echo) => echo.clone(),
        Entry::Results(results) => {
            let blocks: Vec<Value> = results.iter().map(result).collect();
            json!({"role": "user", "content": blocks})
        }
    }
}

fn result(result: &CallResult) -> Value {
    let CallResult { id, text, is_error } = result;
    json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error})
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn cached(mut block: Value) -> Value {
    set(&mut block, "cache_control", json!({"type": "ephemeral"}));
    block
}
