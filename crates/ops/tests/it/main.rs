//! From diagnostics to findings, proposals and packages.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failing test says so by a panic"
)]

mod findings;
mod model;
mod packages;
mod runbooks;
