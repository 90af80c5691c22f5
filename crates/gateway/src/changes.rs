//! Making a change, and finding out at a start what became of those that a killed server had begun.

use crate::House;
use crate::active::Watch;
use crate::path::{fail, milliseconds};
use crate::turns::Turn;
use domain::change::{InsertStep, Step, UpdateStep};
use domain::plan::{Condition, Expr, Operand, Operator, SelectItem, Test};
use domain::{
    Ask, Caller, Changed, Fault, FieldType, Kind, Proposal, Purpose, QueryPlan, Run, SessionId, Status, Value, Wish,
};
use engines::Written;
use ledger::{AuditEvent, Begun};
use policy::{Approved, Contract};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// What a source says of a change that nobody saw the end of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Made,
    NotMade,
    /// Nothing tells its row from others, or it cannot be asked.
    Unknown,
}

impl Found {
    fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::NotMade => "not_made",
            Self::Unknown => "unknown",
        }
    }
}

impl House {
    /// Notes the change, then makes it: the only line of the house that gives a change to an engine.
    pub(crate) async fn make_change(
        &self,
        caller: &Caller,
        approved: &Approved,
        watch: &Watch,
        run: &mut Run,
    ) -> Result<(Changed, Turn), Fault> {
        let dataset = self.datasets.get(approved.source()).ok_or_else(|| Fault::internal("change.source"))?;
        let sandbox = self.engines.sandbox();
        run.sandbox_tier = Some(sandbox.tier.to_string());
        run.unenforced.clone_from(&sandbox.unenforced);
        let turn = self.turns.wait(&run.actor).await?;
        watch.begin();
        self.ledger.begin_change(run, caller).await.map_err(|error| {
            tracing::error!(%error, run_id = %run.run_id, "a change cannot be noted, and is not made");
            Fault::from(error)
        })?;
        let start = Instant::now();
        let made = self.engines.change(&dataset.source, approved, turn).await;
        run.timings.run_ms = milliseconds(start);
        let (Written { changed, exec_ms, data_version }, turn) = made?;
        run.exec_time_ms = Some(exec_ms);
        run.dataset_version_hash = Some(data_version);
        Ok((changed, turn))
    }

    /// At start, before anything is served. How many changes were looked for.
    pub async fn reconcile_changes(self: &Arc<Self>) -> Result<usize, Fault> {
        let left = self.ledger.changes_left().await.map_err(Fault::from)?;
        let count = left.len();
        for begun in left {
            let found = self.look_for(&begun).await;
            let Begun { mut run, .. } = begun;
            tracing::warn!(run_id = %run.run_id, found = found.as_str(), "a change was interrupted");
            let message = match found {
                Found::Made => "the server was stopped after the change was made, and before it could say so",
                Found::NotMade => "the server was stopped before the change was made",
                Found::Unknown => {
                    "the server was stopped while the change was on its way; whether it was made is not known"
                }
            };
            let fault = Fault::new(Kind::Unavailable, "change.interrupted", message).detail("found", found.as_str());
            fail(&mut run, Status::Failed, fault);
            self.record(&run).await?;
            let detail = serde_json::json!({ "found": found.as_str() });
            let mut event =
                AuditEvent::new("change.reconciled").about(&run.actor, &run.role).through(run.door).detail(detail);
            event.run_id = Some(run.run_id);
            self.ledger.append(event).await.map_err(Fault::from)?;
        }
        Ok(count)
    }

    async fn look_for(self: &Arc<Self>, begun: &Begun) -> Found {
        let policy = self.policy();
        let plan = begun.run.plan_json.as_ref().and_then(|json| policy::parse_change_value(json).ok());
        let step = plan.as_ref().and_then(|plan| plan.step());
        let contract = step.and_then(|step| policy.contract(step.resource()));
        let Some((step, contract)) = step.zip(contract) else { return Found::Unknown };
        let Some(plan) = trace(contract, step) else { return Found::Unknown };
        let ask = Ask {
            door: begun.run.door,
            purpose: Purpose::Describe,
            source: contract.source.clone(),
            wish: Wish::Proposal(Proposal::Query { source: contract.source.clone(), plan: Box::new(plan) }),
            session: SessionId::new(),
            thread: None,
        };
        match self.start(begun.caller(), ask).reply().await {
            Ok(reply) => match reply.rows.as_ref().map(|rows| rows.row_count) {
                Some(0) => Found::NotMade,
                Some(_) => Found::Made,
                None => Found::Unknown,
            },
            Err(_) => Found::Unknown,
        }
    }
}

/// A plan that finds the row as the step would leave it.
fn trace(contract: &Contract, step: &Step) -> Option<QueryPlan> {
    let mut wanted: Vec<(&str, &Json)> = Vec::new();
    match step {
        Step::Insert(InsertStep { values, .. }) if !contract.natural_key.is_empty() => wanted.extend(pairs(values)),
        Step::Update(UpdateStep { filter, update, .. }) => {
            let key = filter.iter().filter(|p| contract.key.iter().any(|k| k.eq_ignore_ascii_case(&p.field)));
            wanted.extend(key.map(|p| (p.field.as_str(), &p.value)));
            wanted.extend(pairs(update));
        }
        _ => return None,
    }
    let mut tests = Vec::new();
    for (name, value) in wanted {
        let field = contract.field(name)?;
        // JSON is not compared: it is written in more than one way.
        if field.kind != FieldType::Json {
            tests.push(test(&field.name, value)?);
        }
    }
    let mut plan = QueryPlan::over(&contract.resource);
    plan.select = vec![SelectItem { expr: Expr::field(contract.key.first()?), alias: None }];
    plan.filter = Some(Condition::And(tests));
    plan.limit = Some(1);
    Some(plan)
}

fn pairs(values: &BTreeMap<String, Json>) -> impl Iterator<Item = (&str, &Json)> {
    values.iter().map(|(name, value)| (name.as_str(), value))
}

fn test(field: &str, value: &Json) -> Option<Condition> {
    let left = Expr::field(field);
    let right = match value {
        Json::Null => return Some(Condition::IsNull(left)),
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => number.as_i64().map(Value::Int).or_else(|| number.as_f64().map(Value::Float))?,
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(_) | Json::Object(_) => return None,
    };
    Some(Condition::Test(Test { left, op: Operator::Equal, right: Operand::Value(right) }))
}
