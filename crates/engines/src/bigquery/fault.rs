//! What BigQuery says, and what a caller is told of it.
//!
//! Its messages quote values, also of rows that the caller may not see: of what failed on the data only the kind is told.

use crate::fault::{busy, out_of_memory, syntax};
use crate::worker::message::first_line;
use domain::logged::phrases;
use domain::{Fault, Kind};
use reqwest::StatusCode;
use serde_json::Value as Json;
use tonic::{Code, Status};

/// A request that was refused: `{"error": {"message", "errors": [{"reason"}]}}`.
pub fn refused(source: &str, status: StatusCode, body: &Json) -> Fault {
    let message = body.pointer("/error/message").and_then(Json::as_str).unwrap_or_default();
    of(source, reason(body), message, Some(status))
}

/// Why, in one of Google's words.
pub fn reason(body: &Json) -> &str {
    body.pointer("/error/errors/0/reason").and_then(Json::as_str).unwrap_or_default()
}

/// A job that failed: its `status.errorResult`.
pub fn failed(source: &str, error: &Json) -> Fault {
    let text = |name: &str| error.get(name).and_then(Json::as_str).unwrap_or_default();
    of(source, text("reason"), text("message"), None)
}

fn of(source: &str, reason: &str, message: &str, status: Option<StatusCode>) -> Fault {
    tracing::debug!(source, reason, status = status.map(|s| s.as_u16()), "BigQuery refused");
    match reason {
        "accessDenied" if status == Some(StatusCode::UNAUTHORIZED) => credentials(source),
        "accessDenied" => denied(source),
        "bytesBilledLimitExceeded" => too_costly(source),
        "billingNotEnabled" | "billingTierLimitExceeded" | "quotaExceeded" => Fault::new(
            Kind::ResourceExceeded,
            "source.quota",
            format!("the project of source `{source}` has used up what Google allows it"),
        )
        .hint("whoever keeps the project can see its quotas"),
        "rateLimitExceeded" | "jobRateLimitExceeded" => busy(),
        "resourcesExceeded" | "responseTooLarge" => out_of_memory(),
        "stopped" | "timeout" => {
            Fault::new(Kind::Timeout, "engine.timeout", "the warehouse stopped the statement: it ran too long")
        }
        "notFound" if is_of_table(message) => {
            changed(source, Kind::NotFound, "source.table_gone", "a table that it reads is not there any more")
        }
        "invalidQuery" | "invalid" => statement(source, message),
        _ => match status {
            Some(StatusCode::UNAUTHORIZED) => credentials(source),
            Some(StatusCode::FORBIDDEN) => denied(source),
            Some(StatusCode::TOO_MANY_REQUESTS) => busy(),
            _ => unreachable(source),
        },
    }
}

fn is_of_table(message: &str) -> bool {
    message.contains("Table") || message.contains("Dataset") || message.contains("View")
}

/// About the statement itself, which its place in brackets shows, or about what it met in the data.
fn statement(source: &str, message: &str) -> Fault {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["Unrecognized name", "not found inside"]) {
        return changed(
            source,
            Kind::Conflict,
            "source.schema_changed",
            "a column that it reads is not there any more",
        );
    }
    if says(&["Syntax error"]) {
        return syntax(&first_line(message));
    }
    if says(&[" at [", "No matching signature", "Function not found"]) {
        return Fault::new(Kind::Invalid, "engine.statement", first_line(message));
    }
    let lower = message.to_ascii_lowercase();
    let what = match () {
        () if lower.contains("division by zero") || lower.contains("divide by zero") => "division by zero",
        () if lower.contains("overflow") || lower.contains("out of range") => "a number is out of range",
        () if lower.contains("more than one element") => "a subquery used as a value gave more than one row",
        () if lower.contains("bad ") || lower.contains("convert") || lower.contains("cast") => {
            "a value cannot be read as the type that it is cast to"
        }
        () => "the statement failed on the data",
    };
    Fault::new(Kind::Execution, "engine.data", what)
}

/// Phrases of the Storage Read interface that hold no value: of its messages, the log has these and no more.
const KNOWN: [&str; 6] = ["permission", "quota", "session", "expired", "not found", "connect error"];

/// An error of the Storage Read interface.
pub fn reading(source: &str, status: &Status) -> Fault {
    tracing::info!(source, code = ?status.code(), said = phrases(status.message(), &KNOWN), "BigQuery's rows cannot be read");
    match status.code() {
        Code::Unauthenticated => credentials(source),
        Code::PermissionDenied => denied(source),
        Code::ResourceExhausted => busy(),
        Code::NotFound => {
            changed(source, Kind::NotFound, "source.table_gone", "a table that it reads is not there any more")
        }
        _ => unreachable(source),
    }
}

pub fn unreachable(source: &str) -> Fault {
    Fault::new(Kind::Unavailable, "source.unreachable", format!("source `{source}` cannot be reached"))
        .hint("look whether the addresses of the source in the configuration can be reached from here")
}

pub fn credentials(source: &str) -> Fault {
    let message = format!("source `{source}` does not accept the credentials of this server");
    Fault::new(Kind::Unavailable, "source.credentials", message)
        .hint("look at the source's account in the configuration, and at the server's log")
}

pub fn unreadable(source: &str) -> Fault {
    tracing::warn!(source, "an answer of BigQuery's is not what it should be");
    Fault::internal("engine.bigquery_answer")
}

fn denied(source: &str) -> Fault {
    let message = format!("source `{source}` does not let the account of this server do this");
    Fault::new(Kind::Unavailable, "source.denied", message)
        .hint("grant it the roles of docs/OPERATIONS.md: to read the dataset, run jobs, and open read sessions")
}

/// Only queries are ever sent; but an account that can do no more is a second lock.
pub fn unguarded(source: &str, dataset: &str) -> Fault {
    let message = format!("the account of source `{source}` may create tables in `{dataset}`");
    Fault::new(Kind::Unavailable, "source.unguarded", message)
        .hint("grant it no more than the three roles of docs/OPERATIONS.md")
}

fn too_costly(source: &str) -> Fault {
    let message = format!("the statement would read more than one statement may read of source `{source}`");
    Fault::new(Kind::ResourceExceeded, "source.too_costly", message).hint(
        "select fewer columns, and filter by the column that the table is partitioned by; an estimate costs nothing",
    )
}

fn changed(source: &str, kind: Kind, code: &str, what: &str) -> Fault {
    let message = format!("source `{source}` has changed under the statement: {what}");
    Fault::new(kind, code, message).hint("read the catalog and the schema again, and ask by them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As Google's documents and the emulator say it.
    #[rustfmt::skip]
    const SAID: [(u16, &str, &str, &str); 17] = [
        (401, "authError", "Request had invalid authentication credentials.", "source.credentials"),
        (403, "accessDenied", "Access Denied: Table p:d.t: User does not have permission", "source.denied"),
        (403, "quotaExceeded", "Quota exceeded: Your project exceeded quota for free query bytes scanned", "source.quota"),
        (403, "rateLimitExceeded", "Exceeded rate limits", "engine.busy"),
        (400, "bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: 1. 10485760 or higher required.", "source.too_costly"),
        (404, "notFound", "Not found: Table p:d.t was not found in location EU", "source.table_gone"),
        (404, "notFound", "Not found: Job p:x", "source.unreachable"),
        (400, "invalidQuery", "Unrecognized name: word at [1:8]", "source.schema_changed"),
        (400, "invalidQuery", "Name word not found inside orders at [1:8]", "source.schema_changed"),
        (400, "invalidQuery", "No matching signature for operator = for argument types: DATETIME, TIMESTAMP at [1:50]", "engine.statement"),
        (400, "invalidQuery", "Syntax error: Expected end of input but got keyword QUALIFY at [1:5]", "engine.syntax"),
        (400, "invalidQuery", "division by zero: 42 / 0", "engine.data"),
        (400, "invalidQuery", "Bad int64 value: secret", "engine.data"),
        (400, "resourcesExceeded", "Resources exceeded during query execution", "engine.memory"),
        (400, "stopped", "Job execution was cancelled: User requested cancellation", "engine.timeout"),
        (503, "backendError", "Visibility check was unavailable", "source.unreachable"),
        (500, "", "", "source.unreachable"),
    ];

    #[test]
    fn each_error_is_told_apart() {
        for (status, reason, message, expected) in SAID {
            let body = json!({ "error": { "message": message, "errors": [{ "reason": reason }] } });
            let fault = refused("wh", StatusCode::from_u16(status).unwrap(), &body);
            assert_eq!(fault.code, expected, "{message}");
            assert!(!fault.message.contains("secret") && !fault.message.contains("42"), "{}", fault.message);
        }
    }
}
