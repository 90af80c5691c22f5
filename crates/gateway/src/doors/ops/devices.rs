//! `/api/v1/devices/`: making devices known, and what `gatehouse-device` says and hears (docs/API.md, "Devices").

use super::of_device::OfDevice;
use super::{PEOPLE, allow};
use crate::House;
use crate::aside::aside;
use crate::doors::admin::Admin;
use crate::http::address::address;
use crate::http::identify::Identified;
use crate::http::{HttpFault, StrictJson};
use crate::keyring::Keyring;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domain::package::{ClaimToken, ScriptResult, SignedKeys, SignedPackage};
use domain::{Fault, Holder, Holders, Kind};
use jiff::{SignedDuration, Timestamp};
use ledger::ops::{Enrolment, LogPiece};
use policy::redact::Masks;
use policy::script::Grants;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Of a log, at a time and in all.
const MAX_PIECE: usize = 64 * 1024;
const MAX_LOG: i64 = 16 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectRequest {
    device_id: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnrolRequest {
    code: String,
    grants: Grants,
    sandbox_tier: String,
    /// What holds its scripts, and what that can grant; a device of an earlier version does not say.
    #[serde(default)]
    cells: Option<Holders>,
    version: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogRequest {
    claim_token: ClaimToken,
    package_id: String,
    offset: u64,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultRequest {
    claim_token: ClaimToken,
    result: ScriptResult,
}

#[derive(Serialize, JsonSchema)]
pub struct ExpectReply {
    device_id: String,
    /// Good once.
    code: String,
    #[schemars(with = "String")]
    expires_at: Timestamp,
}

#[derive(Serialize, JsonSchema)]
pub struct EnrolReply {
    device_id: String,
    token: String,
    /// The one that signs first.
    trusted_keys: Vec<String>,
    keys_serial: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct ClaimReply {
    claim_token: ClaimToken,
    package: SignedPackage,
    /// Every list that the house has made, oldest first.
    keys: Vec<SignedKeys>,
}

/// `POST /api/v1/devices`: makes a device known. The only reply that ever has the code in it.
pub async fn expect(
    State(house): State<Arc<House>>,
    Admin(admin): Admin,
    StrictJson(request): StrictJson<ExpectRequest>,
) -> Result<(StatusCode, Json<ExpectReply>), HttpFault> {
    let ExpectRequest { device_id, name } = request;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if device_id.is_empty() || device_id.len() > 64 || !device_id.chars().all(plain) || name.len() > 200 {
        let message =
            "`device_id` is not 1 to 64 letters, digits, `-`, `_` and `.`, or `name` is longer than 200 bytes";
        return Err(HttpFault::new(Kind::Invalid, "device.name", message));
    }
    let expires_at = after(house.config.ops.code);
    let code = house.ledger.expect_device(&admin, &device_id, &name, expires_at).await.map_err(Fault::from)?;
    Ok((StatusCode::CREATED, Json(ExpectReply { device_id, code: code.expose().to_owned(), expires_at })))
}

/// `GET /api/v1/devices`.
pub async fn list(State(house): State<Arc<House>>, Identified(caller): Identified) -> Result<Json<Value>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    Ok(Json(json!({ "devices": house.ledger.devices().await.map_err(Fault::from)? })))
}

/// `POST /api/v1/devices/enrol`: nobody is known yet, the code is all that there is. Guesses are counted like those at
/// tokens.
pub async fn enrol(State(house): State<Arc<House>>, request: Request) -> Result<Json<EnrolReply>, HttpFault> {
    let from = address(&house, request.headers(), request.extensions());
    let StrictJson(request) =
        <StrictJson<EnrolRequest> as axum::extract::FromRequest<_>>::from_request(request, &house).await?;
    let EnrolRequest { code, grants, sandbox_tier, cells, version } = request;
    let is_fine = |holder: &Holder| holder.capabilities.iter().chain([&holder.cell]).all(|word| is_plain(word));
    let told_plainly = cells.as_ref().is_none_or(|cells| cells.iter().all(is_fine));
    if !is_plain(&sandbox_tier) || !is_plain(&version) || !told_plainly {
        let message = "`sandbox_tier`, `cells` and `version` are not plain words";
        return Err(HttpFault::new(Kind::Invalid, "device.version", message));
    }
    let enrolment = Enrolment {
        grants: serde_json::to_value(&grants).map_err(|_| Fault::internal("device.grants"))?,
        sandbox_tier,
        cells,
        version,
        now: Timestamp::now(),
    };
    let enrolled = async { Ok(house.ledger.enrol_device(&code, enrolment).await?.ok()) };
    let enrolled = house.prove(from, &code, enrolled, "the code is wrong, used or expired").await?;
    let trusted = house.keys(Keyring::list).await?;
    Ok(Json(EnrolReply {
        device_id: enrolled.device_id,
        token: enrolled.token.expose().to_owned(),
        trusted_keys: trusted.keys,
        keys_serial: trusted.serial,
    }))
}

/// `POST /api/v1/devices/claim`: the oldest package of this device, or 204.
pub async fn claim(
    State(house): State<Arc<House>>,
    OfDevice(caller, device): OfDevice,
    StrictJson(ClaimRequest {}): StrictJson<ClaimRequest>,
) -> Result<Response, HttpFault> {
    let token = claim_token()?;
    let times = (Timestamp::now(), after(house.config.ops.lease));
    // A script that a device takes is told of piece by piece.
    house.disk.admit()?;
    match house.ledger.claim_script(&caller, &device, &token, times).await.map_err(Fault::from)? {
        Some(package) => {
            let keys = house.keys(Keyring::signed_lists).await?;
            Ok(Json(ClaimReply { claim_token: token, package, keys }).into_response())
        }
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// `POST /api/v1/devices/logs`: redacted by the device, and once more here: nobody has to believe a device.
pub async fn log(
    State(house): State<Arc<House>>,
    OfDevice(caller, device): OfDevice,
    StrictJson(request): StrictJson<LogRequest>,
) -> Result<StatusCode, HttpFault> {
    let offset = i64::try_from(request.offset).unwrap_or(i64::MAX);
    if request.text.len() > MAX_PIECE || offset > MAX_LOG {
        return Err(HttpFault::new(Kind::TooLarge, "log.too_large", "the log, or this piece of it, is too large"));
    }
    let (redactor, said) = (house.ops.redactor.clone(), request.text);
    let text = aside(move || redactor.redact(&said, &mut Masks::default())).await?;
    let piece = LogPiece { rollback: request.package_id.ends_with(".rollback"), offset, text, at: Timestamp::now() };
    let heard = house.ledger.log_script(&caller, &device, &request.claim_token, piece).await;
    heard.map_err(Fault::from)?.inspect_err(|fault| house.metrics.ops.refused(fault))?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/devices/result`: how it ended; its run is on record before the device is told that it was heard.
pub async fn result(
    State(house): State<Arc<House>>,
    OfDevice(caller, device): OfDevice,
    StrictJson(request): StrictJson<ResultRequest>,
) -> Result<StatusCode, HttpFault> {
    check_shape(&request.result)?;
    let ResultRequest { claim_token, result } = request;
    let ended = house.ledger.end_script(&caller, &device, &claim_token, result.clone()).await;
    ended.map_err(Fault::from)?.inspect_err(|fault| house.metrics.ops.refused(fault))?;
    house.metrics.ops.ended(&result);
    Ok(StatusCode::NO_CONTENT)
}

/// What a device says goes on record: it is words of ours, or numbers.
fn check_shape(result: &ScriptResult) -> Result<(), Fault> {
    let words = [&result.code, &result.sandbox_tier].into_iter().flatten().chain(&result.unenforced);
    let ids = [&result.package_id, &result.digest];
    let is_fine = words.clone().all(|word| is_plain(word)) && words.count() <= 32;
    match is_fine && ids.iter().all(|id| id.is_empty() || (id.len() <= 80 && is_plain(id))) {
        true => Ok(()),
        false => Err(Fault::new(Kind::Invalid, "result.invalid", "the result is not made of plain words")),
    }
}

fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    !word.is_empty() && word.len() <= 80 && word.chars().all(plain)
}

fn after(time: Duration) -> Timestamp {
    let now = Timestamp::now();
    SignedDuration::try_from(time).ok().and_then(|time| now.checked_add(time).ok()).unwrap_or(now)
}

fn claim_token() -> Result<ClaimToken, Fault> {
    use ring::rand::SecureRandom;
    let mut random = [0; 32];
    ring::rand::SystemRandom::new().fill(&mut random).map_err(|_| Fault::internal("claim.random"))?;
    Ok(ClaimToken::from_random(&random))
}
