//! The `gatehouse` binary: the server and the commands of those who run it.

mod cli;
mod commands;
mod demo;
mod print;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else, and before any thread: a worker locks itself down.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == "runner") {
        return commands::runner::run(args.collect());
    }
    match commands::run(cli::Cli::parse()) {
        Ok(code) => code,
        Err(problem) => print::problem(&problem),
    }
}
