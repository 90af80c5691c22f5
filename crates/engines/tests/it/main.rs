//! The engines from outside: what policy accepts, what hostile statements and files get, in real workers.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a failing test says so by a panic")]

mod bombs;
mod cases;
mod filtered;
mod filters;
mod firm;
mod functions;
mod functions_flight;
mod functions_postgres;
mod functions_sqlite;
mod functions_support;
mod hidden;
mod jail;
mod locked;
mod predicates;
mod pure;
mod queries;
mod rows;
mod sealed;
mod secrets;
mod talk;
mod unlocked;
mod window;
