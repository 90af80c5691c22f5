//! `GET /api/v2/sample/{table_id}?n=5`: a few rows to see what they look like, §3.3.

use super::ScanRequest;
use super::cache::Kept;
use super::fetch::{self, Refusal};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{Path, Query};
use crate::streamed::Wanted;
use axum::Json;
use axum::extract::State;
use domain::{Caller, Fault, Kind, Purpose};
use engines::Form;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const USUAL: u64 = 5;
const MOST: u64 = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HowMany {
    /// Rows, at most 100.
    n: Option<u64>,
}

pub async fn sample(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    Query(HowMany { n }): Query<HowMany>,
) -> Result<Json<Value>, Refusal> {
    let n = n.unwrap_or(USUAL);
    if !(1..=MOST).contains(&n) {
        let fault = Fault::new(Kind::Invalid, "scan.sample_size", format!("`n` is 1 to {MOST}, not {n}"));
        return Err(fault.detail("max", MOST.to_string()).into());
    }
    let policy = house.policy().fingerprint().to_owned();
    let entry = fetch::find(&house, &caller, "fetch_sample", &id).await?;
    // Rows of another n are other rows.
    let key = format!("{id}\0{n}");
    let kept = Kept { what: "sample", id: &key, ttl: house.config.scan.sample_ttl };
    let data = entry.schema.data_version.clone();
    let mut asked = false;
    let make = async || {
        asked = true;
        rows(&house, &caller, &id, n).await
    };
    let rows = house.shelf.get_or(&policy, &caller, kept, &data, make).await?;
    if !asked {
        fetch::note_kept(&house, &caller, "fetch_sample", &id).await?;
    }
    let mut body = json!({ "table_id": id, "rows": rows, "source": entry.source_type() });
    if let (true, Some(object)) = (entry.table.filtered, body.as_object_mut()) {
        object.insert("filtered_by".into(), json!([id]));
    }
    Ok(Json(body))
}

async fn rows(house: &Arc<House>, caller: &Caller, id: &str, n: u64) -> Result<Value, Refusal> {
    let request = ScanRequest { limit: Some(n), ..ScanRequest::whole(id.to_owned()) };
    let streamed = fetch::begin(house, caller, request, Purpose::Describe, Wanted::all(Form::Json)).await?;
    let (json, _) = streamed.whole().await?;
    serde_json::from_slice(&json).map_err(|_| Fault::internal("scan.sample").into())
}
