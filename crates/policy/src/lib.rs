//! Caller + contracts + Proposal → [`Approved`] or a refusal. Pure and synchronous.
//!
//! [`Policy`] is an immutable snapshot of all contracts. [`Policy::view`] says what a caller sees of
//! a source, [`Policy::check`] turns an untrusted `Proposal` into the only thing that engines run.
//! A QueryPlan is compiled to SQL and then walks through the same check as SQL text, so there is
//! one place where tables become their readable columns and rows.

mod access;
mod approved;
mod change;
mod check;
mod contract;
mod json;
mod names;
mod plan;
mod policy;
mod predicate;
pub mod redact;
mod scan;
pub mod script;
mod service;
mod sql;
mod suggest;
mod translate;
mod view;

pub use approved::{Approved, Change, Statement};
pub use change::{Trace, Unmade, change_plan_json_schema, parse_change, parse_change_value};
pub use contract::draft::{draft, resource_name};
pub use contract::error::ContractError;
pub use contract::rest::{Pages, Rest, UpdateMethod};
pub use contract::role::{ResourceContract, ResourceField, ResourceJoin, ResourceLimits, ResourceOn};
pub use contract::{
    Contract, Field, FilterOperator, JoinType, Op, QueryPath, RecordJoin, RecordLimits, Role, contract_json_schema,
};
pub use plan::{parse_plan, parse_plan_value, query_plan_json_schema};
pub use policy::{Drift, Policy};
pub use service::{Fetch, Member, Method, Send, Service};
pub use sql::personal::Author;
