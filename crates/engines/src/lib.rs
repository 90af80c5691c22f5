//! `Approved` in, rows out.
//!
//! No statement runs in this process. Each source is read by worker processes that the sandbox has
//! locked down; [`Engines`] keeps some of them warm, hands each one statement at a time, and kills
//! the one that takes too long. The worker's own side lives in [`worker`].

mod change;
mod client;
mod fault;
pub mod json;
mod pool;
mod protocol;
mod source;
mod stream;
pub mod worker;

pub use change::Written;
pub use client::run_worker;
pub use pool::{Engines, Executed, Scanning, Settings};
pub use protocol::{Estimate, Form};
pub use source::{FileTable, Source, SourceKind};
pub use stream::{Caps, Next, Streaming, Total};
