//! What Postgres says, and what a caller is told of it.
//!
//! Its messages quote values, also of rows that the caller may not see: of what failed on the data only the kind is told.

use crate::fault::words::{NO_TARGET, OUTSIDE, RULE, UNIQUE};
use crate::fault::{busy, from_worker, out_of_memory, syntax, timeout};
use crate::protocol::{Cause, Failed};
use crate::worker::message::first_line;
use domain::logged::{code, phrases};
use domain::{Fault, Kind};
use std::error::Error as _;
use tokio_postgres::Error;
use tokio_postgres::error::DbError;

/// A statement that failed.
pub fn of(source: &str, error: &Error, seconds: u64) -> Fault {
    let Some(told) = error.as_db_error() else {
        tracing::warn!(source, %error, "connection to Postgres lost");
        return lost(source);
    };
    let state = told.code().code();
    tracing::debug!(source, state, "Postgres refused a statement");
    match state {
        "57014" => timeout(seconds),
        "53200" => out_of_memory(),
        "53300" => busy(),
        "42P01" | "3F000" => {
            changed(source, Kind::NotFound, "source.table_gone", "a table that it reads is not there any more")
        }
        "42703" => {
            changed(source, Kind::Conflict, "source.schema_changed", "a column that it reads is not there any more")
        }
        "42601" => syntax(&first_line(told.message())),
        "42501" => denied(source),
        "25006" => Fault::new(Kind::SqlPolicy, "engine.denied", "the statement writes, and nothing here may"),
        _ => by_class(source, state, told),
    }
}

/// A statement of a change that failed. The database's own words name tables, constraints and values, and stay here.
pub fn changing(source: &str, error: &Error, seconds: u64) -> Fault {
    let Some(told) = error.as_db_error() else { return of(source, error, seconds) };
    let state = told.code().code();
    let (cause, words) = match state {
        "23505" | "23P01" => (Cause::Unique, UNIQUE),
        "23503" => (Cause::Reference, NO_TARGET),
        "23502" => (Cause::Required, told.column().unwrap_or_default()),
        // The check of a row-level policy, as opposed to a right that the role lacks; then of a view.
        "42501" if told.routine() == Some("ExecWithCheckOptions") => (Cause::Outside, OUTSIDE),
        "44000" => (Cause::Outside, OUTSIDE),
        "42501" => return not_granted(source),
        "25006" => return crate::fault::read_only(source),
        // A trigger's own objection is a rule of the table too.
        _ if matches!(state.get(..2), Some("22" | "23" | "P0")) => (Cause::Check, RULE),
        // These have words of their own below.
        "42P01" | "42703" => return of(source, error, seconds),
        _ if matches!(state.get(..2), Some("42" | "0A")) => {
            // Triggers make their messages of what is written.
            let (said, routine) = (phrases(told.message(), &KNOWN), told.routine().map(code));
            tracing::warn!(source, state, said, routine, "Postgres did not understand a change");
            return not_understood(source);
        }
        _ => return of(source, error, seconds),
    };
    tracing::debug!(source, state, "Postgres refused a change");
    from_worker(&Failed::new(cause, words))
}

/// Phrases of Postgres that hold no value: of its messages about a change, the log has these and no more.
const KNOWN: [&str; 9] = [
    "syntax error",
    "does not exist",
    "is ambiguous",
    "operator",
    "function",
    "column",
    "relation",
    "of type",
    "not supported",
];

/// Whether a change lost against another, and may be tried again: nothing of it was made.
pub fn gave_way(error: &Error) -> bool {
    error.as_db_error().is_some_and(|told| matches!(told.code().code(), "40001" | "40P01"))
}

/// Whether an error at COMMIT says that nothing was made. Any other leaves it open.
pub fn undid(error: &Error) -> bool {
    error
        .as_db_error()
        .is_some_and(|told| matches!(told.code().code().get(..2), Some("22" | "23" | "40" | "44" | "P0")))
}

/// Its policies and triggers are statements too, and what is wrong with them is not the caller's to know.
fn not_understood(source: &str) -> Fault {
    let message =
        format!("the database of source `{source}` cannot make this change: its table, or a rule of it, is in the way");
    Fault::new(Kind::Invalid, "engine.statement", message).hint("whoever runs this server can see more in its log")
}

fn not_granted(source: &str) -> Fault {
    let message = format!("the database of source `{source}` does not let your role write this");
    Fault::new(Kind::Forbidden, "source.denied", message)
        .hint("ask whoever keeps that database to grant INSERT and UPDATE: docs/OPERATIONS.md has the SQL")
}

fn by_class(source: &str, state: &str, told: &DbError) -> Fault {
    match state.get(..2).unwrap_or_default() {
        "08" | "57" | "58" => lost(source),
        "21" => Fault::new(Kind::Execution, "engine.data", "a subquery used as a value gave more than one row"),
        "22" => Fault::new(Kind::Execution, "engine.data", on_data(state)),
        "40" => Fault::new(Kind::Unavailable, "engine.retry", "the database gave the statement up for another one"),
        "53" | "54" => {
            Fault::new(Kind::ResourceExceeded, "engine.resources", "the statement needed more than the database allows")
        }
        // About the statement itself: its names, types and syntax.
        "42" | "0A" => Fault::new(Kind::Invalid, "engine.statement", first_line(told.message())),
        _ => Fault::new(Kind::Execution, "engine.data", "the statement failed in the database"),
    }
}

fn on_data(state: &str) -> &'static str {
    match state {
        "22012" => "division by zero",
        "22003" => "a number is out of range",
        "22P02" | "22018" => "a value cannot be read as the type that it is cast to",
        "22007" | "22008" => "a value is no date or time",
        "2201B" => "a pattern is no regular expression",
        "2201E" | "2201F" => "a logarithm or a power of a number that has none",
        "22021" | "22P05" => "a text holds characters that cannot be encoded",
        _ => "the statement failed on the data",
    }
}

fn changed(source: &str, kind: Kind, code: &str, what: &str) -> Fault {
    let message = format!("source `{source}` has changed under the statement: {what}");
    Fault::new(kind, code, message).hint("read the catalog and the schema again, and ask by them")
}

fn denied(source: &str) -> Fault {
    Fault::new(
        Kind::Forbidden,
        "source.denied",
        format!("the database of source `{source}` does not let your role read this"),
    )
    .hint("ask whoever keeps that database to grant SELECT: docs/OPERATIONS.md has the SQL")
}

/// No connection could be made.
pub fn connecting(source: &str, error: &Error) -> Fault {
    let state = error.as_db_error().map(|told| told.code().code().to_owned());
    tracing::warn!(source, state, cause = ?error.source().map(ToString::to_string), "no connection to Postgres");
    let unavailable = |code: &str, what: &str| {
        Fault::new(Kind::Unavailable, code, format!("source `{source}` {what}"))
            .hint("whoever runs this server can see more in its log, and with `gatehouse doctor`")
    };
    match state.as_deref() {
        Some("28P01" | "28000") => unavailable("source.credentials", "does not accept Gatehouse's credentials"),
        Some("3D000") => unavailable("source.address", "has no database of the configured name"),
        Some("53300") => busy(),
        Some(_) => unavailable("source.lost", "does not take connections"),
        None if error.to_string().contains("TLS") => {
            unavailable("source.tls", "cannot be reached by a connection that is verified")
        }
        None => unreachable(source),
    }
}

pub fn unreachable(source: &str) -> Fault {
    Fault::new(Kind::Unavailable, "source.unreachable", format!("source `{source}` cannot be reached"))
        .hint("try again shortly; `gatehouse doctor` says more to whoever runs this server")
}

/// The transaction could not be told who asks.
pub fn introducing(source: &str, error: &Error, seconds: u64) -> Fault {
    match error.as_db_error().map(|told| told.code().code().to_owned()).as_deref() {
        Some("22023" | "42501" | "42704") => {
            let message = format!("the database of source `{source}` does not let Gatehouse take your role");
            Fault::new(Kind::Forbidden, "source.no_role", message)
                .hint("the source's `roles` must exist there, and be granted to the user that signs in")
        }
        _ => of(source, error, seconds),
    }
}

fn lost(source: &str) -> Fault {
    Fault::new(Kind::Unavailable, "source.lost", format!("the connection to source `{source}` was lost"))
}

/// Whether the connection is gone, as opposed to a statement having failed on it.
pub fn is_lost(error: &Error) -> bool {
    let by_io = || error.source().is_some_and(|cause| cause.is::<std::io::Error>());
    match error.as_db_error() {
        Some(told) => matches!(told.code().code().get(..2), Some("08" | "57")),
        None => error.is_closed() || by_io(),
    }
}
