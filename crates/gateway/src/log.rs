//! Logs: to stderr, pretty for people or one JSON object a line for machines.

use crate::config::{Log, LogFormat};
use std::io::IsTerminal;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Our own crates, and what engines print. Others log statements, requests and headers when they are asked for details, so
/// that they tell of warnings only, whatever the level.
const OURS: [&str; 11] =
    ["gatehouse", "gateway", "engines", "ledger", "planner", "policy", "sandbox", "ops", "domain", "device", "worker"];

/// Warns of requests that it does not understand, in their words.
const TALKATIVE: &str = "rmcp";

/// Installs the log. Later calls change nothing.
pub fn start(log: &Log) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let builder = tracing_subscriber::fmt().with_max_level(log.level).with_ansi(colour).with_writer(std::io::stderr);
    let quiet = log.level.min(Level::WARN);
    let targets = Targets::new()
        .with_default(quiet)
        .with_target(TALKATIVE, log.level.min(Level::ERROR))
        .with_targets(OURS.map(|ours| (ours, log.level)));
    // A second server in one process (tests) keeps the first one's log.
    let _ = match log.format {
        LogFormat::Json => builder.json().flatten_event(true).finish().with(targets).try_init(),
        LogFormat::Pretty => builder.with_target(false).compact().finish().with(targets).try_init(),
    };
}
