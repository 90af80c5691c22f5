//! The commands, one file each.

mod admin;
mod ask;
mod ask_local;
mod catalog;
mod config;
mod describe;
mod disk;
mod doctor;
mod estimate;
mod fetch;
mod login;
mod output;
mod progress;
mod query;
mod refresh;
mod schema;
mod shell;
mod skills;
mod snapshot;
mod sync;
mod transfer;

use crate::cli::{Cli, Command, Everywhere, Snapshot};
use crate::client::Client;
use crate::config::Config;
use crate::place::Place;
use crate::problem::Result;
use crate::show::Format;

/// What every command works with.
pub struct Context {
    pub config: Config,
    pub place: Place,
    pub all: Everywhere,
}

impl Context {
    fn new(all: Everywhere) -> Result<Self> {
        let config = Config::load(all.server.as_deref())?;
        Ok(Self { place: Place::new(&config), config, all })
    }

    pub fn client(&self) -> Result<Client> {
        Client::new(&self.config)
    }

    /// `--json` is a format, too.
    pub fn format(&self, format: Format) -> Format {
        if self.all.json { Format::Json } else { format }
    }
}

pub fn run(cli: Cli) -> Result<()> {
    let context = Context::new(cli.all)?;
    match cli.command {
        Command::Catalog(args) => catalog::run(&context, &args),
        Command::Schema(args) => schema::run(&context, &args),
        Command::Describe(args) => describe::run(&context, &args),
        Command::Fetch(args) => fetch::run(&context, args),
        Command::Query(args) => query::run(&context, &args),
        Command::Ask(args) if args.local => ask_local::run(&context, &args),
        Command::Ask(args) => ask::run(&context, &args),
        Command::Snapshot(Snapshot::Refresh { name, filter }) => refresh::run(&context, &name, filter),
        Command::Snapshot(command) => snapshot::run(&context, command),
        Command::Sync(args) => sync::run(&context, &args),
        Command::DiskInfo => disk::run(&context),
        Command::Login(args) => login::login(&context, &args),
        Command::Logout => login::logout(&context),
        Command::Whoami => login::whoami(&context),
        Command::Doctor => doctor::run(&context),
        Command::Config(command) => config::run(&context, &command),
        Command::Skills(command) => skills::run(&context, &command),
        Command::Admin(command) => admin::run(&context, &command),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { dir } => shell::man(dir.as_deref()),
    }
}
