//! What can go wrong between the wish for a sandbox and a worker in it.

use domain::{Fault, Kind};
use std::io;
use std::path::PathBuf;

/// This machine can't hold a worker. Nothing is started with less.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no sandbox on this machine: {}", missing.join("; "))]
pub struct Unavailable {
    pub missing: Vec<String>,
}

/// One worker could not be started. Names paths: for the log and for operators.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("`{}` can't be given to a worker: {reason}", path.display())]
    Missing { path: PathBuf, reason: io::Error },
    #[error(
        "user `{user}` can't read `{}`: {reason} (hint: `chmod o+rX` it{}, or run the server as a user who may)",
        path.display(),
        if *staged { "" } else { " and the directories above it" }
    )]
    Unreadable {
        path: PathBuf,
        user: String,
        reason: String,
        /// Whether the directories above it did not matter.
        staged: bool,
    },
    /// One of our own stages gave up.
    #[error("the sandbox could not be set up: {step}: {reason}")]
    Setup { step: String, reason: String },
    /// It ended before it said that it is locked down; `stderr` is what bubblewrap or the loader said.
    #[error("the worker ended before it was locked down ({status}): {stderr}")]
    NoHandshake { status: String, stderr: String },
    #[error("the worker was not locked down within {seconds} s")]
    Slow { seconds: u64 },
    #[error("no process for the worker: {0}")]
    Process(#[from] io::Error),
}

impl SpawnError {
    pub(crate) fn setup(step: &str, reason: impl ToString) -> Self {
        Self::Setup { step: step.to_owned(), reason: reason.to_string() }
    }
}

impl From<Unavailable> for Fault {
    fn from(why: Unavailable) -> Self {
        Self::new(Kind::SandboxUnavailable, "SANDBOX_UNAVAILABLE", why.to_string())
    }
}

impl From<&SpawnError> for Fault {
    /// What a caller is told. Paths and messages of the machine stay in the log.
    fn from(error: &SpawnError) -> Self {
        let (kind, code, message) = match error {
            SpawnError::Missing { .. } => {
                (Kind::Unavailable, "sandbox.source_missing", "a file of this source is gone")
            }
            SpawnError::Unreadable { .. } => (
                Kind::Unavailable,
                "sandbox.source_unreadable",
                "a file of this source is closed to the sandbox's user",
            ),
            SpawnError::Slow { .. } | SpawnError::Process(_) => {
                (Kind::Unavailable, "sandbox.busy", "no worker could be started in time")
            }
            SpawnError::Setup { .. } | SpawnError::NoHandshake { .. } => {
                (Kind::SandboxUnavailable, "SANDBOX_UNAVAILABLE", "a worker could not be locked down")
            }
        };
        Self::new(kind, code, message)
    }
}
