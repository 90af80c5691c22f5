//! Scripts for devices: what may be proposed, approved and run.
//!
//! [`ScriptPolicy::review`] reads a proposal to its ends and reports every violation, the risk and its reasons;
//! [`ScriptPolicy::check`] gives the sealed [`ApprovedScript`], which is all that a device runs; [`ScriptPolicy::open`]
//! is the same check on the device's side, of a signed package.
//!
//! ```text
//! text ─► limits ─► brush (authority) ─► commands ─► table of commands ─► paths, options, redirections, environment
//!                └► tree-sitter (cross-check): must see the same commands
//! ```
//!
//! Only what is known to be harmless or bounded passes: an allow-list of commands with what their arguments mean
//! (`commands.txt`), of paths to read, and the manifest's paths to write. A shell can hide code in strings that no parser
//! looks into; the jail is the boundary, this is what keeps people from being asked to approve nonsense.

mod addresses;
mod approved;
mod arguments;
mod awk;
mod commands;
mod crosscheck;
mod environment;
mod fetch;
mod find;
mod keys;
mod manifest;
mod open;
mod options;
mod parse;
mod paths;
mod programs;
mod refuse;
mod review;
mod risk;
mod settings;
mod sh;
mod variables;
mod walk;
mod words;
mod wrappers;

pub use approved::ApprovedScript;
pub use keys::TrustedKeys;
pub use open::Opening;
pub use paths::is_denied_by;
pub use review::{Grants, Report, ScriptPolicy};
pub use risk::Reason;
pub use settings::ScriptSettings;
