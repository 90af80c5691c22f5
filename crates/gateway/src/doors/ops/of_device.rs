//! The device that a caller is: by the very token that it was given when it enrolled.

use super::refuse;
use crate::House;
use crate::http::HttpFault;
use crate::http::identify::{Identified, bearer};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use domain::{Caller, Fault, Kind};
use ledger::ops::{DEVICE_CLAIM, DEVICE_ROLE};
use std::sync::Arc;

/// Who speaks, and as which device.
pub struct OfDevice(pub Caller, pub String);

impl FromRequestParts<Arc<House>> for OfDevice {
    type Rejection = HttpFault;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, HttpFault> {
        let Identified(caller) = Identified::from_request_parts(parts, house).await?;
        let device = device_of(house, &caller, &parts.headers).await?;
        Ok(Self(caller, device))
    }
}

/// Role and claim alone are not enough: whoever may write tokens, or signs those of somebody whom the house trusts, could
/// give them to anything.
pub async fn device_of(house: &House, caller: &Caller, headers: &HeaderMap) -> Result<String, HttpFault> {
    let claimed = caller.claims.get(DEVICE_CLAIM).filter(|_| caller.role == DEVICE_ROLE);
    let enrolled = match (claimed, bearer(headers)?) {
        (Some(_), Some(token)) => house.ledger.device_of_token(token).await.map_err(Fault::from)?,
        _ => None,
    };
    match enrolled.filter(|device| claimed == Some(device)) {
        Some(device) => Ok(device),
        None => {
            let fault = Fault::new(Kind::Forbidden, "auth.role", "this is for devices that have enrolled")
                .hint("use the token that the device got when it enrolled");
            Err(refuse(house, caller, fault).await.into())
        }
    }
}
