//! The words of the house.
//!
//! Every room speaks in these types and in nothing else: who asks ([`Caller`]), what they want
//! ([`Ask`]), what somebody untrusted proposes ([`Proposal`]), what came of it ([`Outcome`]) and
//! what is remembered of it ([`Run`]). Nothing here does I/O, knows HTTP or is asynchronous.

mod actor;
mod ask;
mod caller;
pub mod change;
mod fault;
mod holders;
mod ids;
mod limits;
pub mod logged;
mod outcome;
pub mod package;
pub mod plan;
mod proposal;
mod run;
mod scan;
mod schema;
mod script;
mod shape;
mod value;

pub use actor::{Actor, Names, Origin, fold};
pub use ask::{Ask, Door, Purpose, Turn, Wish};
pub use caller::Caller;
pub use change::{ChangePlan, FilterOperator, Op};
pub use fault::{Fault, Kind, Span};
pub use holders::{Holder, Holders};
pub use ids::{RequestId, RunId, SessionId, ThreadId};
pub use limits::Limits;
pub use outcome::{Changed, Clarification, Outcome, ResultColumn, Rows};
pub use plan::QueryPlan;
pub use proposal::{Proposal, QueryMode};
pub use run::{ContractUse, ModelUse, Run, Status, Timings};
pub use scan::{Flavour, Scan};
pub use schema::{Column, Dialect, FieldType, ForeignKey, SourceSchema, Table};
pub use script::{Interpreter, Manifest, Network, Resources, Risk, ScriptProposal, Timeout};
pub use shape::Shape;
pub use value::Value;

/// SHA-256 in lowercase hex: the one hash of the house (proposals, policies, data versions, audit).
pub fn sha256_hex(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(bytes))
}
