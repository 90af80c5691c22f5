//! `POST /api/v2/scan/estimate`: what a scan would read and give, §3.5. Metered and on record like the scan itself.

use super::ScanRequest;
use super::fetch::{self, Refusal};
use super::registry;
use crate::House;
use crate::http::StrictJson;
use crate::http::identify::Identified;
use crate::streamed::Wanted;
use axum::Json;
use axum::extract::State;
use domain::{Dialect, Fault, Purpose};
use engines::Form;
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn estimate(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(request): StrictJson<ScanRequest>,
) -> Result<Json<Value>, Refusal> {
    let table_id = request.table_id.clone();
    let streamed = fetch::begin(&house, &caller, request, Purpose::Estimate, Wanted::all(Form::Estimate)).await?;
    let filtered_by = streamed.head.filtered_by.clone();
    let (figures, _) = streamed.whole().await?;
    let figures: engines::Estimate = serde_json::from_slice(&figures).map_err(|_| Fault::internal("scan.estimate"))?;
    let billed = match registry::find(&house, &caller, &table_id).await {
        Ok(entry) => figures.scan_bytes.filter(|_| entry.schema.dialect == Dialect::BigQuery),
        Err(_) => None,
    };
    let cost = billed.map(|bytes| bytes as f64 / 1e12 * house.config.scan.bq_cost_per_tb_usd);
    // What is not known is null: a 0 would be taken for an answer. Reading local data costs nothing.
    let mut body = json!({
        "table_id": table_id,
        "estimated_scan_bytes": figures.scan_bytes,
        "estimated_result_rows": figures.result_rows,
        "estimated_result_bytes": figures.result_bytes,
        "bq_cost_estimate_usd": cost,
    });
    if let (false, Some(object)) = (filtered_by.is_empty(), body.as_object_mut()) {
        object.insert("filtered_by".into(), json!(filtered_by));
    }
    Ok(Json(body))
}
