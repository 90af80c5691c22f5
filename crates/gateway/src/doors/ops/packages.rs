//! `GET /api/v1/ai/packages/{id}`: where a script is, and what came of it.

use super::{PEOPLE, allow, unknown};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path};
use axum::Json;
use axum::extract::State;
use domain::Fault;
use ledger::ops::KeptPackage;
use std::sync::Arc;

pub async fn show(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<KeptPackage>, HttpFault> {
    allow(&house, &caller, PEOPLE).await?;
    let package = house.ledger.package(&id).await.map_err(Fault::from)?;
    Ok(Json(package.ok_or_else(|| unknown("package", &id))?))
}
