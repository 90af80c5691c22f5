//! The tree back to text, with proof that the text means the tree.

use super::parse::Tokens;
use super::refuse::Walk;
use domain::{Dialect, Fault};
use sqlparser::ast::Query;

/// Writes the query out and reads it again: a rendering that means something else never leaves.
pub fn render(dialect: Dialect, query: &Query) -> Walk<String> {
    let text = query.to_string();
    let again = Tokens::again(dialect, &text).and_then(Tokens::query);
    match again {
        Ok(again) if again == *query => Ok(text),
        _ => {
            Err(Fault::internal("sql.roundtrip")
                .hint("write the statement in a plainer way, and report the request id"))
        }
    }
}
