//! What replies say, made comparable: two that must not tell apart what was asked for are equal in this.

use serde_json::Value;
use testkit::Reply;

/// What is another each time, whatever was asked for.
const FRESH: [&str; 13] = [
    "run_id",
    "session_id",
    "thread_id",
    "request_id",
    "created_at",
    "created",
    "timings",
    "exec_time_ms",
    "runtime_ms",
    "duration_ms",
    "usage",
    "details",
    "runs",
];

/// What a reply says, with marks in the place of the words that were sent, and without what is another each time.
pub fn said(reply: &Reply, words: &[(&str, &str)]) -> (u16, String) {
    let text = words.iter().fold(reply.text(), |text, (mark, word)| text.replace(word, mark));
    let mut json: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    forget(&mut json);
    (reply.status, json.to_string())
}

fn forget(json: &mut Value) {
    match json {
        Value::Object(object) => {
            // `details` of an error says its code, and nothing that is new each time.
            object.retain(|name, value| {
                !FRESH.contains(&name.as_str()) || name == "details" && value.get("code").is_some()
            });
            if object.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with("chatcmpl-")) {
                object.remove("id");
            }
            object.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        // What a tool gives is JSON in a text.
        Value::String(text) if text.starts_with('{') => {
            if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                forget(&mut inner);
                *text = inner.to_string();
            }
        }
        _ => {}
    }
}
