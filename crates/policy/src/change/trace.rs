//! Where a change has left its trace, if it was made: asked when nobody saw its end.
//!
//! That its row is not there as it was written tells nothing: the source may have rounded it, and another change may have
//! come since.

use super::rules::{Known, Rules};
use super::{update, values};
use crate::access::{Deleted, Reader};
use crate::policy::Policy;
use domain::change::{InsertStep, Step, UpdateStep};
use domain::plan::{Condition, Expr, Operand, Operator, SelectItem, Test};
use domain::{Caller, FieldType, QueryPlan, SourceSchema, Value};
use serde_json::Value as Json;

/// What its source is asked about a change that has ended. Where neither tells anything, nobody knows.
#[derive(Debug, Default)]
pub struct Trace {
    /// Gives the row, with all that its writer may read of it, as the change has left it: it was made.
    pub made: Option<QueryPlan>,
    pub unmade: Option<Unmade>,
}

/// What tells that a change was not made.
#[derive(Debug)]
pub enum Unmade {
    /// That this gives a row: it still has the version that the change was meant for.
    Row(QueryPlan),
    /// That this gives none: nothing has the natural key.
    NoRow(QueryPlan),
}

impl Policy {
    /// Empty where the change could not be made today, or nothing can be compared.
    pub fn trace(&self, caller: &Caller, source: &SourceSchema, step: &Step) -> Trace {
        let reader = Reader { policy: self, caller, source, deleted: Deleted::ByRole };
        let Ok(rules) = Rules::of(reader, step.resource()) else { return Trace::default() };
        match step {
            Step::Read(_) => Trace::default(),
            Step::Insert(step) => inserted(&rules, step),
            Step::Update(step) => updated(&rules, step),
        }
    }
}

/// Without a natural key, nothing tells its row from others.
fn inserted(rules: &Rules<'_>, step: &InsertStep) -> Trace {
    if rules.contract.natural_key.is_empty() {
        return Trace::default();
    }
    let all = step.values.iter().map(|(name, value)| holds(rules, name, value)).collect::<Option<_>>();
    let natural = |name: &String| {
        let (given, value) = step.values.iter().find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        is_kept(rules.field(name).ok()?.field.kind).then(|| holds(rules, given, value))?
    };
    let natural = rules.contract.natural_key.iter().map(natural).collect::<Option<_>>();
    Trace { made: all.map(|tests| plan(rules, tests)), unmade: natural.map(|tests| Unmade::NoRow(plan(rules, tests))) }
}

fn updated(rules: &Rules<'_>, step: &UpdateStep) -> Trace {
    let (mut key, mut version) = (Vec::new(), None);
    for predicate in &step.filter {
        let Some(test) = holds(rules, &predicate.field, &predicate.value) else { return Trace::default() };
        match rules.contract.key.iter().any(|name| name.eq_ignore_ascii_case(&predicate.field)) {
            true => key.push(test),
            false => version = Some(test),
        }
    }
    let set = step.update.iter().map(|(name, value)| holds(rules, name, value)).collect::<Option<Vec<_>>>();
    let moved = version.clone().map(|test| Condition::Not(Box::new(test)));
    let made = set.map(|set| plan(rules, key.iter().cloned().chain(moved).chain(set).collect()));
    let version = version.filter(|_| update::moves_version(rules));
    let unmade = version.map(|test| Unmade::Row(plan(rules, key.into_iter().chain([test]).collect())));
    Trace { made, unmade }
}

fn plan(rules: &Rules<'_>, tests: Vec<Condition>) -> QueryPlan {
    let mut plan = QueryPlan::over(&rules.contract.resource);
    let fields = rules.readable.fields.iter();
    plan.select = fields.map(|f| SelectItem { expr: Expr::field(f.name), alias: Some(f.name.to_owned()) }).collect();
    plan.filter = Some(Condition::And(tests));
    plan.limit = Some(1);
    plan
}

/// Whether a source keeps such values as they are given.
fn is_kept(kind: FieldType) -> bool {
    matches!(
        kind,
        FieldType::String
            | FieldType::Text
            | FieldType::Uuid
            | FieldType::Integer
            | FieldType::Boolean
            | FieldType::Date
    )
}

/// That a field holds a value, in the form in which it would be kept. JSON is not compared: it is written in many ways.
fn holds(rules: &Rules<'_>, name: &str, value: &Json) -> Option<Condition> {
    let Known { field, .. } = rules.field(name).ok().filter(|known| known.field.kind != FieldType::Json)?;
    let left = Expr::field(&field.name);
    Some(match values::take(field, value).ok()? {
        Value::Null => Condition::IsNull(left),
        value => Condition::Test(Test { left, op: Operator::Equal, right: Operand::Value(value) }),
    })
}
