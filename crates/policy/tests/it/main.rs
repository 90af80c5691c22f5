//! Policy from outside: contracts, views, SQL and plans over one small law firm.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failing test says so by a panic"
)]

mod access;
mod bigquery;
mod changes;
mod contracts;
mod fixture;
mod grammar;
mod invariants;
#[path = "../labelled/mod.rs"]
mod labelled;
mod nasty;
mod personal;
mod plans;
mod postgres;
#[path = "../promise/mod.rs"]
mod promise;
mod redact;
mod scan;
mod script;
mod sealed;
mod sql;
mod translated;
