//! `POST /api/query {sql, limit?}`: one statement under the SQL policy, for questions that need no fetch.

use super::fetch::{self, Refusal};
use super::{body, negotiate};
use crate::House;
use crate::http::StrictJson;
use crate::http::identify::Identified;
use crate::streamed::Wanted;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::{Caller, Proposal, Purpose};
use engines::Form;
use policy::{Contract, Policy, ResourceContract};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRequest {
    sql: String,
    /// Rows to give; a longer result is cut and marked as truncated.
    limit: Option<u64>,
}

pub async fn query(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    headers: HeaderMap,
    StrictJson(QueryRequest { sql, limit }): StrictJson<QueryRequest>,
) -> Result<Response, Refusal> {
    let form = negotiate::form(&headers, Form::Json)?;
    let proposal = placed(&house, &caller, sql).await?;
    let wanted = Wanted { form, rows: limit.unwrap_or(u64::MAX) };
    Ok(body::respond(fetch::stream(&house, &caller, proposal, Purpose::Answer, wanted).await?, form))
}

/// The statement names tables, not a source: it is for the first one that has them all. It is checked again there, on the
/// path; one that fits nowhere goes where it came closest, to be refused on record.
pub(super) async fn placed(house: &House, caller: &Caller, text: String) -> Result<Proposal, Refusal> {
    let over = |source: &str| Proposal::Sql { source: source.to_owned(), text: text.clone() };
    let (mut closest, mut absent) = (None, None);
    for dataset in house.datasets.iter() {
        // A source that is not there at the moment holds up nobody who does not need it.
        let Ok(schema) = house.schema(dataset).await else {
            absent = absent.or(may_know(&house.policy(), caller, &dataset.id).then(|| over(&dataset.id)));
            continue;
        };
        if house.dataset(caller, &dataset.id).await.is_err() {
            continue;
        }
        let proposal = over(&dataset.id);
        match house.policy().check(caller, &schema, &proposal, &house.config.scan.limits) {
            Ok(_) => return Ok(proposal),
            Err(fault) if fault.code != "sql.unknown_table" => closest = Some((proposal, true)),
            Err(_) => closest = closest.or(Some((proposal, false))),
        }
    }
    // Who may read nothing is refused on record as well, without being told the name of anything.
    Ok(match (closest, absent) {
        (Some((proposal, true)), _) => proposal,
        // Its tables may be where we could not look: whatever is wrong there is what they are told.
        (_, Some(proposal)) => proposal,
        (Some((proposal, false)), None) => proposal,
        (None, None) => over(""),
    })
}

/// Whether some contract shows this caller something of a source, which may just not be there at the moment.
fn may_know(policy: &Policy, caller: &Caller, source: &str) -> bool {
    let shows =
        |contract: &Contract| ResourceContract::of(contract, contract.role_of(&caller.actor, &caller.role)).is_some();
    caller.is_admin() || policy.contracts().any(|contract| contract.source == source && shows(contract))
}
