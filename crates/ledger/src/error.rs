//! What can go wrong with the ledger, for whoever runs the server.

use domain::{Fault, Kind, RunId};
use rusqlite::ErrorCode;
use std::path::PathBuf;
use std::sync::Arc;

/// Clonable, because one failed commit answers every caller whose work was in it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    #[error("the disk that holds the ledger is full; hint: free some space, the ledger goes on by itself")]
    DiskFull,
    #[error("the ledger is read-only; hint: check the mode and the mount of its directory")]
    ReadOnly,
    #[error(
        "the file of the ledger cannot be opened; hint: check its path, owner and mode, and those of its directory"
    )]
    Inaccessible,
    #[error(
        "the disk that holds the ledger fails: {0}; hint: the system's log says why; once it is repaired, start again"
    )]
    DiskFails(String),
    #[error("the ledger is locked by another process; hint: see who else has it open, and try again")]
    Busy,
    #[error("the file is damaged or is no SQLite database; hint: restore the ledger from a backup")]
    Damaged,
    #[error("`{}` is a SQLite database, but not a ledger; hint: give the ledger a path of its own", .0.display())]
    NotALedger(PathBuf),
    #[error(
        "the ledger has version {found}, this program knows {known}; hint: use the newer gatehouse that wrote it, or restore a backup"
    )]
    Newer { found: i64, known: usize },
    #[error("cannot {action} `{}`: {cause}", path.display())]
    File { action: &'static str, path: PathBuf, cause: Arc<std::io::Error> },
    #[error("`{}` is no key of the house; hint: restore it from a backup, what was signed with it cannot be checked without", .0.display())]
    KeyUnreadable(PathBuf),
    #[error("others may read the key `{}`; hint: chmod 600, and consider the key known", .0.display())]
    KeyExposed(PathBuf),
    #[error(
        "`{name}` differs from the actor `{taken}` only by case or by spaces at the ends; hint: use `{taken}`, or another name"
    )]
    NameTaken { name: String, taken: String },
    #[error("the actor `{0}` would begin like one from elsewhere; hint: leave out the part before the colon")]
    NameReserved(String),
    #[error("run `{0}` is already on record")]
    AlreadyRecorded(RunId),
    #[error("column `{column}` of a record cannot be read: {cause}; hint: run `gatehouse audit verify`")]
    Unreadable { column: &'static str, cause: String },
    #[error("`{0}` is no cursor of a page of runs; hint: send `next` of the page before, or leave it out")]
    BadCursor(String),
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    #[error("cannot write a record as JSON: {0}")]
    Json(Arc<serde_json::Error>),
    #[error("the ledger has been closed")]
    Closed,
    #[error("the database gave no answer where there always is one; hint: run `gatehouse audit verify`")]
    NoAnswer,
    #[error(
        "the address of the ledger's database cannot be used: {0}; hint: write it as postgres://user:password@host:5432/database"
    )]
    BadAddress(String),
    #[error("`{}` holds no certificates that can be used: {cause}; hint: `ledger.ca_file` is a PEM file", path.display())]
    BadAuthority { path: PathBuf, cause: String },
    #[error(
        "the ledger's database is away: {0}; hint: see whether it runs and can be reached; the server goes on by itself"
    )]
    Unreachable(String),
    #[error("the ledger's database turns us away: {0}; hint: check user, password, database and rights")]
    TurnedAway(String),
    #[error(
        "schema `{0}` has tables of the ledger's names that are another's; hint: give the ledger a database of its own"
    )]
    Occupied(String),
    #[error(
        "there is no ledger in {0}; hint: `ledger.url` is another one than the server's, or none has been started yet"
    )]
    NoLedger(String),
    #[error(
        "heads of this ledger are signed with another key; hint: copy `keys/audit.ed25519` from the server that made the ledger"
    )]
    OtherKey,
    #[error("the ledger failed: {0}")]
    Postgres(String),
    #[error("the ledger failed: {0}")]
    Sqlite(#[source] Arc<rusqlite::Error>),
}

impl LedgerError {
    /// Whether the connection is gone, and another may serve.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }

    /// What could not be done with a file.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |cause| Self::File { action, path, cause: Arc::new(cause) }
    }
}

impl From<rusqlite::Error> for LedgerError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::SystemIoFailure) => Self::DiskFails(error.to_string()),
            Some(ErrorCode::CannotOpen) => Self::Inaccessible,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            _ => Self::Sqlite(Arc::new(error)),
        }
    }
}

/// What the database says is for the log: it may quote values.
impl From<tokio_postgres::Error> for LedgerError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            return Self::Unreachable(format!("{error}{cause}"));
        };
        let told = db.message().to_owned();
        match db.code().code() {
            "53100" => Self::DiskFull,
            "55P03" | "57014" => Self::Busy,
            // A primary that has become a standby, a plan that a newer server's migration has made stale, a crowd: all
            // of them are over on another connection.
            "25006" | "0A000" | "25P03" | "53300" => Self::Unreachable(told),
            code if code.starts_with("08") || code.starts_with("57P") => Self::Unreachable(told),
            code if code.starts_with("28") || code == "3D000" || code == "42501" => Self::TurnedAway(told),
            code => Self::Postgres(format!("{told} ({code})")),
        }
    }
}

impl From<serde_json::Error> for LedgerError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(Arc::new(error))
    }
}

impl From<getrandom::Error> for LedgerError {
    fn from(error: getrandom::Error) -> Self {
        Self::Random(error)
    }
}

/// What a caller is told: the cause is in the log, where the ledger wrote it.
impl From<LedgerError> for Fault {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::BadCursor(text) => {
                Fault::new(Kind::Invalid, "runs.cursor_invalid", format!("`{text}` is no cursor of a page of runs"))
                    .hint("send `next` of the page before, or leave it out")
            }
            LedgerError::NameTaken { name, taken } => {
                let message =
                    format!("`{name}` differs from the actor `{taken}` only by case or by spaces at the ends");
                Fault::new(Kind::Conflict, "token.name_taken", message).hint(format!("use `{taken}`, or another name"))
            }
            LedgerError::NameReserved(name) => {
                let message = format!("the actor `{name}` would begin like one from elsewhere");
                Fault::new(Kind::Invalid, "token.name", message).hint("leave out the part before the colon")
            }
            _ => Fault::new(Kind::Unavailable, "ledger.unavailable", "the record cannot be written or read now"),
        }
    }
}
