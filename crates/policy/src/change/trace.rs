//! Where a change has left its trace, if it was made: asked when nobody saw its end.

use super::rules::{Known, Rules};
use super::values;
use crate::access::Reader;
use crate::policy::Policy;
use domain::change::{InsertStep, Step, UpdateStep};
use domain::plan::{Condition, Expr, Operand, Operator, SelectItem, Test};
use domain::{Caller, FieldType, QueryPlan, SourceSchema, Value};
use serde_json::Value as Json;

/// What its source is asked about a change.
#[derive(Debug)]
pub struct Trace {
    /// Gives the row, with all that its writer may read of it, if it is as the change would have left it.
    pub plan: QueryPlan,
    /// Whether such a row tells that the change was made. Otherwise only its absence tells something: that it was not.
    pub telling: bool,
}

impl Policy {
    /// None where the change could not be made today, or nothing can be compared.
    pub fn trace(&self, caller: &Caller, source: &SourceSchema, step: &Step) -> Option<Trace> {
        let reader = Reader { policy: self, caller, source, deleted: true };
        let rules = Rules::of(reader, step.resource()).ok()?;
        let (tests, telling) = match step {
            Step::Read(_) => return None,
            Step::Insert(step) => (inserted(&rules, step)?, !rules.contract.natural_key.is_empty()),
            Step::Update(step) => (updated(&rules, step)?, true),
        };
        let mut plan = QueryPlan::over(&rules.contract.resource);
        let fields = rules.readable.fields.iter();
        plan.select =
            fields.map(|f| SelectItem { expr: Expr::field(f.name), alias: Some(f.name.to_owned()) }).collect();
        plan.filter = Some(Condition::And(tests));
        plan.limit = Some(1);
        Some(Trace { plan, telling })
    }
}

fn inserted(rules: &Rules<'_>, step: &InsertStep) -> Option<Vec<Condition>> {
    let tests: Vec<Option<Condition>> =
        step.values.iter().map(|(name, value)| holds(&rules.field(name).ok()?, value)).collect::<Option<_>>()?;
    let tests: Vec<Condition> = tests.into_iter().flatten().collect();
    (!tests.is_empty()).then_some(tests)
}

/// The row of the key, with the new values. One that still has the version that the change was meant for was not changed.
fn updated(rules: &Rules<'_>, step: &UpdateStep) -> Option<Vec<Condition>> {
    let mut tests = Vec::new();
    for predicate in &step.filter {
        let known = rules.field(&predicate.field).ok()?;
        let in_key = rules.contract.key.iter().any(|name| name.eq_ignore_ascii_case(&known.field.name));
        let test = holds(&known, &predicate.value)??;
        tests.push(if in_key { test } else { Condition::Not(Box::new(test)) });
    }
    for (name, value) in &step.update {
        tests.extend(holds(&rules.field(name).ok()?, value)?);
    }
    Some(tests)
}

/// That a field holds a value, in the form in which it would be kept. JSON is not compared: it is written in many ways.
fn holds(known: &Known<'_>, value: &Json) -> Option<Option<Condition>> {
    if known.field.kind == FieldType::Json {
        return Some(None);
    }
    let left = Expr::field(&known.field.name);
    Some(Some(match values::take(known.field, value).ok()? {
        Value::Null => Condition::IsNull(left),
        value => Condition::Test(Test { left, op: Operator::Equal, right: Operand::Value(value) }),
    }))
}
