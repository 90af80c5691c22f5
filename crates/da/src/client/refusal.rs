//! What the server said instead of a result, as a problem with the exit code that goes with it.

use super::Reply;
use crate::problem::{Exit, Problem};
use crate::units;
use serde_json::Value;

pub fn problem(reply: &Reply, server: &str) -> Problem {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let mut problem = match (reply.status, body.get("error")) {
        (429, Some(Value::String(error))) if error == "quota_exceeded" => over_quota(&body),
        (status, Some(Value::String(error))) => flat(status, error, &body),
        (status, Some(nested @ Value::Object(_))) => told(status, text(nested, "code"), nested),
        (status, _) => foreign(status, server),
    };
    problem.request_id = body.get("request_id").and_then(Value::as_str).map(str::to_owned);
    problem
}

fn exit(status: u16) -> Exit {
    match status {
        401 => Exit::Auth,
        403 => Exit::Denied,
        429 => Exit::Quota,
        500.. => Exit::Server,
        _ => Exit::Invalid,
    }
}

/// `{error, kind, message, hint}` of the Scan door, §10.3.
fn flat(status: u16, error: &str, body: &Value) -> Problem {
    let kind = text(body, "kind");
    let code = if kind.is_empty() { error.to_owned() } else { kind };
    told(status, code, body)
}

fn told(status: u16, code: String, body: &Value) -> Problem {
    let (mut message, hint) = (text(body, "message"), text(body, "hint"));
    if let (Some(line), Some(column)) = (body.pointer("/span/line"), body.pointer("/span/column")) {
        message.push_str(&format!(" (line {line}, column {column})"));
    }
    let hint = match exit(status) {
        Exit::Auth => "`da login --server URL --token-stdin` with a token that is valid".to_owned(),
        // The server speaks of its own addresses.
        Exit::Denied if hint.contains("/api/v2/catalog") => {
            "`da catalog` lists the tables that you may read".to_owned()
        }
        Exit::Invalid if hint.contains("GET /datasets") => {
            "`da ask` without --dataset names those that you can see".to_owned()
        }
        _ if hint.is_empty() => "the server's log has more under the request id".to_owned(),
        _ => hint,
    };
    Problem::new(exit(status), code, message, hint)
}

fn over_quota(body: &Value) -> Problem {
    let figure = |name: &str| body.get(name).and_then(Value::as_u64).unwrap_or_default();
    let (current, limit, wait) = (figure("current"), figure("limit"), figure("retry_after_seconds"));
    match text(body, "kind").as_str() {
        "daily_bytes" => Problem::new(
            Exit::Quota,
            "daily_bytes",
            format!(
                "quota exceeded (daily_bytes): {} used of {} (resets at 00:00 UTC)",
                units::bytes(current),
                units::bytes(limit)
            ),
            "reuse what `da snapshot list` shows, fetch fewer columns and rows, or wait for the reset",
        ),
        kind => Problem::new(
            Exit::Quota,
            kind,
            format!("quota exceeded ({kind}): {current} of {limit} in use"),
            match wait {
                0 => "wait until another scan of yours has ended".to_owned(),
                seconds => format!("try again in {seconds} s"),
            },
        ),
    }
}

/// Whatever this is, it is no reply of ours.
fn foreign(status: u16, server: &str) -> Problem {
    let message = format!("`{server}` answered {status} without saying why");
    Problem::new(exit(status), "bad_answer", message, "check the address; `da doctor` shows what answers there")
}

fn text(body: &Value, name: &str) -> String {
    body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_exit_code() {
        let cases = [
            (401, r#"{"error":{"code":"auth.refused","message":"m","hint":"h"}}"#, Exit::Auth, "auth.refused"),
            (
                400,
                r#"{"error":"validator_rejected","kind":"unknown_function","message":"m"}"#,
                Exit::Invalid,
                "unknown_function",
            ),
            (
                403,
                r#"{"error":"rbac_denied","kind":"table_not_accessible","message":"m"}"#,
                Exit::Denied,
                "table_not_accessible",
            ),
            (
                429,
                r#"{"error":"quota_exceeded","kind":"daily_bytes","current":2,"limit":1}"#,
                Exit::Quota,
                "daily_bytes",
            ),
            (429, r#"{"error":"rate_limited","kind":"rate_limited","message":"m"}"#, Exit::Quota, "rate_limited"),
            (404, r#"{"error":"not_found","kind":"unknown_table","message":"m"}"#, Exit::Invalid, "unknown_table"),
            (503, r#"{"error":"unavailable","kind":"unreadable","message":"m"}"#, Exit::Server, "unreadable"),
            (502, "<html>", Exit::Server, "bad_answer"),
            (302, "", Exit::Invalid, "bad_answer"),
        ];
        for (status, body, exit, code) in cases {
            let reply = Reply { status, body: body.as_bytes().to_vec() };
            let problem = problem(&reply, "http://x");
            assert_eq!((problem.exit, problem.code.as_str()), (exit, code), "{body}");
            assert!(!problem.hint.is_empty() && !problem.message.is_empty());
        }
    }
}
