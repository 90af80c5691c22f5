//! ChangePlan → a QueryPlan to read, or the statements of one write.
//!
//! Accept-only: a plan is taken as it is or refused whole, with one code. What a step may do follows from the
//! contract of its resource and the caller's role; nothing is repaired, and nothing is guessed.

mod compile;
mod insert;
mod parse;
mod read;
mod references;
mod rules;
mod service;
mod trace;
mod update;
mod values;

pub use service::service;

pub use parse::{change_plan_json_schema, parse_change, parse_change_value};
pub use trace::{Trace, Unmade};

use crate::access::{Deleted, Reader};
use crate::approved::Change;
use crate::sql::walk::Used;
use domain::change::Step;
use domain::{ChangePlan, Fault, Kind, Limits, QueryPlan};
use rules::Rules;

/// What a plan comes to.
pub enum Checked {
    /// It reads: from here on it is a plan like any other. At most so many rows, and of those that are marked as deleted
    /// none, unless it asks about the mark.
    Read {
        plan: Box<QueryPlan>,
        rows: u64,
        deleted: Deleted,
    },
    Write(Box<Change>, Used),
}

/// Validates a plan for this caller and compiles it.
pub fn check(reader: Reader<'_>, plan: &ChangePlan, limits: &Limits) -> Result<Checked, Fault> {
    let Some(step) = plan.step() else {
        let message = format!("the plan has {} steps", plan.steps.len());
        return Err(invalid("change.steps", message, "send exactly one step; each write is a request of its own"));
    };
    let rules = Rules::of(reader, step.resource())?;
    rules.require(step.op())?;
    match step {
        Step::Read(step) => {
            let plan = Box::new(read::plan(&rules, step)?);
            Ok(Checked::Read { plan, rows: step.limit, deleted: read::asks_of_deleted(&rules, step) })
        }
        Step::Insert(step) => insert::change(&rules, step, limits).map(|(c, used)| Checked::Write(Box::new(c), used)),
        Step::Update(step) => update::change(&rules, step, limits).map(|(c, used)| Checked::Write(Box::new(c), used)),
    }
}

/// A plan that nobody may run (400).
fn invalid(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::Invalid, code, message).hint(hint)
}

/// A plan that this caller may not run (403).
fn forbidden(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::Forbidden, code, message).hint(hint)
}
