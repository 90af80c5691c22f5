//! The house as its users meet it: the real binary, real workers in real jails, over HTTP.

mod support;

mod chat;
mod cli;
mod golden;
mod identity;
mod limits;
mod policy;
mod query;
mod rooms;
mod runs;
mod shutdown;
mod stream;
mod types;
