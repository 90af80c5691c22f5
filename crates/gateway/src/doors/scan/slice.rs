//! `POST /api/v2/scan`: some columns and rows of one table, streamed, §3.4.

use super::fetch::{self, Refusal};
use super::{ScanRequest, body, negotiate};
use crate::House;
use crate::http::StrictJson;
use crate::http::identify::Identified;
use crate::streamed::Wanted;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::Purpose;
use engines::Form;
use std::sync::Arc;

pub async fn scan(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    headers: HeaderMap,
    StrictJson(request): StrictJson<ScanRequest>,
) -> Result<Response, Refusal> {
    let form = negotiate::form(&headers, Form::Arrow)?;
    let streamed = fetch::begin(&house, &caller, request, Purpose::Answer, Wanted::all(form)).await?;
    Ok(body::respond(streamed, form))
}
