//! Chat: datasets, questions with streamed progress, runs. Spec 001, design §13.

pub mod ask;
pub mod datasets;
pub mod query;
pub mod runs;
pub mod stream;
mod wire;

pub use wire::{FILTERED_BY, RunBody, filtered_header};
