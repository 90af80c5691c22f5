//! Replies as the Messages API writes them.

use super::http::{Event, Responder};
use super::said::{Block, Failure, Said, Usage, pieces};
use serde_json::{Value, json};

pub(super) fn answer(to: &mut Responder<'_>, request: &Value, reply: &Said) -> std::io::Result<()> {
    if let Some(Failure { status, message, headers, code }) = &reply.error {
        return to.whole(*status, headers, &error(kind_of(*status), message, code.as_deref()).to_string());
    }
    if request["stream"] != json!(true) {
        return to.whole(200, &[], &message(request, reply, true).to_string());
    }
    to.stream(reply, &events(request, reply), |kind| event("error", error(kind, "scripted", None)))
}

/// The thinking blocks of a reply, as they must be echoed.
pub(super) fn thoughts(reply: &Said) -> Vec<Value> {
    reply.blocks.iter().filter(|block| matches!(block, Block::Thinking { .. })).map(whole).collect()
}

fn error(kind: &str, message: &str, code: Option<&str>) -> Value {
    let mut error = json!({"type": kind, "message": message});
    if let Some(code) = code {
        error["details"] = json!({"error_code": code});
    }
    json!({"type": "error", "error": error, "request_id": "req_scripted"})
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        500 => "api_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "invalid_request_error",
    }
}

fn message(request: &Value, reply: &Said, finished: bool) -> Value {
    let content: Vec<Value> = if finished { reply.blocks.iter().map(whole).collect() } else { Vec::new() };
    let Usage { output, .. } = reply.usage;
    json!({
        "id": "msg_scripted", "type": "message", "role": "assistant", "model": request["model"], "content": content,
        "stop_reason": finished.then(|| reply.stop_reason()), "stop_sequence": null,
        "usage": usage(reply.usage, if finished { output } else { 1 }),
    })
}

fn usage(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input, "output_tokens": output,
        "cache_creation_input_tokens": usage.cache_write, "cache_read_input_tokens": usage.cache_read,
    })
}

fn whole(block: &Block) -> Value {
    match block {
        Block::Thinking { text, signature } => json!({"type": "thinking", "thinking": text, "signature": signature}),
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Tool { id, name, input } => {
            let input = serde_json::from_str(input).unwrap_or(json!({}));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

/// A block as a stream opens it, and what it is filled with.
fn opened(block: &Block) -> (Value, Vec<Value>) {
    match block {
        Block::Thinking { text, signature } => {
            let mut deltas: Vec<_> =
                pieces(text).iter().map(|t| json!({"type": "thinking_delta", "thinking": t})).collect();
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
            (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
        }
        Block::Text(text) => {
            let deltas = pieces(text).iter().map(|t| json!({"type": "text_delta", "text": t})).collect();
            (json!({"type": "text", "text": ""}), deltas)
        }
        Block::Tool { id, name, input } => {
            let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
            deltas.extend(pieces(input).iter().map(|t| json!({"type": "input_json_delta", "partial_json": t})));
            (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas)
        }
    }
}

fn events(request: &Value, reply: &Said) -> Vec<Event> {
    let start = message(request, reply, false);
    let mut events =
        vec![event("message_start", json!({"type": "message_start", "message": start})), event("ping", typed("ping"))];
    for (index, block) in reply.blocks.iter().enumerate() {
        let (start, deltas) = opened(block);
        events.push(of_block("content_block_start", index, "content_block", &start));
        events.extend(deltas.iter().map(|delta| of_block("content_block_delta", index, "delta", delta)));
        events.push(event("content_block_stop", json!({"type": "content_block_stop", "index": index})));
    }
    if reply.unknowns {
        let index = reply.blocks.len();
        events.push(event("weather_report", typed("weather_report")));
        events.push(of_block("content_block_start", index, "content_block", &typed("hologram")));
        events.push(of_block("content_block_delta", index, "delta", &typed("hologram_delta")));
        events.push(event("content_block_stop", json!({"type": "content_block_stop", "index": index})));
    }
    // Cumulative, and told twice: who adds instead of replacing counts too much.
    let delta = json!({"stop_reason": reply.stop_reason(), "stop_sequence": null});
    for output in [reply.usage.output / 2, reply.usage.output] {
        let usage = usage(reply.usage, output);
        events.push(event("message_delta", json!({"type": "message_delta", "delta": delta, "usage": usage})));
    }
    events.push(event("message_stop", typed("message_stop")));
    events
}

fn typed(name: &str) -> Value {
    json!({"type": name})
}

fn of_block(name: &str, index: usize, key: &str, part: &Value) -> Event {
    event(name, json!({"type": name, "index": index, key: part}))
}

fn event(name: &str, data: Value) -> Event {
    Event { is_text: data["delta"]["type"] == "text_delta", text: format!("event: {name}\ndata: {data}\n\n") }
}
