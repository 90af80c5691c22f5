//! Faults as OpenAI's clients know them: `{"error": {message, type, param, code}}`, spec 000 §4.
//!
//! Proxies rewrite `code`, so that the message carries it too: `[input_too_long] …`.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::{Fault, Kind};
use serde_json::{Value, json};

/// Whether an address belongs to this door, and with it its errors.
pub fn is_at(path: &str) -> bool {
    path.starts_with("/v1/")
}

pub fn body(fault: &Fault) -> Value {
    let code = code(fault);
    let message = format!("[{code}] {} (hint: {})", fault.message.trim_end_matches('.'), fault.hint);
    json!({ "error": { "message": message, "type": kind(fault.kind), "param": null, "code": code } })
}

/// Clients repeat what timed out, three times and for minutes each, unless they are told not to.
pub fn add_headers(fault: &Fault, headers: &mut HeaderMap) {
    if fault.kind == Kind::Timeout {
        headers.insert(HeaderName::from_static("x-should-retry"), HeaderValue::from_static("false"));
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::RateLimited => "rate_limit_error",
        kind if kind.http_status() >= 500 => "server_error",
        _ => "invalid_request_error",
    }
}

/// The codes of the specification where it has one, OpenAI's where clients look for it, else ours.
fn code(fault: &Fault) -> &str {
    match (fault.kind, fault.code.as_str()) {
        (Kind::RateLimited, _) => "rate_limited",
        (Kind::Timeout, "engine.timeout") => "query_timeout",
        (Kind::Timeout, _) => "agent_timeout",
        (Kind::Unavailable, code @ ("ledger.unavailable" | "request_cancelled")) => code,
        (Kind::Unavailable, code) if code.starts_with("model.") => "model_unavailable",
        (Kind::Unavailable | Kind::SandboxUnavailable, _) => "database_unavailable",
        (Kind::Unauthenticated, _) => "invalid_api_key",
        (Kind::Internal, _) => "internal_error",
        (_, code) => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_specification() {
        for (kind, ours, status, wanted_type, wanted_code) in [
            (Kind::Invalid, "input_too_long", 400, "invalid_request_error", "input_too_long"),
            (Kind::Unavailable, "source.unreadable", 503, "server_error", "database_unavailable"),
            (Kind::Timeout, "engine.timeout", 504, "server_error", "query_timeout"),
            (Kind::Timeout, "agent_timeout", 504, "server_error", "agent_timeout"),
            (Kind::RateLimited, "request.rate_limited", 429, "rate_limit_error", "rate_limited"),
        ] {
            let fault = Fault::new(kind, ours, "it failed");
            let error = &body(&fault)["error"];
            assert_eq!(
                (kind.http_status(), &error["type"], &error["code"]),
                (status, &json!(wanted_type), &json!(wanted_code))
            );
            assert!(error["message"].as_str().unwrap().starts_with(&format!("[{wanted_code}] it failed")));
        }
    }
}
