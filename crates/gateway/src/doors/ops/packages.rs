//! `GET /api/v1/ai/packages/{id}`: where a script is, and what came of it.

use super::masks::{Values, hidden};
use super::proposals::{find, may_see, values_of};
use super::{PEOPLE, allow, unknown};
use crate::House;
use crate::aside::aside;
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
    let mut package = package.ok_or_else(|| unknown("package", &id))?;
    if !may_see(&caller)
        && let Some(values) = values_of(&house, &find(&house, &package.proposal_id).await?).await?
    {
        package = aside(move || covered(package, &values)).await?;
    }
    Ok(Json(package))
}

/// A script knows what its placeholders stand for, and may say it: also what no pattern would find, such as a bare name.
fn covered(package: KeptPackage, values: &Values) -> KeptPackage {
    let [log, undone_log] = [&package.log, &package.undone_log].map(|text| hidden(values, text));
    KeptPackage { log, undone_log, ..package }
}
