//! Faults on the wire.
//!
//! Doors answer `Result<_, HttpFault>`. It renders the open envelope that Chat, Scan and Ops share;
//! the request id is added by [`super::threshold`], which knows it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{Fault, Kind};
use serde_json::json;

/// The detail of a fault that says in how many seconds asking again may help.
pub const RETRY_AFTER: &str = "retry_after";

#[derive(Debug)]
pub struct HttpFault {
    pub fault: Fault,
    pub retry_after: Option<u64>,
}

impl From<Fault> for HttpFault {
    fn from(fault: Fault) -> Self {
        let details = fault.details.as_ref();
        let retry_after = details.and_then(|details| details.get(RETRY_AFTER)?.parse().ok());
        Self { fault, retry_after }
    }
}

impl HttpFault {
    pub fn new(kind: Kind, code: &str, message: impl Into<String>) -> Self {
        Fault::new(kind, code, message).into()
    }
}

/// A fault as open envelopes show it: `{type, code, message, hint, fixable, span?}`; `fixable` says
/// whether asking differently could help.
pub fn error_json(fault: &Fault) -> serde_json::Value {
    let mut error = json!({
        "type": fault.kind.chat_type(),
        "code": fault.code,
        "message": fault.message,
        "hint": fault.hint,
        "fixable": fault.kind.model_can_fix(),
    });
    if let (Some(span), Some(object)) = (fault.span, error.as_object_mut()) {
        object.insert("span".into(), json!(span));
    }
    error
}

/// Left in the response for the threshold, which writes the body with the request id in it.
#[derive(Clone)]
pub struct Body(pub Fault);

impl IntoResponse for HttpFault {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.fault.kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.fault.kind == Kind::Unauthenticated {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Body(self.fault));
        response
    }
}
