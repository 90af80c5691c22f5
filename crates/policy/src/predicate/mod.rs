//! Predicates of scans: one boolean expression over one table, in BigQuery's or DuckDB's SQL (spec 004 §3.7).
//!
//! Text is capped and parsed to its end ([`parse`]); what the parser found is turned into a tree that can hold nothing
//! but what is allowed ([`lower`], [`tree`]), every name checked against what the caller may read; that tree is written
//! out again ([`render`]). Nothing of the caller's text is passed through.

mod dialect;
mod functions;
mod kind;
mod literal;
mod lower;
mod parse;
mod part;
mod refuse;
mod render;
mod tree;
mod types;

pub use literal::text as literal_text;
pub use lower::Lowering;
pub use parse::{Tokens, nothing_after};
pub use refuse::{invalid, refuse};
pub use render::{Target, Writer};
pub use tree::{Path, Step};
