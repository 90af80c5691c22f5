//! The house as its users meet it: the real binary, real workers in real jails, over HTTP.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that fails should say so at once"
)]

mod analyst;
mod analyst_clients;
mod callers;
mod said;
mod scan_support;
mod support;

mod actors;
mod admin;
mod canaries;
mod chat;
mod claude_code;
mod cli;
mod connections;
mod dashboards;
mod data_dir;
mod disks;
mod eval;
mod examples;
mod golden;
mod hosts;
mod hybrid;
mod identity;
mod kills;
mod limits;
mod mcp;
mod models;
mod page;
mod personal;
mod policy;
mod query;
mod records;
mod records_kills;
mod records_service;
mod records_support;
mod replay;
mod replicas;
mod rooms;
mod runs;
mod scan;
mod scan_abuse;
mod scan_clients;
mod scan_estimate;
mod scan_hot;
mod scan_limits;
mod scan_registry;
mod shutdown;
mod sources;
mod stream;
mod types;
mod unseen;
