//! The planner from outside: questions in, plans, questions back and refusals out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod explained;
mod mutated;
mod properties;
mod questions;
mod support;
