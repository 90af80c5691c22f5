//! `GET /api/sync/manifest` and `GET /api/sync/tables/{id}`: local copies for `da sync`, under the same policy.

use super::fetch::{self, Refusal};
use super::registry::{self, Entry};
use super::{ScanRequest, body};
use crate::House;
use crate::http::Path;
use crate::http::identify::Identified;
use crate::streamed::Wanted;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{Caller, Fault, Kind, Proposal, Purpose, Scan, sha256_hex};
use engines::Form;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// Tables that laptops hold copies of, each with the version of what this caller would get.
pub async fn manifest(State(house): State<Arc<House>>, Identified(caller): Identified) -> Json<Value> {
    let entries = registry::all(&house, &caller).await;
    let tables: Vec<Value> = entries
        .iter()
        .filter(|entry| !entry.is_remote())
        // What the caller's token cannot be given (a claim is missing) is not offered.
        .filter_map(|entry| Some((entry, version(&house, &caller, entry).ok()?)))
        .map(|(entry, version)| {
            json!({
                "id": entry.id(),
                "version": version,
                "rows": entry.table.row_count.filter(|_| !entry.table.hides_rows),
                "filtered": entry.table.filtered,
                "path": format!("/api/sync/tables/{}", entry.id()),
            })
        })
        .collect();
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Json(json!({ "tables": tables, "server_time": now }))
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
    let tag = format!("\"{}\"", version(&house, &caller, &entry)?);
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

/// Changes whenever the copy would: with the data, with what policy shows of it, and with whom it is shown to.
fn version(house: &House, caller: &Caller, entry: &Entry<'_>) -> Result<String, Fault> {
    let scan = Scan { table: entry.id().to_owned(), flavour: entry.flavour(), ..Scan::default() };
    let proposal = Proposal::Scan { source: entry.dataset.id.clone(), scan: Box::new(scan) };
    let approved = house.policy().check(caller, &entry.schema, &proposal, &house.config.scan.limits)?;
    Ok(sha256_hex([approved.fingerprint().as_str(), &entry.schema.data_version].join("\0").as_bytes()))
}
