//! Records: read, insert and update by natural language, under contracts. Spec 002.
//!
//! [`ask`] takes an instruction (`POST /agent/db`) or a plan of the caller's own (`POST /agent/db/plan`) and sends it down
//! the path; [`envelope`] is the one shape of every reply; [`told`] is the line of the log (§4.3); [`metrics`] what is
//! counted.

mod ask;
pub mod envelope;
pub mod metrics;
mod sources;
mod told;
mod typed;

pub use ask::{instruct, run_plan};
pub use sources::examine;
