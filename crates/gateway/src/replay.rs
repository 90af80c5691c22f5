//! What today's planner and policy make of a run that is on record. Nothing is executed.

use crate::House;
use crate::planning::Planned;
use domain::{Caller, Clarification, Fault, Proposal, QueryMode, Run, RunId, Status};
use serde::Serialize;
use std::sync::Arc;

/// A run then and now.
#[derive(Debug, Serialize)]
pub struct Replayed {
    pub run_id: RunId,
    pub door: &'static str,
    pub actor: String,
    pub role: String,
    pub question: Option<String>,
    pub then: Verdict,
    pub now: Verdict,
    pub difference: Difference,
}

/// What was, or would be, decided.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The statement that policy lets run (of a change all of them), and a hash of the plan that it came from.
    Allowed {
        statement: String,
        plan: Option<String>,
    },
    Refused {
        code: String,
    },
    Asked {
        question: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    None,
    /// What was refused, or asked about, would run.
    NowAllowed,
    NowRefused,
    /// It would still run, as another statement or with other values.
    Changed,
    /// Refused then and now, for another reason.
    OtherReason,
    /// Its rows depend on claims, which are not on record.
    Unknown,
}

impl Difference {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "same",
            Self::NowAllowed => "now allowed",
            Self::NowRefused => "now refused",
            Self::Changed => "changed",
            Self::OtherReason => "other reason",
            Self::Unknown => "unknown",
        }
    }
}

impl House {
    /// Walks router, planner and check again for whoever asked then.
    pub async fn replay(self: &Arc<Self>, id: RunId) -> Result<Replayed, Fault> {
        let run = self
            .ledger
            .run(id)
            .await
            .map_err(Fault::from)?
            .ok_or_else(|| Fault::new(domain::Kind::NotFound, "run.unknown", format!("there is no run `{id}`")))?;
        let caller = Caller::new(&run.actor, &run.role);
        let now = self.decide(&caller, &run).await;
        let (then, now) = (before(&run), now);
        Ok(Replayed {
            run_id: run.run_id,
            door: run.door.as_str(),
            difference: compare(&then, &now),
            actor: run.actor,
            role: run.role,
            question: run.question,
            then,
            now,
        })
    }

    async fn decide(self: &Arc<Self>, caller: &Caller, run: &Run) -> Verdict {
        let proposal = match self.propose_again(caller, run).await {
            Ok(Planned::Proposal { proposal, .. }) => proposal,
            Ok(Planned::Clarify(Clarification { question, .. })) => return Verdict::Asked { question },
            Err(fault) => return Verdict::Refused { code: fault.code },
        };
        match self.check_again(caller, run, &proposal).await {
            Ok(statement) => Verdict::Allowed { statement, plan: Some(proposal.hash()) },
            Err(fault) => Verdict::Refused { code: fault.code },
        }
    }

    /// The offline planner is asked again; what a model wrote, or a caller, is taken as it was.
    async fn propose_again(self: &Arc<Self>, caller: &Caller, run: &Run) -> Result<Planned, Fault> {
        match (&run.question, run.planner.as_deref(), run.query_mode) {
            (Some(text), Some("offline"), Some(QueryMode::Change) | None) if run.door == domain::Door::Records => {
                self.instruct_at(caller, text, &[], run.created_at).await?.planned
            }
            (Some(text), Some("offline"), _) => self.plan_question(caller, run.door, &run.dataset_id, text, &[]).await,
            _ => match recorded(run) {
                Some(proposal) => proposal.map(|proposal| Planned::Proposal { proposal, reading: None }),
                None => Err(Fault::internal("replay.no_proposal")),
            },
        }
    }

    /// The path's own check, on a copy of the run.
    async fn check_again(&self, caller: &Caller, run: &Run, proposal: &Proposal) -> Result<String, Fault> {
        let mut again = run.clone();
        self.check(caller, proposal, &mut again).await.map(|approved| approved.account().0)
    }
}

/// The proposal of a run as it is on record; none where it did not come so far.
pub(crate) fn recorded(run: &Run) -> Option<Result<Proposal, Fault>> {
    let source = run.dataset_id.clone();
    Some(match (&run.plan_json, &run.sql_text, run.query_mode) {
        (Some(plan), _, Some(QueryMode::Change)) => {
            policy::parse_change_value(plan).map(|plan| Proposal::Change { source, plan: Box::new(plan) })
        }
        (Some(scan), _, Some(QueryMode::Scan)) => serde_json::from_value(scan.clone())
            .map(|scan| Proposal::Scan { source, scan: Box::new(scan) })
            .map_err(|_| Fault::internal("run.scan")),
        (Some(script), _, Some(QueryMode::Script)) => serde_json::from_value(script.clone())
            .map(|script| Proposal::Script { device: source, script: Box::new(script) })
            .map_err(|_| Fault::internal("run.script")),
        (Some(plan), _, _) => {
            policy::parse_plan_value(plan).map(|plan| Proposal::Query { source, plan: Box::new(plan) })
        }
        (None, Some(text), _) => Ok(Proposal::Sql { source, text: text.clone() }),
        (None, None, _) => return None,
    })
}

fn before(run: &Run) -> Verdict {
    match (&run.compiled_sql, &run.error_json, &run.clarification) {
        (Some(statement), _, _) => Verdict::Allowed { statement: statement.clone(), plan: run.proposal_hash.clone() },
        (None, Some(fault), _) => Verdict::Refused { code: fault.code.clone() },
        (None, None, Some(asked)) => Verdict::Asked { question: asked.question.clone() },
        (None, None, None) => Verdict::Refused { code: Status::as_str(run.status).to_owned() },
    }
}

fn compare(then: &Verdict, now: &Verdict) -> Difference {
    match (then, now) {
        (_, Verdict::Refused { code }) if code == "policy.claim_missing" => Difference::Unknown,
        (then, now) if then == now => Difference::None,
        (Verdict::Allowed { .. }, Verdict::Allowed { .. }) => Difference::Changed,
        (Verdict::Allowed { .. }, _) => Difference::NowRefused,
        (_, Verdict::Allowed { .. }) => Difference::NowAllowed,
        _ => Difference::OtherReason,
    }
}
