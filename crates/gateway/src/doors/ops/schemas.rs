//! `GET /api/v1/ai/schemas`: the JSON Schemas of all that goes in and out.

use axum::Json;
use serde_json::{Map, Value};

pub async fn schemas() -> Json<Map<String, Value>> {
    Json(ops::schemas::all().into_iter().map(|(name, schema)| (name.to_owned(), schema.to_value())).collect())
}
