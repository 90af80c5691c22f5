//! What a reply tells, without what is drawn by lot or measured.

use serde_json::Value;
use testkit::Reply;

/// Headers and fields that hold ids, times and durations.
const HEADERS: [&str; 4] = ["date", "x-request-id", "x-gatehouse-run-id", "x-gatehouse-session-id"];
const FIELDS: [&str; 13] = [
    "created_at",
    "server_time",
    "exec_time_ms",
    "timings",
    "plan_ms",
    "check_ms",
    "run_ms",
    "total_ms",
    "latency_ms",
    "duration_ms",
    "created",
    "updated_at",
    "next_cursor",
];

/// A reply as its reader would compare it: status, headers, body.
pub fn told(reply: &Reply) -> String {
    let mut headers: Vec<String> = reply
        .headers
        .iter()
        .filter(|(name, _)| !HEADERS.contains(&name.as_str()))
        // Durations and ids have no fixed length.
        .filter(|(name, _)| name.as_str() != "content-length")
        .map(|(name, value)| format!("{name}: {}", without_ids(value.to_str().unwrap_or("?"))))
        .collect();
    headers.sort();
    format!("{}\n{}\n{}", reply.status, headers.join("\n"), body(reply))
}

fn body(reply: &Reply) -> String {
    if let Ok(mut value) = serde_json::from_slice::<Value>(&reply.body) {
        blank(&mut value);
        return value.to_string();
    }
    match reply.header("content-type") {
        kind if kind.starts_with("text/event-stream") => {
            let events = reply.events().into_iter().map(|mut event| {
                blank(&mut event.data);
                format!("{}: {}", event.name, event.data)
            });
            events.collect::<Vec<_>>().join("\n")
        }
        kind if kind.starts_with("text/") => reply.text(),
        // The same bytes, or not.
        _ => format!("{} bytes {}", reply.body.len(), domain::sha256_hex(&reply.body)),
    }
}

fn blank(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if FIELDS.contains(&name.as_str()) { *value = Value::Null } else { blank(value) }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(blank),
        Value::String(text) => {
            // Tools tell JSON as text.
            match serde_json::from_str::<Value>(text) {
                Ok(mut inner) if inner.is_object() || inner.is_array() => {
                    blank(&mut inner);
                    *text = inner.to_string();
                }
                _ => *text = without_ids(text),
            }
        }
        _ => {}
    }
}

/// A text in which all UUIDs are the same.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| {
        word.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
    };
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        match rest.get(..36) {
            Some(word) if is_id(word) => {
                shown.push('…');
                rest = &rest[36..];
            }
            _ => {
                shown.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    shown
}

/// Whether a reply has rows, or whatever else was asked for.
pub fn has_rows(reply: &Reply) -> bool {
    let refused = ["I can't answer", "That did not work"].iter().any(|words| reply.text().contains(words));
    let json = serde_json::from_slice::<Value>(&reply.body);
    let is_full =
        json.map_or(!reply.body.is_empty(), |value| is_full(&value) || value["estimated_result_rows"].is_u64());
    reply.status == 200 && !refused && is_full
}

/// Whether there is a list with something in it, and no error.
fn is_full(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.get("error").is_none_or(Value::is_null)
                && fields.get("isError") != Some(&Value::Bool(true))
                && fields.values().any(is_full)
        }
        Value::Array(values) => !values.is_empty(),
        Value::String(text) => {
            serde_json::from_str::<Value>(text).is_ok_and(|inner| !inner.is_string() && is_full(&inner))
        }
        _ => false,
    }
}

/// The run that a reply speaks of.
pub fn run_id(reply: &Reply) -> Option<String> {
    let header = reply.header("x-gatehouse-run-id");
    if !header.is_empty() {
        return Some(header.to_owned());
    }
    let body = serde_json::from_slice::<Value>(&reply.body).ok()?;
    Some(body["run_id"].as_str()?.to_owned())
}
