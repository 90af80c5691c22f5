//! What happens to every request and every reply, in one place: request id, `Host` and `Origin`,
//! security headers, the envelope of faults, counting.

use super::HttpFault;
use super::error::{Body, error_json};
use super::host::Host;
use super::json::too_large;
use super::unread::Unread;
use crate::House;
use crate::doors::analyst::envelope as openai;
use crate::doors::ops::envelope as ops;
use crate::doors::records::envelope as records;
use crate::doors::scan::envelope as scan;
use crate::metrics::RequestLabels;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::{Kind, RequestId};
use serde_json::json;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tracing::Instrument;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const CSP: &str = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; \
                   base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Replies of "too many" that are let go each second, however many are held back.
const HELD_A_SECOND: f64 = 100.0;
const LONGEST_HELD: Duration = Duration::from_secs(10);

/// A reply that is held back; also one whose client does not wait for it is counted no longer than it waits.
struct Held<'a> {
    count: &'a AtomicUsize,
    others: usize,
}

impl<'a> Held<'a> {
    fn one_more(count: &'a AtomicUsize) -> Self {
        Self { count, others: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The id of this request, for handlers.
#[derive(Clone)]
pub struct KnownId(pub RequestId);

pub async fn cross(State(house): State<Arc<House>>, mut request: Request, next: Next) -> Response {
    let id = request
        .headers()
        .get(&REQUEST_ID)
        .and_then(|v| v.to_str().ok())
        .and_then(RequestId::from_caller)
        .unwrap_or_else(RequestId::new);
    request.extensions_mut().insert(KnownId(id.clone()));
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let method = method_label(request.method());
    let envelope = Envelope::of(request.uri().path());
    let fits = house.has_room_for(request.headers());
    let unread = Unread::of(&mut request, fits.is_ok());
    let mut response = match house.own_ground(&request).and(fits) {
        Ok(()) => next.run(request).instrument(tracing::info_span!("request", request_id = %id)).await,
        Err(fault) => {
            // Its body is given back, so that the rest of it is read, or the connection is said to end.
            drop(request);
            fault.into_response()
        }
    };
    if response.status() == StatusCode::TOO_MANY_REQUESTS {
        house.hold_back().await;
    }
    unread.settle(&mut response).await;
    let response = dress(response, &id, envelope);
    house.metrics.answered(RequestLabels { route, method, status: response.status().as_u16() });
    response
}

/// Whose words a fault is told in.
#[derive(Clone, Copy)]
enum Envelope {
    OpenAi,
    Records,
    Ops,
    Scan,
    Open,
}

impl Envelope {
    fn of(path: &str) -> Self {
        match path {
            path if openai::is_at(path) => Self::OpenAi,
            path if records::is_at(path) => Self::Records,
            path if ops::is_at(path) => Self::Ops,
            path if scan::is_at(path) => Self::Scan,
            _ => Self::Open,
        }
    }
}

/// Anybody can invent a method, and each label is kept for ever: only known ones are told apart.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

/// Writes the envelope of a fault, the Analyst's or the open one, and the headers of every reply.
fn dress(mut response: Response, id: &RequestId, envelope: Envelope) -> Response {
    if let Some(Body(fault)) = response.extensions_mut().remove::<Body>() {
        let (mut parts, _) = response.into_parts();
        let body = match envelope {
            Envelope::OpenAi => {
                openai::add_headers(&fault, &mut parts.headers);
                openai::body(&fault)
            }
            Envelope::Records => {
                // A method that the address does not take keeps its own.
                if parts.status != StatusCode::METHOD_NOT_ALLOWED {
                    parts.status = StatusCode::from_u16(records::status(&fault)).unwrap_or(parts.status);
                }
                records::body(&fault)
            }
            Envelope::Ops => ops::body(&fault, id),
            Envelope::Scan => scan::body(&fault, id),
            Envelope::Open => json!({ "error": error_json(&fault), "request_id": id }),
        };
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response = Response::from_parts(parts, axum::body::Body::from(body.to_string()));
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

impl House {
    /// Whoever asks too often hears so late, and later the more of them there are: however many loops do not heed it, they
    /// turn about [`HELD_A_SECOND`] times a second in all, and cost others little. Not all at the same time, or they would
    /// all come back in one moment.
    async fn hold_back(&self) {
        let held = Held::one_more(&self.held_back);
        let scatter = Duration::from_millis(500 + RandomState::new().hash_one(()) % 1_000);
        let wait = scatter + Duration::from_secs(1).mul_f64(held.others as f64 / HELD_A_SECOND);
        let _ = tokio::time::timeout(wait.min(LONGEST_HELD), self.shutdown.cancelled()).await;
    }

    /// A name that is not ours in `Host` is DNS rebinding; another origin is another site's script.
    fn own_ground(&self, request: &Request) -> Result<(), HttpFault> {
        let headers = request.headers();
        let host = Host::of(request).map_err(|wrong| {
            let mut fault = HttpFault::new(Kind::Invalid, "request.host_malformed", wrong);
            fault.fault.hint = "name the server once, as `host` or `host:port`".into();
            fault
        })?;
        if !self.is_own_host(host.name) {
            let shown: String = host.text.chars().take(100).collect();
            let mut fault =
                HttpFault::new(Kind::Forbidden, "request.host", format!("this server does not answer to `{shown}`"));
            fault.fault.hint = "use its own name, or add the name to `server.hosts`".into();
            return Err(fault);
        }
        let is_own = |origin: &HeaderValue| {
            let own = origin.to_str().ok().and_then(|o| o.split_once("://")).map(|(_, host)| host);
            own == Some(host.text)
        };
        if !headers.get_all(header::ORIGIN).iter().all(is_own) {
            let mut fault = HttpFault::new(Kind::Forbidden, "request.origin", "requests of another site are refused");
            fault.fault.hint = "call the API from a program, or from this server's own page".into();
            return Err(fault);
        }
        Ok(())
    }

    /// What says that it is too long is refused before any of it is read, whoever sends it and wherever to.
    fn has_room_for(&self, headers: &HeaderMap) -> Result<(), HttpFault> {
        let told = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let most = u64::try_from(self.config.server.body_limit_bytes).unwrap_or(u64::MAX);
        if told.is_some_and(|length| length > most) { Err(too_large()) } else { Ok(()) }
    }

    fn is_own_host(&self, name: &str) -> bool {
        let listen = self.config.server.listen.ip();
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == listen)
            || self.config.server.hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// What no route matches.
pub async fn no_route() -> HttpFault {
    HttpFault::new(Kind::NotFound, "request.no_route", "there is nothing at this address")
}

/// A known address, asked in a way that it does not know.
pub async fn wrong_method() -> Response {
    let fault = HttpFault::new(Kind::Invalid, "request.method", "this address does not take this method");
    let mut response = fault.into_response();
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// A panic of ours: the log has it, the caller has the request id, the server goes on.
pub fn panicked(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a handler panicked");
    HttpFault::from(domain::Fault::internal("request.panic")).into_response()
}
