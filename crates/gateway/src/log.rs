//! Logs: to stderr, pretty for people or one JSON object a line for machines.

use crate::config::{Log, LogFormat};
use std::io::IsTerminal;

/// Installs the log. Later calls change nothing.
pub fn start(log: &Log) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let builder = tracing_subscriber::fmt().with_max_level(log.level).with_ansi(colour).with_writer(std::io::stderr);
    // A second server in one process (tests) keeps the first one's log.
    let _ = match log.format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Pretty => builder.with_target(false).compact().try_init(),
    };
}
