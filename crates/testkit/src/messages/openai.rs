//! The same replies as chat completions.

use super::http::{Event, Responder};
use super::said::{Block, Failure, Said, pieces};
use serde_json::{Value, json};

pub(super) fn answer(to: &mut Responder<'_>, request: &Value, reply: &Said) -> std::io::Result<()> {
    if let Some(Failure { status, message, headers, code }) = &reply.error {
        let body = json!({"error": {"message": message, "type": "server_error", "param": null, "code": code}});
        return to.whole(*status, headers, &body.to_string());
    }
    if request["stream"] != json!(true) {
        let choice = json!({"index": 0, "message": message(reply), "finish_reason": finish(reply)});
        let mut body = envelope(request, "chat.completion", json!([choice]));
        body["usage"] = usage(reply);
        return to.whole(200, &[], &body.to_string());
    }
    to.stream(reply, &events(request, reply), |kind| {
        event(&json!({"error": {"message": "scripted", "type": kind, "param": null, "code": null}}).to_string(), false)
    })
}

fn envelope(request: &Value, object: &str, choices: Value) -> Value {
    json!({"id": "chatcmpl-scripted", "object": object, "created": 1_794_787_200, "model": request["model"],
        "choices": choices})
}

fn finish(reply: &Said) -> &'static str {
    match reply.stop_reason() {
        "tool_use" => "tool_calls",
        "max_tokens" => "length",
        "refusal" => "content_filter",
        _ => "stop",
    }
}

fn usage(reply: &Said) -> Value {
    let usage = reply.usage;
    let prompt = usage.input + usage.cache_write + usage.cache_read;
    json!({"prompt_tokens": prompt, "completion_tokens": usage.output, "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read}})
}

fn message(reply: &Said) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    for block in &reply.blocks {
        match block {
            Block::Text(text) => message["content"] = json!(text),
            Block::Tool { id, name, input } => {
                calls.push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": input}}));
            }
            Block::Thinking { .. } => {}
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn events(request: &Value, reply: &Said) -> Vec<Event> {
    let delta = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        let is_text = delta["content"].as_str().is_some_and(|text| !text.is_empty());
        event(&envelope(request, "chat.completion.chunk", json!([choice])).to_string(), is_text)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}), Value::Null)];
    let mut index = 0;
    for block in &reply.blocks {
        match block {
            Block::Text(text) => events.extend(pieces(text).iter().map(|t| delta(json!({"content": t}), Value::Null))),
            Block::Tool { id, name, input } => {
                let function = json!({"name": name, "arguments": ""});
                let start = json!({"index": index, "id": id, "type": "function", "function": function});
                events.push(delta(json!({"tool_calls": [start]}), Value::Null));
                events.extend(pieces(input).iter().map(|t| {
                    let part = json!({"index": index, "function": {"arguments": t}});
                    delta(json!({"tool_calls": [part]}), Value::Null)
                }));
                index += 1;
            }
            Block::Thinking { .. } => {}
        }
    }
    if reply.unknowns {
        events.push(Event { text: ": keepalive\n\n".into(), is_text: false });
        events.push(delta(json!({"hologram": "?"}), Value::Null));
    }
    events.push(delta(json!({}), json!(finish(reply))));
    if request["stream_options"]["include_usage"] == json!(true) {
        let mut last = envelope(request, "chat.completion.chunk", json!([]));
        last["usage"] = usage(reply);
        events.push(event(&last.to_string(), false));
    }
    events.push(event("[DONE]", false));
    events
}

fn event(data: &str, is_text: bool) -> Event {
    Event { text: format!("data: {data}\n\n"), is_text }
}
