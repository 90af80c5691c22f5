//! Models as planners, against a scripted server that is as strict as the real ones (`testkit::Messages`).

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a failing test says so by a panic")]

mod caps;
mod conversations;
mod failures;
mod prompts;
mod records;
mod shop;
mod support;
