//! What a caller is told of an engine's error.

use crate::remote::is_broken;
use crate::worker::message::without_values;
use arrow_flight::error::FlightError;
use domain::logged::phrases;
use domain::{Fault, Kind};
use tonic::{Code, Status};

/// An error of the protocol or of the engine behind it.
///
/// Engines say in words what went wrong, and in few codes: what is known of their words decides.
pub fn from_flight(source: &str, error: FlightError) -> Fault {
    match error {
        FlightError::Tonic(status) => from_status(source, &status),
        other => {
            tracing::warn!(source, kind = kind(&other), "an answer of the engine cannot be read");
            Fault::internal("flight.message")
        }
    }
}

/// Its words may quote the rows that could not be read.
fn kind(error: &FlightError) -> &'static str {
    match error {
        FlightError::Arrow(_) => "Arrow",
        FlightError::NotYetImplemented(_) => "not implemented",
        FlightError::Tonic(_) => "gRPC",
        FlightError::ProtocolError(_) => "protocol",
        FlightError::DecodeError(_) => "decoding",
        FlightError::ExternalError(_) => "other",
    }
}

/// Phrases of the engines that hold no value: of their messages, the log has these and no more.
const KNOWN: [&str; 23] = [
    "plan error",
    "analysis error",
    "parser error",
    "parse error",
    "syntax error",
    "cast error",
    "arrow error",
    "error in arrow",
    "divide by zero",
    "overflow",
    "regex",
    "table_or_view_not_found",
    "table not found",
    "does not exist",
    "unresolved_column",
    "no field named",
    "cannot resolve",
    "unknown function",
    "not implemented",
    "unsupported",
    "connect error",
    "session token",
    "execution failed",
];

pub fn from_status(source: &str, status: &Status) -> Fault {
    tracing::info!(source, code = ?status.code(), said = phrases(status.message(), &KNOWN), "the engine refused or failed");
    let said = without_values(status.message());
    let says = |words: &[&str]| {
        let lower = status.message().to_ascii_lowercase();
        words.iter().any(|word| lower.contains(word))
    };
    match status.code() {
        Code::Unauthenticated | Code::PermissionDenied => Fault::new(
            Kind::Unavailable,
            "source.credentials",
            format!("source `{source}` does not accept the credentials of this server"),
        )
        .hint("look at the source's token in the configuration"),
        Code::DeadlineExceeded => {
            Fault::new(Kind::Timeout, "engine.timeout", "the engine ended the statement: it ran too long")
        }
        Code::ResourceExhausted => crate::fault::out_of_memory(),
        _ if is_broken(status) => unreachable(source),
        // Constants are worked out while the statement is planned, and fail there.
        _ if says(&["cast error", "divide by zero", "overflow", "arrow error", "error in arrow"]) => {
            Fault::new(Kind::Execution, "engine.data", said)
        }
        _ if says(&["table_or_view_not_found", "table not found", "does not exist"]) || is_gone(status) => Fault::new(
            Kind::Unavailable,
            "source.table_gone",
            format!("a table of source `{source}` is no longer there"),
        )
        .hint("the catalog is older than the source: reload it, and ask again"),
        _ if says(&["unresolved_column", "no field named", "cannot resolve", "column not found"]) => Fault::new(
            Kind::Unavailable,
            "source.schema_changed",
            format!("a column of source `{source}` is no longer what the catalog says"),
        )
        .hint("the catalog is older than the source: reload it, and ask again"),
        _ if says(&["parse error", "parser error", "parse_syntax_error", "syntax error"]) => {
            crate::fault::syntax(&said)
        }
        Code::InvalidArgument | Code::Unimplemented => Fault::new(Kind::Invalid, "engine.statement", said),
        _ if says(&["analysis error", "plan error", "not implemented", "unsupported"]) => {
            Fault::new(Kind::Invalid, "engine.statement", said)
        }
        _ => Fault::new(Kind::Execution, "engine.data", said),
    }
}

/// `Error during planning: table 'datafusion.public.t' not found`
fn is_gone(status: &Status) -> bool {
    let named = status.message().split_once("table '").and_then(|(_, rest)| rest.split_once('\''));
    named.is_some_and(|(_, rest)| rest.starts_with(" not found"))
}

pub fn unreachable(source: &str) -> Fault {
    Fault::new(Kind::Unavailable, "source.unreachable", format!("source `{source}` cannot be reached"))
        .hint("look whether its engine runs, and at the source's address in the configuration")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Sail, Ballista, the transport, and proxies before an engine say it.
    #[rustfmt::skip]
    const SAID: [(Code, &str, &str); 16] = [
        (Code::Unauthenticated, "token expired", "source.credentials"),
        (Code::PermissionDenied, "no", "source.credentials"),
        (Code::Unavailable, "tcp connect error", "source.unreachable"),
        (Code::Unknown, "h2 protocol error: error reading a body from connection", "source.unreachable"),
        (Code::DeadlineExceeded, "", "engine.timeout"),
        (Code::Internal, "plan error: analysis error: Table not found: [TABLE_OR_VIEW_NOT_FOUND] Table or view not found: t", "source.table_gone"),
        (Code::Internal, "plan error: analysis error: attribute ObjectName([Identifier(\"x\")]) is missing from the schema: cannot resolve attribute", "source.schema_changed"),
        (Code::Internal, "plan error: error in Arrow: Divide by zero error", "engine.data"),
        (Code::Internal, "Arrow error: Cast error: Cannot cast string 'secret' to value of Int32 type", "engine.data"),
        (Code::Internal, "plan error: analysis error: unknown function: f", "engine.statement"),
        (Code::InvalidArgument, "sql parser error: Expected: an expression, found: )", "engine.syntax"),
        (Code::Internal, "plan error: [PARSE_SYNTAX_ERROR] Syntax error at or near 'FROM'", "engine.syntax"),
        (Code::Unauthenticated, "unknown or expired session token; re-run the Flight handshake", "source.credentials"),
        (Code::InvalidArgument, "failed to plan query: Error during planning: table 'datafusion.public.t' not found", "source.table_gone"),
        (Code::InvalidArgument, "failed to plan query: Schema error: No field named t.secret. Valid fields are t.id.", "source.schema_changed"),
        (Code::Internal, "query execution failed: job x failed: Arrow error: Cast error: Cannot cast string 'secret' to value of Int32 type", "engine.data"),
    ];

    #[test]
    fn each_error_is_told_apart() {
        for (code, message, expected) in SAID {
            let fault = from_status("lake", &Status::new(code, message));
            assert_eq!(fault.code, expected, "{message}");
            assert!(!fault.message.contains("secret"), "{}", fault.message);
        }
    }
}
