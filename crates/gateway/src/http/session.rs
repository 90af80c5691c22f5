//! The page's sign-in: a one-time link, then a cookie that no script and no other site can use.

use super::address::address;
use super::identify::{Identified, cookie, cookie_name};
use super::{HttpFault, Query, page};
use crate::House;
use axum::Json;
use axum::extract::State;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use domain::{Fault, Kind};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Deserialize)]
pub struct Login {
    code: String,
}

pub async fn login(
    State(house): State<Arc<House>>,
    extensions: Extensions,
    headers: HeaderMap,
    Query(login): Query<Login>,
) -> Result<Response, HttpFault> {
    let from = address(&house, &headers, &extensions);
    let session = house.ledger.redeem_login(&login.code);
    let session = match house.prove(from, &login.code, session, "this sign-in link was used or has expired").await {
        Ok(session) => session,
        Err(fault) if fault.fault.kind != Kind::Unauthenticated => return Err(fault),
        // The page itself says how to get a fresh one.
        Err(_) if is_browser(&headers) => {
            return Ok((StatusCode::UNAUTHORIZED, page::index(HeaderMap::new()).await?).into_response());
        }
        Err(mut fault) => {
            fault.fault.code = "auth.link".into();
            fault.fault.hint = "start the server again, or run `gatehouse tokens link`, for a fresh one".into();
            return Err(fault);
        }
    };
    let secure = if house.config.tls.is_some() || house.config.server.behind_proxy { "; Secure" } else { "" };
    let name = cookie_name(&house);
    let cookie = format!("{name}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200{secure}", session.expose());
    // Not a redirect: a browser that came from elsewhere would not send a strict cookie along.
    let page = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=/\"><link rel=\"icon\" href=\"/assets/icon.svg\"><title>Gatehouse</title><a href=\"/\">Go on</a>";
    Ok(([(header::SET_COOKIE, cookie), (header::CONTENT_TYPE, "text/html; charset=utf-8".into())], page)
        .into_response())
}

fn is_browser(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).is_some_and(|v| v.contains("text/html"))
}

pub async fn who(State(house): State<Arc<House>>, Identified(caller): Identified) -> Json<serde_json::Value> {
    Json(json!({ "actor": caller.actor, "role": caller.role, "planner": house.planning.name() }))
}

pub async fn logout(State(house): State<Arc<House>>, headers: HeaderMap) -> Result<Response, HttpFault> {
    if let Some(secret) = cookie(&house, &headers) {
        house.ledger.end_session(secret).await.map_err(Fault::from)?;
    }
    let gone = format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", cookie_name(&house));
    let mut response = Redirect::to("/").into_response();
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(value) = gone.parse() {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    Ok(response)
}
