//! `da` and a real server, as two processes on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that fails should say so at once"
)]

mod ask;
mod codes;
mod copies;
mod crashes;
mod hybrid;
mod login;
mod memory;
mod output;
mod proxy;
mod round_trip;
mod settings;
mod skills;
mod stock;
mod support;
