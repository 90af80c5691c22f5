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
use domain::{Caller, Fault, Kind, Proposal, Purpose};
use engines::Form;
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
    let (mut closest, mut unreadable) = (None, None);
    for dataset in house.datasets.iter() {
        let Ok((dataset, _)) = house.dataset(caller, &dataset.id).await else { continue };
        let schema = match house.schema(dataset).await {
            Ok(schema) => schema,
            // A source that is not there at the moment holds up nobody who does not need it.
            Err(fault) => {
                unreadable = Some(fault);
                continue;
            }
        };
        let proposal = Proposal::Sql { source: dataset.id.clone(), text: text.clone() };
        match house.policy().check(caller, &schema, &proposal, &house.config.scan.limits) {
            Ok(_) => return Ok(proposal),
            Err(fault) if closest.is_none() || fault.code != "sql.unknown_table" => {
                closest = Some((proposal, fault.code == "sql.unknown_table"));
            }
            Err(_) => {}
        }
    }
    // Its tables may be where we could not look.
    if let (None | Some((_, true)), Some(fault)) = (&closest, unreadable) {
        return Err(fault.into());
    }
    closest.map(|(proposal, _)| proposal).ok_or_else(|| {
        let fault = Fault::new(Kind::Forbidden, "scan.table_not_accessible", "there is no table that you may read");
        fault.hint("ask whoever keeps the contracts for access").into()
    })
}
