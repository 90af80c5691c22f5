//! AgentDbResponse of spec 002 §2.3: one shape for whatever came of a request.

use super::typed;
use crate::House;
use crate::doors::chat::filtered_header;
use crate::path::Reply;
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::change::{ReadStep, Step};
use domain::{Clarification, Fault, Kind, Op, Status};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Whether an address belongs to this door, and with it its errors.
pub fn is_at(path: &str) -> bool {
    path == "/agent/db" || path.starts_with("/agent/db/")
}

/// A reply of this door, with the status that its meaning has.
pub struct Answer {
    status: StatusCode,
    pub body: Envelope,
    filtered: Option<(HeaderName, HeaderValue)>,
}

#[derive(Debug, Serialize)]
pub struct Envelope {
    pub ok: bool,
    pub operation: Option<Op>,
    pub resource: Option<String>,
    pub data: Vec<Map<String, Value>>,
    pub count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

#[derive(Debug, Serialize)]
pub struct Page {
    limit: u64,
    offset: u64,
}

#[derive(Debug, Serialize)]
pub struct ErrorBody {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub message: String,
    /// One question, with 422 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Answer {
    pub fn of(house: &House, reply: &Reply) -> Result<Self, Fault> {
        let run = &reply.run;
        let plan = run.plan_json.as_ref().and_then(|json| policy::parse_change_value(json).ok());
        let step = plan.as_ref().and_then(|plan| plan.step());
        let (operation, resource) = (step.map(Step::op), step.map(|step| step.resource().to_owned()));
        let failed = |status: u16, error: ErrorBody| {
            // What is not there for this caller is not repeated as if it were.
            let unknown = run.error_json.as_ref().is_some_and(|fault| fault.code == "change.unknown_resource");
            let known = resource.clone().filter(|_| !unknown);
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Self { status, body: Envelope { error: Some(error), ..blank(operation, known) }, filtered: None }
        };
        Ok(match (run.status, &run.error_json, &run.clarification) {
            (Status::Succeeded, _, _) => {
                let data = typed::rows(house, reply, resource.as_deref())?;
                let count = data.len() as u64;
                let page = match step {
                    Some(Step::Read(step)) => page(step, count),
                    _ => None,
                };
                let body = Envelope { ok: true, data, count, page, ..blank(operation, resource.clone()) };
                Self { status: StatusCode::OK, body, filtered: filtered_header(run) }
            }
            (_, Some(fault), _) => failed(status(fault), error(fault)),
            (_, None, Some(clarification)) => failed(422, ambiguous(clarification)),
            (_, None, None) => {
                let fault = Fault::new(Kind::Unavailable, "records.cancelled", "the request was cancelled");
                failed(status(&fault), error(&fault))
            }
        })
    }

    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if let Some((name, value)) = self.filtered {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

fn blank(operation: Option<Op>, resource: Option<String>) -> Envelope {
    Envelope { ok: false, operation, resource, data: Vec::new(), count: 0, page: None, error: None }
}

/// Only where there is more than one page to it: it was asked for, or the limit was reached.
fn page(step: &ReadStep, count: u64) -> Option<Page> {
    (step.offset.is_some() || count == step.limit)
        .then(|| Page { limit: step.limit, offset: step.offset.unwrap_or_default() })
}

/// The body of a fault that came before there was a run.
pub fn body(fault: &Fault) -> Value {
    let envelope = Envelope { error: Some(error(fault)), ..blank(None, None) };
    serde_json::to_value(envelope).unwrap_or_default()
}

fn ambiguous(clarification: &Clarification) -> ErrorBody {
    let details = (!clarification.choices.is_empty()).then(|| json!({ "choices": clarification.choices }));
    ErrorBody {
        kind: "AMBIGUOUS_INTENT",
        message: "the instruction can be read in more than one way".to_owned(),
        clarification: Some(clarification.question.clone()),
        details,
    }
}

fn error(fault: &Fault) -> ErrorBody {
    let kind = error_type(fault);
    let clarification = (fault.kind == Kind::NotUnderstood)
        .then(|| "Which resource is it about, and what should be read or changed there?".to_owned());
    let mut details = json!({ "code": fault.code, "hint": fault.hint });
    if let (Some(more), Some(object)) = (&fault.details, details.as_object_mut()) {
        object.extend(more.iter().map(|(name, value)| (name.clone(), json!(value))));
    }
    ErrorBody { kind, message: fault.message.clone(), clarification, details: Some(details) }
}

/// The statuses of §2.4, and those that the house adds.
pub fn status(fault: &Fault) -> u16 {
    match fault.kind {
        Kind::NotUnderstood => 422,
        // How long a request says that it is, is looked at before whom it is for.
        Kind::TooLarge if fault.code != "request.too_large" => 400,
        kind => kind.http_status(),
    }
}

/// The types of §6, and those that the house adds.
pub fn error_type(fault: &Fault) -> &'static str {
    const FIELDS: [&str; 4] =
        ["change.unknown_field", "change.field_not_writable", "change.generated_field", "change.key_update"];
    match fault.kind {
        Kind::NotUnderstood => "AMBIGUOUS_INTENT",
        Kind::Forbidden if FIELDS.contains(&fault.code.as_str()) => "UNAUTHORIZED_FIELD",
        Kind::Forbidden => "UNAUTHORIZED_OPERATION",
        Kind::Invalid | Kind::SqlPolicy | Kind::TooLarge | Kind::ResourceExceeded | Kind::Execution => "INVALID_QUERY",
        Kind::NotFound => "RESOURCE_NOT_FOUND",
        Kind::Conflict => "CONFLICT",
        Kind::Unauthenticated => "UNAUTHENTICATED",
        Kind::RateLimited => "RATE_LIMITED",
        Kind::Timeout => "TIMEOUT",
        Kind::Unavailable | Kind::SandboxUnavailable | Kind::Internal => "UNAVAILABLE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_status_and_a_type_of_the_specification() {
        let told: Vec<String> = Kind::ALL
            .into_iter()
            .map(|kind| Fault::new(kind, "some.code", "it failed"))
            .map(|fault| format!("{:?} {} {}", fault.kind, status(&fault), error_type(&fault)))
            .collect();
        insta::assert_snapshot!(told.join("\n"), @"
        Invalid 400 INVALID_QUERY
        SqlPolicy 400 INVALID_QUERY
        NotUnderstood 422 AMBIGUOUS_INTENT
        Unauthenticated 401 UNAUTHENTICATED
        Forbidden 403 UNAUTHORIZED_OPERATION
        NotFound 404 RESOURCE_NOT_FOUND
        Conflict 409 CONFLICT
        TooLarge 400 INVALID_QUERY
        RateLimited 429 RATE_LIMITED
        Timeout 504 TIMEOUT
        ResourceExceeded 400 INVALID_QUERY
        Execution 400 INVALID_QUERY
        Unavailable 503 UNAVAILABLE
        SandboxUnavailable 503 UNAVAILABLE
        Internal 500 UNAVAILABLE
        ");
    }
}
