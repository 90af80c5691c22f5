//! Whether an answer is missing because the way to an engine broke.

use tonic::{Code, Status};

/// Whether the connection broke, or nobody was at its other end: nothing is said of the statement itself.
pub(crate) fn is_broken(status: &Status) -> bool {
    match status.code() {
        Code::Cancelled | Code::Unavailable | Code::Aborted => true,
        // It broke in the middle: whoever speaks HTTP/2 below says so in its own words.
        Code::Unknown | Code::Internal => {
            let said = status.message().to_ascii_lowercase();
            ["h2 protocol", "transport", "connection", "broken pipe"].iter().any(|word| said.contains(word))
        }
        _ => false,
    }
}
