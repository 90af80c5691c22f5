//! What those who keep the house see of it: the policy and what it would say, the audit chain, tokens.
//!
//! Like every door it only translates: the policy decides, the ledger keeps.

pub mod audit;
pub mod policy;
pub mod tokens;

use crate::House;
use crate::http::HttpFault;
use crate::http::identify::Identified;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use domain::{Caller, Fault, Kind};
use ledger::AuditEvent;
use std::sync::Arc;

/// The extractor of this door's handlers: a caller of the role `admin`.
pub struct Admin(pub Caller);

impl FromRequestParts<Arc<House>> for Admin {
    type Rejection = HttpFault;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, HttpFault> {
        let Identified(caller) = Identified::from_request_parts(parts, house).await?;
        if caller.is_admin() {
            return Ok(Self(caller));
        }
        Err(HttpFault::new(Kind::Forbidden, "auth.role", "this is for the role `admin`"))
    }
}

/// What an admin does is on record, with who did it.
pub async fn note(house: &House, admin: &Caller, kind: &str, detail: serde_json::Value) -> Result<(), Fault> {
    house.ledger.append(AuditEvent::new(kind).by(admin).detail(detail)).await.map(drop).map_err(Fault::from)
}
