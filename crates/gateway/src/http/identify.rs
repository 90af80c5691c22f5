//! Identify: who asks, by bearer token or by the page's cookie.

use super::HttpFault;
use super::threshold::KnownId;
use crate::House;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::{Caller, Kind, RequestId};
use ledger::AuditEvent;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Browsers keep one cookie of a name for all ports of a machine; several servers may run on it.
pub fn cookie_name(house: &House) -> String {
    format!("gatehouse_session_{}", house.port.get().copied().unwrap_or_default())
}

/// The extractor that every handler of an API takes: without it there is no [`Caller`].
pub struct Identified(pub Caller);

impl FromRequestParts<Arc<House>> for Identified {
    type Rejection = HttpFault;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, HttpFault> {
        let request_id = parts.extensions.get::<KnownId>().map_or_else(RequestId::new, |id| id.0.clone());
        let caller = identify(house, &parts.headers, request_id).await?;
        house.rates.admit(house, &caller.actor)?;
        Ok(Self(caller))
    }
}

async fn identify(house: &House, headers: &HeaderMap, request_id: RequestId) -> Result<Caller, HttpFault> {
    let unavailable = |e: ledger::LedgerError| HttpFault::from(domain::Fault::from(e));
    if let Some(secret) = bearer(headers)? {
        let token = house.ledger.authenticate(secret).await.map_err(unavailable)?;
        let Some(token) = token else {
            house.note_refused(&request_id).await;
            return Err(refused("the token is unknown, expired or revoked"));
        };
        return Ok(Caller { actor: token.actor, role: token.role, claims: token.claims, request_id });
    }
    if let Some(secret) = cookie(house, headers) {
        let identity = house.ledger.session(secret).await.map_err(unavailable)?;
        let identity = identity.ok_or_else(|| refused("the session has ended"))?;
        return Ok(Caller { actor: identity.actor, role: identity.role, claims: BTreeMap::new(), request_id });
    }
    Err(refused("no token was sent"))
}

impl House {
    /// Wrong tokens are on record, some of them each second: guessing must not fill the disk.
    async fn note_refused(&self, request_id: &RequestId) {
        if self.rates.note_refusal() {
            let event = AuditEvent::new("auth.refused").detail(serde_json::json!({ "request_id": request_id }));
            if let Err(error) = self.ledger.append(event).await {
                tracing::error!(%error, "a refused token cannot be recorded");
            }
        }
    }
}

fn refused(message: &str) -> HttpFault {
    HttpFault::new(Kind::Unauthenticated, "auth.refused", message)
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, HttpFault> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    value
        .to_str()
        .ok()
        .and_then(|v| v.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, secret)| Some(secret.trim()))
        .ok_or_else(|| refused("the `Authorization` header is not `Bearer …`"))
}

pub fn cookie<'h>(house: &House, headers: &'h HeaderMap) -> Option<&'h str> {
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
