//! A reply as two copies are compared by it: without what is drawn by lot or measured, and by the rows that it has.

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
/// Beginnings of answers in words that are none (`gateway/src/answer.rs`), and of questions that are asked back.
const REFUSALS: [&str; 5] =
    ["I can't answer", "That did not work", "That is not allowed", "That was stopped", "Which "];
/// Lists of catalogs, of tools and of runs: their entries are what was asked for.
const CATALOGS: [&str; 4] = ["datasets", "tables", "tools", "runs"];

/// A reply as its reader would compare it: status, headers, body.
pub fn told(reply: &Reply) -> String {
    without(reply, "")
}

/// Two replies that differ in nothing but the version of one dataset.
pub fn differ_by_version_only(replies: &[Reply; 2], dataset: &str) -> bool {
    let [one, other] = replies.each_ref().map(|reply| without(reply, dataset));
    one == other
}

/// A reply without ids, times, and the version of the dataset that is `timed`.
fn without(reply: &Reply, timed: &str) -> String {
    let mut headers: Vec<String> = reply
        .headers
        .iter()
        .filter(|(name, _)| !HEADERS.contains(&name.as_str()))
        // Durations and ids have no fixed length.
        .filter(|(name, _)| name.as_str() != "content-length")
        .map(|(name, value)| format!("{name}: {}", without_ids(value.to_str().unwrap_or("?"))))
        .collect();
    headers.sort();
    format!("{}\n{}\n{}", reply.status, headers.join("\n"), body(reply, timed))
}

fn body(reply: &Reply, timed: &str) -> String {
    if let Ok(mut value) = serde_json::from_slice::<Value>(&reply.body) {
        blank(&mut value, timed);
        return value.to_string();
    }
    match reply.header("content-type") {
        kind if kind.starts_with("text/event-stream") => {
            let events = events(reply).into_iter().map(|(name, mut data)| {
                blank(&mut data, timed);
                format!("{name}: {data}")
            });
            events.collect::<Vec<_>>().join("\n")
        }
        kind if kind.starts_with("text/") => reply.text(),
        // The same bytes, or not.
        _ => format!("{} bytes {}", reply.body.len(), domain::sha256_hex(&reply.body)),
    }
}

/// Name and data of each event of a stream; the Analyst's have no names, and end with a word that is no JSON.
fn events(reply: &Reply) -> Vec<(String, Value)> {
    let text = reply.text();
    let field = |block: &str, name: &str| {
        block.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned()).unwrap_or_default()
    };
    let event = |block: &str| {
        let data = field(block, "data:");
        (field(block, "event:"), serde_json::from_str(&data).unwrap_or(Value::String(data)))
    };
    text.split("\n\n").filter(|block| block.contains("data:")).map(event).collect()
}

fn blank(value: &mut Value, timed: &str) {
    match value {
        Value::Object(fields) => {
            let is_timed = ["id", "dataset_id"].iter().any(|name| fields.get(*name).is_some_and(|id| id == timed));
            for (name, value) in fields {
                let is_time = FIELDS.contains(&name.as_str()) || is_timed && name == "version_hash";
                if is_time { *value = Value::Null } else { blank(value, timed) }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| blank(value, timed)),
        Value::String(text) => match inner(text) {
            Some(mut inner) => {
                blank(&mut inner, timed);
                *text = inner.to_string();
            }
            None => *text = without_ids(text),
        },
        _ => {}
    }
}

/// The JSON that a text is: tools tell it so.
fn inner(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text).ok().filter(|inner| inner.is_object() || inner.is_array())
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

/// Rows that a reply really returned: of data, or the entries of a catalog.
pub fn has_rows(reply: &Reply) -> bool {
    if reply.status != 200 {
        return false;
    }
    // Streamed results have all forms, and say in a header how many rows they have.
    if let Ok(rows) = reply.header("x-gatehouse-rows").parse::<u64>() {
        return rows > 0;
    }
    match serde_json::from_slice::<Value>(&reply.body) {
        Ok(value) => holds_rows(&value),
        Err(_) => {
            let events = events(reply);
            let words: String = events.iter().filter_map(|(_, data)| said(data)).collect();
            events.iter().any(|(_, data)| holds_rows(data)) || is_answer(&words)
        }
    }
}

fn holds_rows(value: &Value) -> bool {
    match value {
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => {
            let is_list = |name: &str| fields.get(name).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
            let failed = fields.get("error").is_some_and(|error| !error.is_null())
                || fields.get("isError") == Some(&Value::Bool(true));
            let estimated = fields.get("estimated_result_rows").and_then(Value::as_u64).is_some_and(|rows| rows > 0);
            // A table is described by its columns; a result with columns and no rows has returned nothing.
            let described = is_list("columns") && !fields.contains_key("rows");
            let words =
                fields.get("choices").and_then(|choices| choices.get(0)).and_then(|choice| choice.get("message"));
            let words = words.and_then(|message| message["content"].as_str());
            let held = ["result", "content"].iter().filter_map(|name| fields.get(*name));
            !failed
                && (["rows", "data"].into_iter().chain(CATALOGS).any(is_list)
                    || estimated
                    || described
                    || words.is_some_and(is_answer)
                    || held.into_iter().any(holds_inner))
        }
        _ => false,
    }
}

/// The result of a run, or what a tool of MCP told as texts.
fn holds_inner(value: &Value) -> bool {
    match value {
        Value::Array(blocks) => {
            blocks.iter().any(|block| block["text"].as_str().and_then(inner).is_some_and(|told| holds_rows(&told)))
        }
        value => holds_rows(value),
    }
}

/// A piece of a streamed answer in words.
fn said(data: &Value) -> Option<&str> {
    data["choices"].get(0)?["delta"]["content"].as_str()
}

/// Words that tell of data: they have its figures, or rows as a table.
fn is_answer(words: &str) -> bool {
    let refused = REFUSALS.iter().any(|beginning| words.starts_with(beginning));
    !refused && words.contains(|c: char| c.is_ascii_digit() || c == '|')
}

/// The run that a reply speaks of.
pub fn run_id(reply: &Reply) -> Option<String> {
    let header = reply.header("x-gatehouse-run-id");
    if !header.is_empty() {
        return Some(header.to_owned());
    }
    let of = |value: &Value| Some(value["run_id"].as_str()?.to_owned());
    match serde_json::from_slice::<Value>(&reply.body) {
        Ok(value) => of(&value).or_else(|| of(&inner(value["result"]["content"][0]["text"].as_str()?)?)),
        Err(_) => events(reply).iter().find_map(|(_, data)| of(data)),
    }
}

/// The session that a reply speaks of: the Analyst's completions are named after it.
pub fn session_id(reply: &Reply) -> Option<String> {
    let of = |value: &Value| {
        let id = value["session_id"].as_str().or_else(|| value["id"].as_str()?.strip_prefix("chatcmpl-"));
        id.map(str::to_owned)
    };
    match serde_json::from_slice::<Value>(&reply.body) {
        Ok(value) => of(&value),
        Err(_) => events(reply).iter().find_map(|(_, data)| of(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::holds_rows;
    use serde_json::json;

    /// The share of replies with rows means something only if a reply without any is not counted.
    #[test]
    fn rows_are_counted_where_there_are_some() {
        let text = |value: serde_json::Value| json!({ "result": { "content": [{ "text": value.to_string() }] } });
        let full = [
            json!({ "result": { "columns": ["n"], "rows": [[1]], "error": null } }),
            json!({ "ok": true, "data": [{ "id": 1 }] }),
            json!({ "columns": [{ "name": "id" }] }),
            json!({ "datasets": [{ "id": "x" }] }),
            json!({ "estimated_result_rows": 5 }),
            json!([{ "id": 1 }]),
            json!({ "choices": [{ "message": { "content": "There are 151 orders." } }] }),
            text(json!({ "columns": ["n"], "rows": [[1]] })),
        ];
        let empty = [
            json!({ "result": { "columns": ["n"], "rows": [], "error": null }, "filtered_by": ["orders"] }),
            json!({ "ok": true, "data": [] }),
            json!({ "ok": false, "data": [], "error": { "details": { "choices": ["a", "b"] } } }),
            json!({ "datasets": [] }),
            json!({ "estimated_result_rows": 0 }),
            json!({ "estimated_result_rows": null }),
            json!([]),
            json!({ "choices": [{ "message": { "content": "I can't answer that: 2 words are unknown." } }] }),
            json!({ "choices": [{ "message": { "content": "Which `order` do you mean?\n- order 1" } }] }),
            text(json!({ "columns": ["n"], "rows": [] })),
            json!({ "result": { "isError": true, "content": [{ "text": "[1]" }] } }),
        ];
        full.iter().for_each(|value| assert!(holds_rows(value), "{value}"));
        empty.iter().for_each(|value| assert!(!holds_rows(value), "{value}"));
    }
}
