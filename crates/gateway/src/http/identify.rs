//! Identify: who asks, by bearer token (ours, or a JWT of somebody we trust) or by the page's cookie.

use super::HttpFault;
use super::address::address;
use super::jwt::Verifier;
use super::threshold::KnownId;
use crate::House;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::{Caller, Fault, Kind, RequestId};
use ledger::{AuditEvent, LedgerError};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Browsers keep one cookie of a name for all ports of a machine; several servers may run on it. Those that share a ledger
/// share sessions, on whatever ports a proxy finds them.
pub fn cookie_name(house: &House) -> String {
    if house.ledger.is_shared() {
        return "gatehouse_session".to_owned();
    }
    format!("gatehouse_session_{}", house.port.get().copied().unwrap_or_default())
}

/// The extractor that every handler of an API takes: without it there is no [`Caller`].
pub struct Identified(pub Caller);

impl FromRequestParts<Arc<House>> for Identified {
    type Rejection = HttpFault;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, HttpFault> {
        let request_id = parts.extensions.get::<KnownId>().map_or_else(RequestId::new, |id| id.0.clone());
        let caller = identify(house, parts, request_id).await?;
        house.rates.admit(house, &caller).await?;
        Ok(Self(caller))
    }
}

async fn identify(house: &House, parts: &Parts, request_id: RequestId) -> Result<Caller, HttpFault> {
    let headers = &parts.headers;
    let from = address(house, headers, &parts.extensions);
    if let Some(secret) = bearer(headers)? {
        if let Some(verifier) = house.verifier.as_ref().filter(|_| Verifier::is_jwt(secret)) {
            let caller = async { Ok(verifier.caller(secret, request_id).await) };
            return house.prove(from, secret, caller, "the token is not valid, or not any more").await;
        }
        let token = house.ledger.authenticate(secret);
        let token = house.prove(from, secret, token, "the token is unknown, expired or revoked").await?;
        return Ok(Caller { actor: token.actor, role: token.role, claims: token.claims, request_id, end_user: None });
    }
    if let Some(secret) = cookie(house, headers) {
        let identity = house.prove(from, secret, house.ledger.session(secret), "the session has ended").await?;
        let claims = BTreeMap::new();
        return Ok(Caller { actor: identity.actor, role: identity.role, claims, request_id, end_user: None });
    }
    Err(refused("no token was sent"))
}

impl House {
    /// Looks up a secret that came from `from`, unless guesses at it are used up; a wrong one is counted and recorded.
    pub async fn prove<T>(
        &self,
        from: IpAddr,
        secret: &str,
        lookup: impl Future<Output = Result<Option<T>, LedgerError>>,
        wrong: &str,
    ) -> Result<T, HttpFault> {
        self.attempts.admit(from, secret, Instant::now()).map_err(|wait| self.guessing(wait))?;
        if let Some(known) = lookup.await.map_err(Fault::from)? {
            return Ok(known);
        }
        let counted = self.attempts.failed(from, secret, Instant::now());
        self.note_refused(from).await;
        counted.map_err(|wait| self.guessing(wait))?;
        Err(refused(wrong))
    }

    fn guessing(&self, wait: Duration) -> HttpFault {
        self.metrics.rate_limited.inc();
        let message = "too many wrong tokens, codes or sessions came from this address";
        let mut fault = HttpFault::new(Kind::RateLimited, "auth.too_many_attempts", message);
        let seconds = wait.as_secs() + 1;
        fault.fault.hint = format!("wait {seconds} s; if the token was revoked or has expired, ask for a new one");
        fault.retry_after = Some(seconds);
        fault
    }

    /// Wrong secrets are on record, some of them each second: guessing must not fill the disk.
    async fn note_refused(&self, from: IpAddr) {
        if self.rates.note_refusal() {
            let event = AuditEvent::new("auth.refused").detail(serde_json::json!({ "address": from }));
            if let Err(error) = self.ledger.append(event).await {
                tracing::error!(%error, "a refused secret cannot be recorded");
            }
        }
    }
}

fn refused(message: &str) -> HttpFault {
    HttpFault::new(Kind::Unauthenticated, "auth.refused", message)
}

pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>, HttpFault> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    value
        .to_str()
        .ok()
        .and_then(|v| v.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, secret)| Some(secret.trim()))
        .ok_or_else(|| refused("the `Authorization` header is not `Bearer …`"))
}

/// The page's session. Where the browser says that another site, or another port of this machine, made it send the
/// request, the cookie counts for nothing: `SameSite` knows no ports, and `Origin` is not sent with every request.
pub fn cookie<'h>(house: &House, headers: &'h HeaderMap) -> Option<&'h str> {
    let made_by = headers.get("sec-fetch-site").map_or(b"none".as_slice(), |v| v.as_bytes());
    if !matches!(made_by, b"none" | b"same-origin") {
        return None;
    }
    let own = cookie_name(house);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == own)
        .map(|(_, value)| value)
}
