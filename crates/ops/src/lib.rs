//! From what a device says about itself to a script that somebody may approve. Pure: no I/O, no HTTP.
//!
//! ```text
//! raw output of tools ─► read/ ─► Diagnostics ─► facts ─► rules (data/rules.yaml) ─► Finding
//!                                                            Finding ─► runbook (data/runbooks/) ─► ScriptProposal
//! ApprovedScript (policy) ─► Signer::seal ─► SignedPackage, for one device and a time
//! ```
//!
//! Texts are redacted before they come here (`policy::redact`), so every address and name is a plain string and may be a
//! placeholder. A model may give findings and proposals of the same shapes ([`model`]: what it is asked, and how its answers
//! are read); [`schemas`] publishes them.

mod diagnostics;
mod facts;
mod finding;
pub mod model;
mod package;
mod read;
mod rules;
mod runbook;
pub mod schemas;

pub use diagnostics::{
    Diagnostics, Disk, Dns, Interface, LogLine, Memory, Output, Ping, Route, Service, Socket, Submission,
};
pub use finding::{Finding, RunbookCall, Severity};
pub use package::{Order, Signer};
pub use rules::{Rule, RuleBase};
pub use runbook::{Library, Parameter, ParameterKind, Runbook, RunbookError};
