//! `GET /api/sync/manifest` and `GET /api/sync/tables/{id}`: local copies for `da sync`, under the same policy.

use super::fetch::{self, Refusal};
use super::registry::{self, Entry};
use super::{ScanRequest, body};
use crate::House;
use crate::http::Path;
use crate::http::identify::Identified;
use crate::streamed::{NotStreamed, Wanted};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{Caller, Fault, Kind, Purpose};
use engines::Form;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// Tables that laptops hold copies of, each with the version of what this caller would get.
pub async fn manifest(State(house): State<Arc<House>>, Identified(caller): Identified) -> Result<Json<Value>, Refusal> {
    let mut tables = Vec::new();
    for entry in registry::all(&house, &caller).await.iter().filter(|entry| !entry.is_remote()) {
        let version = match version(&house, &caller, entry).await {
            Ok(version) => version,
            // What the caller's token cannot be given (a claim is missing) is not offered.
            Err(NotStreamed::Fault(fault)) if fault.kind != Kind::Unavailable => continue,
            Err(why) => return Err(fetch::refused(&caller, why)),
        };
        tables.push(json!({
            "id": entry.id(),
            "version": version,
            "rows": entry.table.row_count.filter(|_| !entry.table.hides_rows),
            "filtered": entry.table.filtered,
            "path": format!("/api/sync/tables/{}", entry.id()),
        }));
    }
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Ok(Json(json!({ "tables": tables, "server_time": now })))
}

/// The whole table as Parquet, as far as this caller may see it. Not again for who has it already.
pub async fn table(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let entry = fetch::find(&house, &caller, "fetch_scan", &id).await?;
    if entry.is_remote() {
        let fault = Fault::new(Kind::Invalid, "scan.not_local", format!("`{id}` is not copied as a whole"));
        return Err(fault.hint(format!("fetch a slice of it: `da fetch {id}`")).into());
    }
    let version = version(&house, &caller, &entry).await.map_err(|why| fetch::refused(&caller, why))?;
    let tag = format!("\"{version}\"");
    let mut response = match headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes())
    {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => {
            let request = ScanRequest::whole(id);
            let streamed = fetch::begin(&house, &caller, request, Purpose::Answer, Wanted::all(Form::Parquet)).await?;
            body::respond(streamed, Form::Parquet)
        }
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// Changes whenever the copy would: with the rows, with what policy shows of them, and with whom they are shown to.
async fn version(house: &Arc<House>, caller: &Caller, entry: &Entry<'_>) -> Result<String, NotStreamed> {
    house.table_version(caller, entry.dataset, &entry.schema, entry.id()).await
}
