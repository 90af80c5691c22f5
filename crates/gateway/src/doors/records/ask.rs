//! `POST /agent/db`: an instruction in, rows out. `POST /agent/db/plan`: the same for who plans for themselves.

use super::{envelope, told};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, StrictJson};
use axum::extract::State;
use axum::response::Response;
use domain::{Ask, Caller, ChangePlan, Door, Fault, Kind, Proposal, Purpose, SessionId, Wish};
use ledger::AuditEvent;
use policy::{Contract, ResourceContract};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Instant;

/// Resources that a caller may guess at, and how long each guess may be.
const MAX_HINTS: usize = 10;
const MAX_HINT_CHARS: usize = 64;

/// AgentDbRequest of spec 002 §5.1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentDbRequest {
    natural_language: String,
    #[serde(default)]
    hints: Hints,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hints {
    #[serde(default)]
    resources: Vec<String>,
}

pub async fn instruct(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(request): StrictJson<AgentDbRequest>,
) -> Result<Response, HttpFault> {
    if let Err(fault) = check(&house, &request) {
        return Err(refuse(&house, &caller, fault).await.into());
    }
    let wish = Wish::Instruction { text: request.natural_language, hints: request.hints.resources };
    answer(&house, caller, String::new(), wish).await
}

pub async fn run_plan(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    StrictJson(plan): StrictJson<serde_json::Value>,
) -> Result<Response, HttpFault> {
    let proposal = policy::parse_change_value(&plan).and_then(|plan| propose(&house, &caller, plan));
    let proposal = match proposal {
        Ok(proposal) => proposal,
        Err(fault) => return Err(refuse(&house, &caller, fault).await.into()),
    };
    let source = proposal.source().to_owned();
    answer(&house, caller, source, Wish::Proposal(proposal)).await
}

/// The source of a plan is that of its resource's contract. Where there is none, policy says so in its own words.
fn propose(house: &House, caller: &Caller, plan: ChangePlan) -> Result<Proposal, Fault> {
    let resource = plan.steps.first().map(|step| step.resource()).unwrap_or_default();
    let policy = house.policy();
    // What a caller may not know of is not there, and neither is its source.
    let seen =
        |contract: &&Contract| ResourceContract::of(contract, contract.role_of(&caller.actor, &caller.role)).is_some();
    let contract = policy.contract(&resource.to_ascii_lowercase());
    let source =
        contract.filter(|contract| seen(contract) || caller.is_admin()).map(|contract| contract.source.clone());
    match source.filter(|source| house.datasets.source(source).is_some()) {
        Some(source) => Ok(Proposal::Change { source, plan: Box::new(plan) }),
        None => Err(policy.no_resource(caller, resource)),
    }
}

async fn answer(house: &Arc<House>, caller: Caller, source: String, wish: Wish) -> Result<Response, HttpFault> {
    let start = Instant::now();
    let ask =
        Ask { door: Door::Records, purpose: Purpose::Answer, source, wish, session: SessionId::new(), thread: None };
    let reply = house.start(caller, ask).reply().await?;
    let answer = envelope::Answer::of(house, &reply)?;
    told::tell(house, &reply, start.elapsed());
    house.metrics.records.answered(&reply, &answer, start.elapsed());
    Ok(answer.into_response())
}

fn check(house: &House, request: &AgentDbRequest) -> Result<(), Fault> {
    let invalid = |code: &str, message: String| Err(Fault::new(Kind::Invalid, code, message));
    let most = house.config.question_chars;
    if request.natural_language.trim().is_empty() {
        return invalid("records.empty", "`natural_language` is empty".to_owned());
    }
    if request.natural_language.chars().count() > most {
        return invalid("records.too_long", format!("`natural_language` is longer than {most} characters"));
    }
    let hints = &request.hints.resources;
    if hints.len() > MAX_HINTS || hints.iter().any(|hint| hint.chars().count() > MAX_HINT_CHARS) {
        let message = format!("`hints.resources` has at most {MAX_HINTS} names of {MAX_HINT_CHARS} characters");
        return invalid("records.hints", message);
    }
    Ok(())
}

/// What does not come as far as a run is on record all the same.
async fn refuse(house: &House, caller: &Caller, fault: Fault) -> Fault {
    let detail = serde_json::json!({ "code": fault.code });
    let event = AuditEvent::new("proposal.refused").by(caller).through(Door::Records).detail(detail);
    house.metrics.records.refused(&fault);
    match house.ledger.append(event).await {
        Ok(_) => fault,
        Err(error) => Fault::from(error),
    }
}
