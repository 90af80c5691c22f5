//! What goes wrong between us and a model, and whether it is worth trying again.

use domain::logged::{code, phrases};
use domain::{Fault, Kind};
use serde_json::Value;
use std::time::Duration;

/// A fault, and when the same request may succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Boxed, since results carry it about.
    pub fault: Box<Fault>,
    pub again: Again,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Never,
    /// After a pause; the server may have said how long.
    After(Option<Duration>),
}

impl Failure {
    fn new(again: Again, kind: Kind, code: &str, message: &str) -> Self {
        Self { fault: Box::new(Fault::new(kind, code, message)), again }
    }

    fn never(kind: Kind, code: &str, message: &str, hint: &str) -> Self {
        Self { fault: Box::new(Fault::new(kind, code, message).hint(hint)), again: Again::Never }
    }

    fn soon(kind: Kind, code: &str, message: &str) -> Self {
        Self::new(Again::After(None), kind, code, message)
    }

    pub fn unreachable() -> Self {
        Self::soon(Kind::Unavailable, "model.unreachable", "the model's server cannot be reached")
    }

    pub fn cut() -> Self {
        Self::soon(Kind::Unavailable, "model.cut", "the model's answer broke off")
    }

    pub fn too_much() -> Self {
        Self::new(Again::Never, Kind::ResourceExceeded, "model.too_much", "the model's answer is too long to be read")
    }

    pub fn retry_after(&self) -> Option<Duration> {
        match self.again {
            Again::After(pause) => pause,
            Again::Never => None,
        }
    }
}

/// What has a cause of ours, or of the caller's.
impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self { fault: Box::new(fault), again: Again::Never }
    }
}

/// Codes that come with a 429, though no waiting helps.
const OUT_OF_MONEY: [&str; 2] = ["enforced_spend_limit_reached", "insufficient_quota"];

/// Phrases of models' servers that hold nothing of a prompt: of their messages, the log has these and no more.
const KNOWN: [&str; 14] = [
    "too long",
    "context length",
    "credit balance",
    "quota",
    "billing",
    "api key",
    "x-api-key",
    "not found",
    "not supported",
    "unsupported",
    "max_tokens",
    "output_config",
    "response_format",
    "overloaded",
];

/// An answer that is an error from the start; two headers say something about trying again.
pub(crate) fn api_failure(status: u16, retry_after: Option<&str>, should_retry: Option<&str>, body: &str) -> Failure {
    let error = serde_json::from_str::<Value>(body).unwrap_or_default();
    let said = error.pointer("/error/message").and_then(Value::as_str).unwrap_or(body);
    let named = |at: &str| error.pointer(at).and_then(Value::as_str);
    let codes = ["/error/details/error_code", "/error/code"].map(named);
    // Its message may repeat the prompt.
    let (kind, reason) = (named("/error/type").map(code), codes.iter().flatten().next().map(|reason| code(reason)));
    tracing::warn!(status, kind, reason, said = phrases(said, &KNOWN), "the model's server refused");
    if codes.iter().flatten().any(|code| OUT_OF_MONEY.contains(code)) {
        return Failure::never(
            Kind::Unavailable,
            "model.spend_limit",
            "the model's spend limit is reached",
            "whoever runs this server must raise the limit at the provider",
        );
    }
    let mut failure = of_status(status, said);
    if let Again::After(_) = failure.again {
        failure.again = Again::After(retry_after.and_then(seconds));
    }
    if should_retry == Some("false") {
        failure.again = Again::Never;
    }
    failure
}

/// An error in the middle of a stream has no status, only the type of an error.
pub(crate) fn stream_failure(kind: &str) -> Failure {
    tracing::warn!(kind = code(kind), "the model's server failed in the middle of an answer");
    let status = match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    };
    of_status(status, "")
}

fn of_status(status: u16, said: &str) -> Failure {
    let operator = "whoever runs this server must look at the model's settings: `gatehouse doctor`";
    let too_long = said.contains("too long") || said.contains("context length");
    match status {
        401 | 403 => Failure::never(Kind::Unavailable, "model.key", "the model's server refused the key", operator),
        402 => Failure::never(Kind::Unavailable, "model.billing", "the model's account has no credit", operator),
        404 => Failure::never(Kind::Unavailable, "model.unknown", "the model's server does not know it", operator),
        400 | 413 if too_long || status == 413 => Failure::never(
            Kind::TooLarge,
            "model.too_long",
            "the conversation is too long for the model",
            "ask in a new conversation, or for less",
        ),
        408 | 409 | 500 | 502..=504 => Failure::soon(Kind::Unavailable, "model.failed", "the model's server failed"),
        429 => Failure::soon(Kind::RateLimited, "model.rate_limited", "the model's provider limits our rate"),
        529 => Failure::soon(Kind::Unavailable, "model.overloaded", "the model's server is overloaded"),
        501 | 505.. => Failure::soon(Kind::Unavailable, "model.failed", "the model's server failed"),
        _ => Failure::never(Kind::Internal, "model.request", "the model's server refused our request", operator),
    }
}

/// `retry-after` in seconds. A date, which no model's server sends, is left to our own pauses.
fn seconds(text: &str) -> Option<Duration> {
    text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_code_and_a_wait_or_none() {
        let spend = r#"{"error":{"details":{"error_code":"enforced_spend_limit_reached"}}}"#;
        let long = r#"{"error":{"message":"prompt is too long: 1 tokens > 0 maximum"}}"#;
        let secs = |n| Again::After(Some(Duration::from_secs(n)));
        let cases = [
            (400, None, None, "", "model.request", Again::Never),
            (400, None, None, long, "model.too_long", Again::Never),
            (401, None, None, "", "model.key", Again::Never),
            (402, None, None, "", "model.billing", Again::Never),
            (403, None, None, "", "model.key", Again::Never),
            (404, None, None, "", "model.unknown", Again::Never),
            (413, None, None, "", "model.too_long", Again::Never),
            (429, Some("7"), None, "{}", "model.rate_limited", secs(7)),
            (429, Some("7"), Some("false"), "{}", "model.rate_limited", Again::Never),
            (429, Some("7"), None, spend, "model.spend_limit", Again::Never),
            (429, Some("-1"), None, "not json", "model.rate_limited", Again::After(None)),
            (429, Some("inf"), None, "", "model.rate_limited", Again::After(None)),
            (500, None, None, "", "model.failed", Again::After(None)),
            (504, None, None, "", "model.failed", Again::After(None)),
            (529, Some("0"), None, "", "model.overloaded", secs(0)),
            (302, None, None, "", "model.request", Again::Never),
        ];
        for (status, retry_after, should_retry, body, code, again) in cases {
            let failure = api_failure(status, retry_after, should_retry, body);
            assert_eq!((failure.fault.code.as_str(), failure.again), (code, again), "{status} {body}");
        }
    }
}
