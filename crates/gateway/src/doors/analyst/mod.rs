//! Analyst: an OpenAI-compatible chat over a database. Spec 000.
//!
//! Any OpenAI client can ask `claude-da/analyst`: [`request`] reads what it sends, [`conversation`] makes a question
//! with its history of it, [`session`] sends that down the path and tells the audit lines, [`answer`] is what comes
//! back in words, [`completions`] and [`stream`] say it as a completion or in chunks, [`envelope`] says what went wrong.

mod answer;
mod completions;
mod conversation;
mod database;
pub mod envelope;
mod models;
mod request;
mod session;
mod stream;

pub use completions::completions;
pub use database::examine;
pub use models::{model, models};

use crate::House;
use domain::{Caller, Fault};
use ledger::AuditEvent;

/// What does not come as far as a run is on record all the same.
async fn refuse(house: &House, caller: &Caller, fault: Fault) -> Fault {
    let detail = serde_json::json!({ "code": fault.code });
    let event = AuditEvent::new("question.refused").by(caller).through(domain::Door::Analyst).detail(detail);
    match house.ledger.append(event).await {
        Ok(_) => fault,
        Err(error) => Fault::from(error),
    }
}
