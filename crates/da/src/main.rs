//! `da`: the analyst's and the agent's command line.

mod cache;
mod cli;
mod client;
mod commands;
mod config;
mod credentials;
mod files;
mod local;
mod place;
mod print;
mod problem;
mod show;
mod signals;
mod snapshots;
mod units;

use clap::Parser;
use problem::Problem;
use std::process::ExitCode;

fn main() -> ExitCode {
    let as_json = std::env::args_os().any(|arg| arg == "--json");
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are no failures.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => return misused(&error, as_json),
    };
    match signals::listen().and_then(|()| commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            problem.tell(as_json);
            problem.exit_code()
        }
    }
}

/// Clap's own words, as one line and a hint.
fn misused(error: &clap::Error, as_json: bool) -> ExitCode {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let message = lines.iter().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("tip:"));
    let message = message.copied().collect::<Vec<_>>().join(" ");
    let tip = lines.iter().find_map(|line| line.strip_prefix("tip: ")).unwrap_or("`--help` shows all arguments");
    let problem = Problem::invalid("bad_arguments", message.trim_start_matches("error: "), tip);
    problem.tell(as_json);
    problem.exit_code()
}
