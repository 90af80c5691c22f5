//! The engines from outside: what policy accepts, what hostile statements and files get, in real workers.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a failing test says so by a panic")]

mod cases;
mod firm;
mod hidden;
mod jail;
mod pure;
mod queries;
mod sealed;
