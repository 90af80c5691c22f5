//! The planner from outside: questions in, plans, questions back and refusals out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod answers;
mod explained;
mod latency;
mod mutated;
mod properties;
mod questions;
mod records;
mod support;
