//! Why a command failed: one line for people, a hint, and an exit code to branch on (spec 004 §10.2).

use serde_json::{Value, json};
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// What scripts and agents branch on. `--help` prints the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing that was foreseen.
    Unexpected = 1,
    /// Bad arguments, predicate or SQL; an unknown column or table.
    Invalid = 2,
    Quota = 3,
    DiskFull = 4,
    /// The server failed (5xx).
    Server = 5,
    /// A snapshot of that name is there already.
    Exists = 6,
    Auth = 7,
    /// The table is not for this role.
    Denied = 8,
    /// The server cannot be reached, or stopped talking.
    Network = 9,
}

#[derive(Debug)]
pub struct Problem {
    pub exit: Exit,
    /// Stable for machines: `snapshot_exists`, or what the server said.
    pub code: String,
    /// Lowercase; the offending input in backticks. More lines may follow the first (a marked place in SQL).
    pub message: String,
    pub hint: String,
    /// As the server gave it: its log has the rest.
    pub request_id: Option<String>,
}

pub type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    pub fn new(exit: Exit, code: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit, code: code.into(), message: message.into(), hint: hint.into(), request_id: None }
    }

    pub fn invalid(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Invalid, code, message, hint)
    }

    /// What must not happen.
    pub fn unexpected(what: &str, why: impl Display) -> Self {
        Self::new(Exit::Unexpected, "unexpected", format!("{what}: {why}"), "`da doctor` checks this installation")
    }

    /// A file that could not be read or written. A full disk has a code of its own.
    pub fn file(what: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::new(
                Exit::DiskFull,
                "disk_full",
                format!("{what}: the disk is full"),
                "`da disk-info` says what is used, `da snapshot prune --auto` makes room",
            ),
            _ => Self::unexpected(what, error),
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit as u8)
    }

    /// To stderr: two lines for people, one object for programs.
    pub fn tell(&self, as_json: bool) {
        if as_json {
            eprintln!("{}", self.json());
        } else {
            eprintln!("Error: {}\nHint: {}", self.message, self.hint);
        }
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "error": self.code,
            "message": self.message,
            "hint": self.hint,
            "exit_code": self.exit as u8,
        });
        if let (Some(id), Some(object)) = (&self.request_id, object.as_object_mut()) {
            object.insert("request_id".into(), json!(id));
        }
        object
    }
}
