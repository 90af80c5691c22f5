//! The policy in force, and what it says to a role. Nothing runs here.

use super::{Admin, note};
use crate::House;
use crate::doors::chat::query::{QueryRequest, proposal};
use crate::http::error::error_json;
use crate::http::{HttpFault, StrictJson};
use ::policy::Approved;
use axum::Json;
use axum::extract::State;
use domain::{Caller, Fault};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// `GET /policy`: contracts, the roles that they name, and files that are not in force.
pub async fn show(State(house): State<Arc<House>>, Admin(_): Admin) -> Json<Value> {
    let policy = house.policy();
    let mut roles = BTreeSet::from([Caller::ADMIN]);
    for contract in policy.contracts() {
        roles.extend(contract.roles.keys().chain(contract.grants.values()).map(String::as_str));
    }
    let contracts: Vec<Value> = policy
        .contracts()
        .map(|c| {
            json!({
                "resource": c.resource, "version": c.version, "dataset_id": c.source,
                "public": c.public, "roles": c.roles.keys().collect::<Vec<_>>(),
            })
        })
        .collect();
    Json(json!({
        "policy_fingerprint": policy.fingerprint(), "roles": roles, "contracts": contracts,
        "problems": house.contracts.problems(),
    }))
}

/// `POST /policy/check`: who would ask what. Without an actor it is somebody whom no grant names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    dataset_id: String,
    role: String,
    actor: Option<String>,
    #[serde(default)]
    claims: BTreeMap<String, String>,
    plan: Option<Value>,
    sql: Option<String>,
}

/// What the policy would answer to that role, with the statement that would run or the rule that
/// says no.
pub async fn check(
    State(house): State<Arc<House>>,
    Admin(admin): Admin,
    StrictJson(request): StrictJson<CheckRequest>,
) -> Result<Json<Value>, HttpFault> {
    let CheckRequest { dataset_id, role, actor, claims, plan, sql } = request;
    let subject =
        Caller { actor: actor.unwrap_or_default(), role, claims, request_id: admin.request_id.clone(), end_user: None };
    let decision = decide(&house, &subject, dataset_id.clone(), QueryRequest { plan, sql }).await;
    let refused = decision.as_ref().err().map(|fault| fault.code.as_str());
    let tried = json!({ "role": subject.role, "dataset": dataset_id, "refused": refused });
    note(&house, &admin, "policy.tested", tried).await?;
    Ok(Json(shown(&house, &subject, &dataset_id, decision)))
}

async fn decide(house: &House, subject: &Caller, id: String, request: QueryRequest) -> Result<Approved, Fault> {
    let (dataset, _) = house.dataset(subject, &id).await?;
    let schema = house.schema(dataset).await?;
    house.policy().check(subject, &schema, &proposal(id, request)?, &house.config.limits)
}

fn shown(house: &House, subject: &Caller, dataset_id: &str, decision: Result<Approved, Fault>) -> Value {
    let approved = decision.as_ref().ok();
    json!({
        "allowed": approved.is_some(),
        "dataset_id": dataset_id,
        "role": subject.role,
        "compiled_sql": approved.map(Approved::sql),
        "params": approved.map(Approved::params).unwrap_or_default(),
        "contracts": approved.map(Approved::contracts).unwrap_or_default(),
        "filtered_by": approved.map(Approved::filtered_by).unwrap_or_default(),
        "policy_fingerprint": house.policy().fingerprint(),
        "error": decision.as_ref().err().map(error_json),
    })
}
