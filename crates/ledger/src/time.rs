//! Instants as the ledger keeps them: text of one width, so that text order is time order.

use crate::LedgerError;
use jiff::Timestamp;

pub(crate) fn text(instant: Timestamp) -> String {
    format!("{instant:.9}")
}

pub(crate) fn parse(column: &'static str, text: &str) -> Result<Timestamp, LedgerError> {
    text.parse().map_err(|cause: jiff::Error| LedgerError::Unreadable { column, cause: cause.to_string() })
}

pub(crate) fn parse_optional(column: &'static str, text: Option<String>) -> Result<Option<Timestamp>, LedgerError> {
    text.map(|text| parse(column, &text)).transpose()
}
