//! A checked statement in the SQL of an engine that nobody here writes for.
//!
//! Statements for such an engine are written and checked in DuckDB's SQL. Then, and only then, the tree is put into the
//! engine's own words ([`words`]) and the text into its own notation ([`notation`]): quotes of names, escapes of text,
//! values in the place of placeholders. A form or a function that no rule knows is refused: what reaches the engine can
//! hold nothing but what the lists name.

mod datafusion;
mod functions;
mod notation;
mod spark;
mod speech;
mod words;

pub use notation::escaped;

use crate::sql::refuse::{Walk, clip, refuse};
use crate::sql::walk::Used;
use domain::{Dialect, Fault, SourceSchema};
use speech::Speech;
use sqlparser::ast::Query;

/// The statement as its engine runs it, and the values that are still to be bound.
pub fn statement(source: &SourceSchema, query: Query, text: String, used: Used) -> Walk<(String, Used)> {
    let speech: &dyn Speech = match source.dialect {
        Dialect::Spark => &spark::Spark,
        Dialect::DataFusion => &datafusion::DataFusion,
        Dialect::DuckDb | Dialect::Sqlite | Dialect::Postgres | Dialect::BigQuery => return Ok((text, used)),
    };
    // Neither takes parameters: their values are written as literals.
    let text = words::statement(speech, query, source, &used)?;
    Ok((text, Used { params: Vec::new(), ..used }))
}

/// A form that the engine has no words for, or none that mean the same.
fn no_translation(what: &str) -> Fault {
    let message = format!("`{}` cannot be said in the SQL of this source's engine", clip(what));
    refuse("sql.no_translation", message, "write it in plainer SQL: common functions, CASE, joins, subqueries")
}
