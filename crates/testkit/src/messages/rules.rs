//! What the APIs refuse, so that a client that sends it does not pass here either.

use super::{Messages, Recorded};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

type Refused = (u16, String);

const NEW_VERSION: &str = "2026-10-21";
const FIELDS: [&str; 17] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "stop_sequences",
    "metadata",
    "cache_control",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "service_tier",
    "container",
];

pub(super) fn check(request: &Recorded, thoughts: &HashMap<String, Vec<Value>>, paused: bool) -> Result<(), Refused> {
    let header = |name: &str| request.headers.get(name).map(String::as_str).unwrap_or_default();
    let bearer = header("authorization").strip_prefix("Bearer ").unwrap_or_default();
    if header("x-api-key") != Messages::KEY && bearer != Messages::KEY {
        return Err((401, "invalid x-api-key".into()));
    }
    match request.path.as_str() {
        "/v1/messages" => {
            check_message(header("anthropic-version"), &request.body)?;
            let messages = request.body["messages"].as_array().filter(|m| !m.is_empty());
            let messages = messages.ok_or((400, "messages: at least one message is required".to_owned()))?;
            let asked = paused || messages.last().is_some_and(|m| m["role"] == "user");
            refuse_unless(asked, "messages: prefill is not supported")?;
            check_turns(messages, thoughts)
        }
        "/v1/chat/completions" => refuse_unless(request.body["messages"].is_array(), "messages: field required"),
        path => Err((404, format!("there is no `{path}`"))),
    }
}

fn refuse_unless(fine: bool, message: &str) -> Result<(), Refused> {
    if fine { Ok(()) } else { Err((400, message.into())) }
}

fn check_message(version: &str, body: &Value) -> Result<(), Refused> {
    refuse_unless([NEW_VERSION, "2023-06-01"].contains(&version), "anthropic-version: not a version")?;
    let fields = body.as_object().ok_or((400, "the body is not a JSON object".to_owned()))?;
    for name in fields.keys() {
        refuse_unless(FIELDS.contains(&name.as_str()), &format!("{name}: extra inputs are not permitted"))?;
        let sampling = ["temperature", "top_p", "top_k"].contains(&name.as_str());
        refuse_unless(version != NEW_VERSION || !sampling, &format!("{name}: not accepted by this version"))?;
    }
    let model = body["model"].as_str().ok_or((400, "model: field required".to_owned()))?;
    refuse_unless(body["max_tokens"].as_u64().is_some_and(|n| n > 0), "max_tokens: must be at least 1")?;
    let forced = ["any", "tool"].contains(&body["tool_choice"]["type"].as_str().unwrap_or_default());
    refuse_unless(!(forced && model.contains("5-5")), "tool_choice: this model does not support forced tool use")?;
    refuse_unless(body.to_string().matches("\"cache_control\":").count() <= 4, "cache_control: at most 4 blocks")?;
    check_system(&body["system"])
}

fn check_system(system: &Value) -> Result<(), Refused> {
    let texts = blocks(system);
    refuse_unless(texts.iter().all(|b| b["text"].as_str().is_some_and(|t| !t.is_empty())), "system: empty text")
}

fn check_turns(messages: &[Value], thoughts: &HashMap<String, Vec<Value>>) -> Result<(), Refused> {
    let mut waiting: HashSet<String> = HashSet::new();
    for message in messages {
        let blocks = blocks(&message["content"]);
        refuse_unless(!blocks.is_empty(), "messages: content must not be empty")?;
        let ids = |kind: &str, key: &str| -> HashSet<String> {
            blocks.iter().filter(|b| b["type"] == kind).filter_map(|b| b[key].as_str()).map(str::to_owned).collect()
        };
        refuse_unless(ids("tool_result", "tool_use_id") == waiting, "messages: tool_use without its tool_result")?;
        waiting = if message["role"] == "assistant" { ids("tool_use", "id") } else { HashSet::new() };
        for block in &blocks {
            match block["type"].as_str() {
                Some("text") => refuse_unless(block["text"].as_str().is_some_and(|t| !t.is_empty()), "empty text")?,
                Some("tool_use") => refuse_unless(block["input"].is_object(), "tool_use.input: not a dictionary")?,
                _ => {}
            }
        }
        let thinking: Vec<&Value> = blocks.iter().filter(|b| b["type"] == "thinking").collect();
        for said in waiting.iter().filter_map(|id| thoughts.get(id)) {
            refuse_unless(said.iter().collect::<Vec<_>>() == thinking, "messages: thinking blocks cannot be modified")?;
        }
    }
    Ok(())
}

/// Content as blocks: a string is one block of text.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}
