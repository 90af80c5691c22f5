//! What goes wrong, in one table.
//!
//! A [`Fault`] is what a person or a program is told: its [`Kind`] decides HTTP status, exit code
//! and whether a model could fix it by asking differently; its `code` names the exact rule; its
//! message says what failed with the offending input in backticks; its hint says what to do.
//! Internals (paths, engine stacks, SQL of ours) belong in the log, never in a fault.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The request is malformed: bad JSON, unknown key, wrong type, unknown field.
    Invalid,
    /// The statement asks for something that SQL policy does not allow to anyone.
    SqlPolicy,
    /// The planner could not read the question, or the data has no answer to it.
    NotUnderstood,
    Unauthenticated,
    Forbidden,
    NotFound,
    Conflict,
    TooLarge,
    RateLimited,
    Timeout,
    ResourceExceeded,
    /// The engine accepted the statement and failed on the data (a bad cast, a division).
    Execution,
    Unavailable,
    SandboxUnavailable,
    Internal,
}

/// One row of the table: everything that follows from a kind.
struct Row {
    http: u16,
    exit: u8,
    model_can_fix: bool,
    chat_type: &'static str,
    hint: &'static str,
}

impl Kind {
    pub const ALL: [Self; 15] = [
        Self::Invalid,
        Self::SqlPolicy,
        Self::NotUnderstood,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::TooLarge,
        Self::RateLimited,
        Self::Timeout,
        Self::ResourceExceeded,
        Self::Execution,
        Self::Unavailable,
        Self::SandboxUnavailable,
        Self::Internal,
    ];

    #[rustfmt::skip]
    fn row(self) -> Row {
        let row = |http, exit, model_can_fix, chat_type, hint| Row { http, exit, model_can_fix, chat_type, hint };
        const VALIDATION: &str = "VALIDATION_ERROR";
        const POLICY: &str = "SQL_POLICY_VIOLATION";
        const RUNNER: &str = "RUNNER_INTERNAL_ERROR";
        match self {
            Self::Invalid            => row(400, 2, true,  VALIDATION, "correct the request and send it again"),
            Self::SqlPolicy          => row(400, 2, true,  POLICY,     "write one read-only query over the tables of the schema"),
            Self::NotUnderstood      => row(400, 2, true,  VALIDATION, "ask with the names of tables and columns"),
            Self::Unauthenticated    => row(401, 3, false, VALIDATION, "send a valid token as `Authorization: Bearer …`"),
            Self::Forbidden          => row(403, 4, true,  VALIDATION, "ask whoever keeps the contracts for access"),
            Self::NotFound           => row(404, 5, true,  VALIDATION, "list what exists and use one of those names"),
            Self::Conflict           => row(409, 6, false, VALIDATION, "read the current state and try again"),
            Self::TooLarge           => row(413, 2, true,  VALIDATION, "send less"),
            Self::RateLimited        => row(429, 7, false, VALIDATION, "wait as long as `retry-after` says"),
            Self::Timeout            => row(504, 8, true,  "RUNNER_TIMEOUT", "ask for less: fewer rows, a narrower period, fewer joins"),
            Self::ResourceExceeded   => row(400, 8, true,  "RUNNER_RESOURCE_EXCEEDED", "ask for less: aggregate, filter or select fewer columns"),
            Self::Execution          => row(400, 2, true,  VALIDATION, "correct the expression that failed"),
            Self::Unavailable        => row(503, 9, false, RUNNER,     "try again shortly"),
            Self::SandboxUnavailable => row(503, 9, false, RUNNER,     "run `gatehouse doctor`: it says what the sandbox lacks"),
            Self::Internal           => row(500, 1, false, RUNNER,     "report the request id to whoever runs this server"),
        }
    }

    pub fn http_status(self) -> u16 {
        self.row().http
    }
    pub fn exit_code(self) -> u8 {
        self.row().exit
    }
    /// Whether asking differently could help, as opposed to a fault of ours.
    pub fn model_can_fix(self) -> bool {
        self.row().model_can_fix
    }
    /// The five types of spec 001 §7.
    pub fn chat_type(self) -> &'static str {
        self.row().chat_type
    }
    pub fn default_hint(self) -> &'static str {
        self.row().hint
    }
}

/// A refusal or a failure, as it is told and as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: Kind,
    /// The exact rule or cause, stable for machines: `sql.function_not_allowed`.
    pub code: String,
    /// Lowercase; what failed, the offending input in backticks.
    pub message: String,
    pub hint: String,
    /// Where in the text that was sent, if it was text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The offending parts by name, for programs: `function` → `OBSCURE_FN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<BTreeMap<String, String>>>,
}

/// Line and column, both from 1, of the offending part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub line: u32,
    pub column: u32,
}

impl Fault {
    pub fn new(kind: Kind, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: code.into(),
            message: message.into(),
            hint: kind.default_hint().to_owned(),
            span: None,
            details: None,
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    #[must_use]
    pub fn at(mut self, line: u64, column: u64) -> Self {
        self.span = Some(Span { line: short(line), column: short(column) });
        self
    }

    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<String>) -> Self {
        self.details.get_or_insert_default().insert(name.to_owned(), value.into());
        self
    }

    /// The code of a change of which nobody knows whether it was made.
    pub const UNKNOWN_OUTCOME: &str = "change.unknown_outcome";

    /// Whether it leaves open what happened. Whoever keeps records has to come back to it.
    pub fn is_unknown_outcome(&self) -> bool {
        self.code == Self::UNKNOWN_OUTCOME
    }

    /// For what must not happen: the log has the cause, the caller has the request id.
    pub fn internal(code: impl Into<String>) -> Self {
        Self::new(Kind::Internal, code, "something failed on our side")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for Fault {}

/// No text that is read is so long.
fn short(place: u64) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
