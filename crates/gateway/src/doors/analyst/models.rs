//! `GET /v1/models`: what can be asked.

use super::database::{ANALYST, PROVIDER, behind};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// The Analyst, and each dataset that the caller may see.
pub async fn models(State(house): State<Arc<House>>, Identified(caller): Identified) -> Json<Value> {
    let mut names = vec![ANALYST.to_owned()];
    names.extend(house.datasets.iter().map(|dataset| dataset.id.clone()).filter(|id| id != ANALYST));
    let mut data = Vec::new();
    for name in names {
        if behind(&house, &caller, &name).await.is_ok() {
            data.push(described(&format!("{PROVIDER}{name}")));
        }
    }
    Json(json!({ "object": "list", "data": data }))
}

pub async fn model(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpFault> {
    behind(&house, &caller, &id).await?;
    Ok(Json(described(&id)))
}

fn described(id: &str) -> Value {
    // When this server began to offer it; clients want some time there.
    static CREATED: LazyLock<i64> = LazyLock::new(|| jiff::Timestamp::now().as_second());
    json!({ "id": id, "object": "model", "created": *CREATED, "owned_by": "gatehouse" })
}
