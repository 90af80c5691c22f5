//! SQL text: parsed, walked, rewritten, rendered. Never passed through.
//!
//! [`parse`] caps and parses; [`walk`] visits every node (an unknown one is refused) and replaces
//! each table by its readable columns and rows; [`limit`] caps the result; [`render`] writes the
//! tree out and proves that it reads back as the same tree.

pub mod bigquery;
mod build;
pub mod dialect;
mod expr;
pub mod fence;
mod forms;
mod functions;
pub mod guard;
mod limit;
mod literal;
mod model;
mod moments;
pub mod parse;
pub mod personal;
pub mod postgres;
mod query;
pub mod refuse;
pub mod render;
mod scope;
mod select;
mod series;
mod spelling;
mod table;
mod types;
pub mod walk;

pub use functions::argument;
pub use guard::{SHALLOW, with_stack};
pub use limit::cap;
