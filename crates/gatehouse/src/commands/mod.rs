//! One file a command.

mod audit;
mod config;
mod contracts;
mod demo_device;
mod doctor;
mod eval;
mod keys;
mod local;
mod mcp;
mod plan;
mod replay;
pub mod runner;
mod serve;
mod tables;
mod tokens;

use crate::cli::{Cli, Command, Data, Schema};
use crate::print::{self, Problem};
use gateway::config::{self as settings, Config, ConfigError, Flags, Shown};
use std::process::ExitCode;

pub fn run(cli: Cli) -> Result<ExitCode, Problem> {
    match cli.command {
        Command::Serve(serve) => run_async(serve::run(serve)),
        Command::Mcp(mcp) => run_async(mcp::run(mcp)),
        Command::Tokens(tokens) => run_async(tokens::run(tokens)),
        Command::Keys(keys) => run_async(keys::run(keys)),
        Command::Contracts(contracts) => run_async(contracts::run(contracts)),
        Command::Tables(tables) => run_async(tables::run(tables)),
        Command::Plan(plan) => run_async(plan::run(plan)),
        Command::Eval(eval) => run_async(eval::run(eval)),
        Command::Audit(audit) => run_async(audit::run(audit)),
        Command::Replay(replay) => run_async(replay::run(replay)),
        Command::Doctor(doctor) => run_async(doctor::run(doctor)),
        Command::DemoDevice(wish) => run_async(demo_device::run(wish)),
        Command::Config(config) => config::run(config),
        Command::Schema(Schema::Contract) => Ok(shown(&policy::contract_json_schema())),
        Command::Schema(Schema::ChangePlan) => Ok(shown(&policy::change_plan_json_schema())),
        Command::Schema(Schema::QueryPlan) => Ok(shown(&policy::query_plan_json_schema())),
        Command::Runner => Ok(runner::run(Vec::new())),
    }
}

fn shown(schema: &serde_json::Value) -> ExitCode {
    print::json(schema);
    ExitCode::SUCCESS
}

fn run_async(command: impl Future<Output = Result<ExitCode, Problem>>) -> Result<ExitCode, Problem> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(command);
    // Workers are being killed on blocking threads: a moment for them, not more.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    result
}

/// Flags that most commands share.
fn flags(data: &Data) -> Flags {
    Flags { data: data.data.clone(), config: data.config.clone(), ..Flags::default() }
}

/// For commands that look at what is there: a directory that is not there is a mistake, not a start.
fn existing(data: &Data) -> Result<(), Problem> {
    if data.data.is_dir() {
        return Ok(());
    }
    let mut problem = Problem::usage(
        format!("there is no directory `{}`", data.data.display()),
        "`--data` names the directory that `gatehouse serve` was started with",
    );
    problem.code = 5;
    Err(problem)
}

fn load(flags: &Flags) -> Result<(Config, Vec<Shown>), Problem> {
    settings::load(flags, |name| std::env::var(name).ok()).map_err(wrong_settings)
}

/// For commands that need the ledger only: a secret of a source that is not at hand stops none of them.
fn load_without_sources(data: &Data) -> Result<Config, Problem> {
    settings::load_without_sources(&flags(data), |name| std::env::var(name).ok()).map_err(wrong_settings)
}

fn wrong_settings(errors: Vec<ConfigError>) -> Problem {
    Problem { lines: errors.iter().map(ToString::to_string).collect(), code: 2 }
}
