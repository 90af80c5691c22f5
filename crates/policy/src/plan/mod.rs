//! QueryPlan → SQL text over resource names, with values as parameters.
//!
//! What comes out is checked like anybody's SQL: the compiler only has to be right, not safe.
//! Same plan, same SQL: everything is emitted in the order of the plan.

mod bigquery;
mod compile;
mod condition;
mod dates;
mod expr;
mod group;
mod join;
mod params;
mod parse;
mod path;
mod postgres;
mod scope;
mod values;
mod window;

pub use dates::{instant, trunc};
pub use parse::{parse_plan, parse_plan_value, query_plan_json_schema};

use crate::access::Reader;
use domain::{Fault, Kind, QueryPlan, Value};

/// A plan in its engine's SQL.
pub struct Compiled {
    pub sql: String,
    pub params: Vec<Value>,
}

/// Validates a plan for this caller and writes it as SQL.
pub fn compile(reader: Reader<'_>, plan: &QueryPlan) -> Result<Compiled, Fault> {
    let mut compiler = compile::Compiler::new(reader);
    match compiler.plan(plan) {
        Ok(written) => Ok(Compiled { sql: written.sql, params: compiler.params.into_values() }),
        Err(fault) => Err(compiler.located(fault)),
    }
}

/// A plan that is well formed and still wrong.
fn invalid(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::Invalid, code, message).hint(hint)
}
