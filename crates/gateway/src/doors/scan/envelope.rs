//! Faults as §10.3 writes them: `{error, kind, details, request_id}`, and besides what people read.

use domain::{Fault, Kind, RequestId};
use serde_json::{Value, json};

/// Whether an address belongs to this door, and with it its errors.
pub fn is_at(path: &str) -> bool {
    path.starts_with("/api/")
}

pub fn body(fault: &Fault, id: &RequestId) -> Value {
    let mut body = json!({
        "error": class(fault),
        "kind": fault.code.rsplit('.').next().unwrap_or_default(),
        "details": fault.details.as_deref().map_or_else(|| json!({}), |details| json!(details)),
        "message": fault.message,
        "hint": fault.hint,
        "request_id": id,
    });
    if let (Some(span), Some(object)) = (fault.span, body.as_object_mut()) {
        object.insert("span".into(), json!(span));
    }
    body
}

fn class(fault: &Fault) -> &'static str {
    match fault.kind {
        Kind::SqlPolicy => "validator_rejected",
        Kind::Invalid if fault.code.starts_with("scan.") || fault.code.starts_with("sql.") => "validator_rejected",
        Kind::Invalid | Kind::NotUnderstood => "invalid_request",
        Kind::Unauthenticated => "unauthenticated",
        Kind::Forbidden => "rbac_denied",
        Kind::NotFound => "not_found",
        Kind::Conflict => "conflict",
        Kind::TooLarge => "too_large",
        Kind::RateLimited => "rate_limited",
        Kind::Timeout => "timeout",
        Kind::ResourceExceeded => "resource_exceeded",
        Kind::Execution => "execution_failed",
        Kind::Unavailable | Kind::SandboxUnavailable => "unavailable",
        Kind::Internal => "internal",
    }
}
