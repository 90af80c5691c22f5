//! `/tools`: the tools of Chat over plain HTTP.

use super::{Bound, call, chat};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, StrictJson};
use axum::Json;
use axum::extract::State;
use domain::{Door, Purpose, SessionId};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn list(Identified(_): Identified) -> Json<Value> {
    Json(json!({ "tools": chat() }))
}

pub async fn call_over_http(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(name): Path<String>,
    StrictJson(arguments): StrictJson<Value>,
) -> Result<Json<Box<RawValue>>, HttpFault> {
    let (door, purpose, session) = (Door::Chat, Purpose::Answer, SessionId::new());
    let bound = Bound { house: &house, caller: &caller, door, purpose, session, thread: None, words: None };
    Ok(Json(call(&bound, &name, arguments).await?.whole()?))
}
