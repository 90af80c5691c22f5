//! The ledger, on a real SQLite file and on a real Postgres.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops where it fails")]

#[macro_use]
mod place;

mod bounds;
mod changes;
mod concurrent;
mod heads;
mod lost;
mod open;
mod ops;
mod registers;
mod runs;
mod scans;
mod secrets;
mod servers;
mod tamper;
