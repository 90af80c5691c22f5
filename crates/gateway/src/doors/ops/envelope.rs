//! Faults as spec 003 writes them: `{error: {code, message, details}}`, and the request's id.

use domain::{Fault, RequestId};
use serde_json::{Value, json};

/// Whether an address belongs to this door, and with it its errors.
pub fn is_at(path: &str) -> bool {
    path.starts_with("/api/v1/")
}

pub fn body(fault: &Fault, id: &RequestId) -> Value {
    let mut details = json!({ "hint": fault.hint });
    if let Some(object) = details.as_object_mut() {
        object.extend(
            fault.details.iter().flat_map(|more| more.iter()).map(|(name, value)| (name.clone(), json!(value))),
        );
        object.extend(fault.span.map(|span| ("span".to_owned(), json!(span))));
    }
    json!({ "error": { "code": fault.code, "message": fault.message, "details": details }, "request_id": id })
}
