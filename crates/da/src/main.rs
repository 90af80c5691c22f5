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

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use problem::Problem;
use std::process::ExitCode;

/// A fetch takes and gives back many large batches on two threads; the system's allocator keeps a growing part of them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let as_json = std::env::args_os().any(|arg| arg == "--json");
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are no failures.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => return misused(&error, as_json),
    };
    match signals::listen(as_json).and_then(|()| commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            problem.tell(as_json);
            problem.exit_code()
        }
    }
}

/// Clap's own words, as one line and a hint.
fn misused(error: &clap::Error, as_json: bool) -> ExitCode {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    if matches!(error.kind(), DisplayHelpOnMissingArgumentOrSubcommand | MissingSubcommand) {
        return no_command(as_json);
    }
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let rest = ["Usage:", "tip:", "For more information"];
    let message = lines.iter().take_while(|line| !rest.iter().any(|rest| line.starts_with(rest)));
    let message = message.copied().collect::<Vec<_>>().join(" ");
    let tip = lines.iter().find_map(|line| line.strip_prefix("tip: ")).unwrap_or("`--help` shows all arguments");
    let problem = Problem::invalid("bad_arguments", message.trim_start_matches("error: "), tip);
    problem.tell(as_json);
    problem.exit_code()
}

/// `da` or `da snapshot` alone: what could follow.
fn no_command(as_json: bool) -> ExitCode {
    let mut command = cli::Cli::command();
    let mut words = "da".to_owned();
    for word in std::env::args_os().skip(1) {
        let word = word.to_string_lossy().into_owned();
        if let Some(inner) = command.find_subcommand(&word).cloned() {
            command = inner;
            words = format!("{words} {word}");
        }
    }
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let message = format!("`{words}` needs a command: {}", names.join(", "));
    let problem = Problem::invalid("bad_arguments", message, format!("`{words} --help` says what each does"));
    problem.tell(as_json);
    problem.exit_code()
}
