//! `POST /datasets/{id}/query`: a plan or SQL of the caller's own. No planner, the same path.

use super::ask::respond;
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, StrictJson};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use domain::{Ask, Caller, Door, Fault, Kind, Proposal, Purpose, SessionId, Wish};
use ledger::AuditEvent;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRequest {
    pub(crate) plan: Option<serde_json::Value>,
    pub(crate) sql: Option<String>,
}

/// Answers in the shape of `/chat`, with the status that the outcome's meaning has.
pub async fn query(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    StrictJson(request): StrictJson<QueryRequest>,
) -> Result<Response, HttpFault> {
    let seen = house.dataset(&caller, &id).await.map(drop);
    let proposal = match seen.and_then(|()| proposal(id, request)) {
        Ok(proposal) => proposal,
        Err(fault) => return Err(refuse(&house, &caller, fault).await.into()),
    };
    let reply = house.start(caller.clone(), ask(proposal)).reply().await?;
    let mut response = respond(&reply.run);
    if let Some(fault) = &reply.run.error_json {
        *response.status_mut() =
            StatusCode::from_u16(fault.kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    }
    Ok(response)
}

pub(crate) fn proposal(source: String, request: QueryRequest) -> Result<Proposal, Fault> {
    match (request.plan, request.sql) {
        (Some(plan), None) => Ok(Proposal::Query { source, plan: Box::new(policy::parse_plan_value(&plan)?) }),
        (None, Some(text)) => Ok(Proposal::Sql { source, text }),
        _ => Err(Fault::new(Kind::Invalid, "query.one_of", "send either `plan` or `sql`")),
    }
}

/// What does not come as far as a run (an unknown dataset, a plan that cannot be read) is on record
/// all the same.
pub async fn refuse(house: &House, caller: &Caller, fault: Fault) -> Fault {
    let detail = serde_json::json!({ "code": fault.code });
    let event = AuditEvent::new("proposal.refused").by(caller).through(Door::Chat).detail(detail);
    match house.ledger.append(event).await {
        Ok(_) => fault,
        Err(error) => Fault::from(error),
    }
}

/// A proposal of the caller's own, as the path takes it.
pub fn ask(proposal: Proposal) -> Ask {
    Ask {
        door: Door::Chat,
        purpose: Purpose::Answer,
        source: proposal.source().to_owned(),
        wish: Wish::Proposal(proposal),
        session: SessionId::new(),
        thread: None,
    }
}
