//! The device in the real jail: against a house of a few lines (`runs`), and against the real one (`whole`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failing test says so by a panic"
)]

mod cells;
mod forge;
mod hidden;
mod house;
mod identity;
mod keys;
mod kills;
mod masked;
mod metrics;
mod model;
mod recall;
mod redteam;
mod relay;
mod runs;
mod scene;
mod schemas;
mod small;
mod stricter;
mod support;
mod unheard;
mod whole;
