//! Tokens: who has one, giving one out, ending one.

use super::{Admin, note};
use crate::House;
use crate::http::{HttpFault, Path, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{Actor, Fault, Kind};
use jiff::{Span, Timestamp, Zoned};
use ledger::{NewToken, TokenInfo};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `GET /tokens`: all of them, ended ones too, the newest first. Secrets are not known any more.
pub async fn list(State(house): State<Arc<House>>, Admin(_): Admin) -> Result<Json<Value>, HttpFault> {
    let tokens = house.ledger.tokens().await.map_err(Fault::from)?;
    let now = Timestamp::now();
    Ok(Json(json!({ "tokens": tokens.iter().map(|token| shown(token, now)).collect::<Vec<_>>() })))
}

fn shown(token: &TokenInfo, now: Timestamp) -> Value {
    json!({
        "id": token.id, "actor": token.actor, "role": token.role, "claims": token.claims,
        "created_at": token.created_at, "expires_at": token.expires_at, "revoked_at": token.revoked_at,
        "valid": token.is_valid(now),
    })
}

/// `POST /tokens`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    actor: String,
    role: String,
    #[serde(default)]
    claims: BTreeMap<String, String>,
    /// A span such as `30d`; never, if left out.
    expires: Option<String>,
}

/// The only reply that ever has the secret in it.
pub async fn create(
    State(house): State<Arc<House>>,
    Admin(admin): Admin,
    StrictJson(request): StrictJson<TokenRequest>,
) -> Result<(StatusCode, Json<Value>), HttpFault> {
    let (token, secret) = house.ledger.create_token(new_token(request)?).await.map_err(Fault::from)?;
    note(&house, &admin, "token.given", json!({ "token": token.id })).await?;
    let body = json!({ "token": shown(&token, Timestamp::now()), "secret": secret.expose() });
    Ok((StatusCode::CREATED, Json(body)))
}

fn new_token(request: TokenRequest) -> Result<NewToken, Fault> {
    let TokenRequest { actor, role, claims, expires } = request;
    plain("actor", &actor)?;
    plain("role", &role)?;
    if let Some(name) = claims.keys().find(|name| ["", "actor", "role"].contains(&name.as_str())) {
        return Err(Fault::new(Kind::Invalid, "token.claim", format!("`{name}` cannot be the name of a claim")));
    }
    Ok(NewToken { actor: Actor::token(actor), role, claims, expires_at: expires.as_deref().map(expiry).transpose()? })
}

fn plain(what: &str, text: &str) -> Result<(), Fault> {
    let fine = !text.trim().is_empty() && text.len() <= 128 && !text.chars().any(char::is_control);
    let bad = || Fault::new(Kind::Invalid, "token.name", format!("`{what}` is not 1 to 128 plain characters"));
    fine.then_some(()).ok_or_else(bad)
}

fn expiry(text: &str) -> Result<Timestamp, Fault> {
    let bad = || {
        let shown: String = text.chars().take(64).collect();
        Fault::new(Kind::Invalid, "token.expires", format!("`{shown}` is not a span of time to come"))
            .hint("write it like `30d`, `12h` or `1y`")
    };
    let span: Span = text.parse().map_err(|_| bad())?;
    let at = Zoned::now().checked_add(span).map_err(|_| bad())?.timestamp();
    if at > Timestamp::now() { Ok(at) } else { Err(bad()) }
}

/// `DELETE /tokens/{id}`: ends it at once.
pub async fn revoke(
    State(house): State<Arc<House>>,
    Admin(admin): Admin,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpFault> {
    if !house.ledger.revoke_token(&id).await.map_err(Fault::from)? {
        let shown: String = id.chars().take(64).collect();
        let fault = Fault::new(Kind::NotFound, "token.unknown", format!("there is no valid token `{shown}`"));
        return Err(fault.hint("`GET /tokens` lists them").into());
    }
    note(&house, &admin, "token.taken", json!({ "token": id })).await?;
    Ok(StatusCode::NO_CONTENT)
}
