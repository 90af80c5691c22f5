//! Keeping the registry: register, describe and unregister tables; forget what is kept of them, §3.6.

use crate::House;
use crate::doors::admin::{Admin, note};
use crate::http::{HttpFault, Path, StrictJson};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// `POST /api/admin/catalog/invalidate`.
pub async fn invalidate(State(house): State<Arc<House>>, Admin(admin): Admin) -> Result<Json<Value>, HttpFault> {
    house.forget_schemas();
    let forgotten = house.shelf.clear() + house.results.clear();
    note(&house, &admin, "catalog.invalidated", json!({ "entries": forgotten })).await?;
    Ok(Json(json!({ "invalidated": forgotten })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    source: String,
    table: String,
}

/// `POST /api/admin/tables`: a safe contract for a table that has none.
pub async fn register(
    State(house): State<Arc<House>>,
    Admin(admin): Admin,
    StrictJson(Registration { source, table }): StrictJson<Registration>,
) -> Result<(StatusCode, Json<Value>), HttpFault> {
    let registered = house.register(&source, &table).await?;
    house.shelf.clear();
    note(&house, &admin, "table.registered", json!({ "table_id": registered.id, "source": source })).await?;
    let body = json!({ "table_id": registered.id, "source": source, "contract": registered.contract });
    Ok((StatusCode::CREATED, Json(body)))
}

/// `GET /api/admin/tables/{id}`: the contract as it is in force, and where it does not fit its source any more.
pub async fn describe(
    State(house): State<Arc<House>>,
    Admin(_): Admin,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpFault> {
    let policy = house.policy();
    let contract = policy.contract(&id).ok_or_else(|| {
        let shown: String = id.chars().take(64).collect();
        Fault::new(Kind::NotFound, "registry.unknown", format!("there is no table `{shown}`"))
            .hint("`POST /api/admin/tables` registers one")
    })?;
    let drift = match house.datasets.get(&contract.source) {
        Some(dataset) => {
            let schema = house.schema(dataset).await?;
            let drift = policy.drift(&schema).into_iter().filter(|drift| drift.resource == id);
            drift.map(|drift| drift.field.map_or(json!("table"), |field| json!(field))).collect()
        }
        None => vec![json!("source")],
    };
    Ok(Json(json!({ "table_id": id, "contract": contract, "missing": drift })))
}

/// `DELETE /api/admin/tables/{id}`.
pub async fn unregister(
    State(house): State<Arc<House>>,
    Admin(admin): Admin,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpFault> {
    house.unregister(&id).await?;
    house.shelf.clear();
    note(&house, &admin, "table.unregistered", json!({ "table_id": id })).await?;
    Ok(StatusCode::NO_CONTENT)
}
