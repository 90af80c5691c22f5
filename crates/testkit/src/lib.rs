//! Tests only: real servers on ports of the system's choice, and clients to talk to them.
//!
//! Everything here panics with a message when it fails: that is what a test wants.

mod ballista;
mod bigquery;
mod certificates;
mod client;
mod disk;
mod flight;
mod grpc_gate;
mod leftovers;
mod messages;
mod postgres;
mod python;
mod redis;
mod sail;
mod server;
mod service;
mod tally;
mod wire;

pub use ballista::Ballista;
pub use bigquery::{BigQuery, Gate};
pub use certificates::certificates;
pub use client::{Client, Cut, Event, Reply};
pub use disk::Disk;
pub use grpc_gate::GrpcGate;
pub use leftovers::{directories_of, end, workers_of};
pub use messages::{Messages, Recorded, Said};
pub use postgres::{Postgres, PostgresBuilder};
pub use python::{environment, python};
pub use redis::Redis;
pub use sail::{Mode, Sail};
pub use server::{Server, ServerBuilder};
pub use service::{Called, Service, Upset};
pub use tally::{compared, compared_pairs, figure, tally};
pub use wire::Wire;
