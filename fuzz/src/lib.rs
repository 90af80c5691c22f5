//! What the fuzzers hold policy to: the same promises as its tests.

#[path = "../../crates/policy/tests/promise/mod.rs"]
pub mod promise;
