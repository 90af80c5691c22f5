//! `Approved` in, rows out.
//!
//! No statement runs in this process. Files are read by worker processes that the sandbox has
//! locked down; [`Engines`] keeps some of them warm, hands each one statement at a time, and kills
//! the one that takes too long. The worker's own side lives in [`worker`]. Databases on other
//! machines are asked there (`remote`), and a statement that takes too long is cancelled there.

mod bigquery;
mod change;
mod client;
mod fault;
mod flight;
mod hot;
pub mod json;
mod library;
mod places;
mod pool;
mod postgres;
mod protocol;
mod remote;
mod rest;
mod settings;
mod source;
mod stream;
pub mod worker;

pub use change::{Unanswered, Written};
pub use client::run_worker;
pub use hot::HotSettings;
pub use library::duckdb_libraries;
pub use pool::{Engines, Executed};
pub use protocol::{Compression, Estimate, Form, Packing};
pub use settings::{Scanning, Settings};
pub use source::{
    BigQuerySource, Credential, Dsn, FileTable, FlightSource, Identity, PostgresSource, RestSource, Source, SourceKind,
    Tls,
};
pub use stream::{Caps, Next, Streaming, Total};
