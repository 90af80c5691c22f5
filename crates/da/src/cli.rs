//! Every command and flag, defined once: parsing, help, man pages, completions and the agent's skill come from here.

use crate::show::Format;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// Discover tables, estimate, fetch a slice, and query it here at full speed.
#[derive(Parser)]
#[command(name = "da", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub all: Everywhere,
}

/// Flags that every command takes.
#[derive(Args, Clone)]
pub struct Everywhere {
    /// The server; usually that of `da login` [env: DA_SERVER]
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Print JSON; errors become objects on stderr
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but data, warnings and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  da catalog                                  what is there to ask about
  da describe sales_orders                    columns, and a few rows
  da fetch sales_orders --select order_date,region,amount \\
      --where \"order_date >= DATE '2026-01-01'\" --as orders_2026
  da query \"SELECT region, sum(amount) FROM orders_2026 GROUP BY 1\"
  da snapshot refresh orders_2026             the same slice, as it is now

Exit codes: 0 done, 1 unexpected, 2 not valid, 3 over a quota, 4 disk full, 5 the server failed,
            6 the snapshot exists, 7 not signed in, 8 not for you, 9 no network, 130 interrupted";

#[derive(Subcommand)]
pub enum Command {
    /// List the tables that you may read
    Catalog(Catalog),
    /// Show the columns of a table, and how predicates on it are written
    Schema(Schema),
    /// Show the columns of a table, and a few of its rows
    Describe(Describe),
    /// Fetch some columns and rows of a table into a local snapshot
    Fetch(Fetch),
    /// Query snapshots and synced tables here, or tables on the server
    Query(Query),
    /// Ask in words; shows the plan and the SQL before the rows
    Ask(Ask),
    /// List, refresh, drop and prune snapshots
    #[command(subcommand)]
    Snapshot(Snapshot),
    /// Bring local copies of `local` tables up to date
    Sync(Sync),
    /// Show what snapshots take of the disk
    DiskInfo,
    /// Keep a token for a server
    Login(Login),
    /// Forget the token of a server
    Logout,
    /// Say who the server takes you for
    Whoami,
    /// Check everything that `da` stands on
    Doctor,
    /// The settings in force
    #[command(subcommand)]
    Config(Config),
    /// Teach a coding agent to use `da`
    #[command(subcommand)]
    Skills(Skills),
    /// For admins: the server's registry of tables
    #[command(subcommand)]
    Admin(Admin),
    /// Print completions for a shell
    Completions { shell: Shell },
    /// Write man pages, or print the first one
    Man {
        /// Write a page for each command into DIR
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Args)]
pub struct Shown {
    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

#[derive(Args)]
pub struct Catalog {
    /// Ask the server anew, and forget what was kept of its replies
    #[arg(long)]
    pub refresh: bool,
    #[command(flatten)]
    pub shown: Shown,
}

#[derive(Args)]
pub struct Schema {
    /// As `da catalog` calls it
    pub table: String,
    /// Ask the server anew
    #[arg(long)]
    pub refresh: bool,
    #[command(flatten)]
    pub shown: Shown,
}

#[derive(Args)]
pub struct Describe {
    /// As `da catalog` calls it
    pub table: String,
    /// Rows to show, 1 to 100
    #[arg(short = 'n', value_name = "ROWS", default_value = "5", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub rows: u64,
    /// Ask the server anew
    #[arg(long)]
    pub refresh: bool,
    #[command(flatten)]
    pub shown: Shown,
}

/// What a fetch takes from its table.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  da fetch web_sessions --select event_date,country --where \"country = 'CZ'\" --estimate\n  da fetch web_sessions --select event_date,country --where \"country = 'CZ'\" --as cz\n\nPredicates are written in the table's `sql_flavor`: see `da schema TABLE`."
)]
pub struct Fetch {
    /// As `da catalog` calls it
    pub table: String,
    /// Columns, or paths into them, separated by commas [default: all]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub select: Option<Vec<String>>,
    /// Which rows, in the SQL flavor of the table
    #[arg(long = "where", value_name = "PREDICATE")]
    pub filter: Option<String>,
    /// At most so many rows
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Columns to sort by, with ASC or DESC if need be, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub order_by: Option<Vec<String>>,
    /// Name of the snapshot [default: the table's]
    #[arg(long = "as", value_name = "NAME")]
    pub name: Option<String>,
    /// Only say what the fetch would read and give
    #[arg(long, conflicts_with_all = ["no_estimate", "force"])]
    pub estimate: bool,
    /// Fetch without an estimate first
    #[arg(long)]
    pub no_estimate: bool,
    /// Overwrite a snapshot of that name
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  da query \"SELECT count(*) FROM cz\"\n  da query --remote \"SELECT count(*) FROM web_sessions\"\n  da query --register today=\"SELECT country, count(*) n FROM web_sessions GROUP BY 1\" \\\n      \"SELECT * FROM today JOIN cz USING (country)\"\n  da query \"FROM cz\" -o cz.csv"
)]
pub struct Query {
    /// SQL; of several statements the result of the last is shown
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    pub sql: Option<String>,
    /// Read the statement from stdin
    #[arg(long)]
    pub stdin: bool,
    /// Run it on the server, over the tables of the catalog
    #[arg(long)]
    pub remote: bool,
    /// Run QUERY on the server, and use its result as the table NAME; with --remote it is joined there
    #[arg(long, value_name = "NAME=QUERY", alias = "register-bq")]
    pub register: Vec<String>,
    /// Rows that the server gives at most, with --remote
    #[arg(long, value_name = "N", requires = "remote")]
    pub limit: Option<u64>,
    /// Rows that a table shows; 0 for all
    #[arg(long, value_name = "N", default_value = "40")]
    pub rows: usize,
    /// Write to FILE instead: .csv, .json, .parquet or .arrow
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub shown: Shown,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  da ask \"total revenue by region\" --dataset sales\n  da ask --local \"how many rows per country in cz\""
)]
pub struct Ask {
    pub question: String,
    /// Ask the snapshots and synced tables, without a server or a model
    #[arg(long)]
    pub local: bool,
    /// What to ask, where the server has several datasets
    #[arg(long, value_name = "ID", conflicts_with = "local")]
    pub dataset: Option<String>,
    /// Rows that a table shows; 0 for all
    #[arg(long, value_name = "N", default_value = "40")]
    pub rows: usize,
    #[command(flatten)]
    pub shown: Shown,
}

#[derive(Subcommand)]
pub enum Snapshot {
    /// List snapshots
    List(Shown),
    /// Fetch a snapshot again, as it was fetched, and say what changed
    Refresh {
        name: String,
        /// Another predicate, from now on
        #[arg(long = "where", value_name = "PREDICATE")]
        filter: Option<String>,
    },
    /// Remove a snapshot
    Drop { name: String },
    /// Remove snapshots that are old, large, or too much together
    #[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(["older_than", "larger_than", "auto"]))]
    Prune {
        /// Fetched longer ago than this, like `7d` or `12h`
        #[arg(long, value_name = "SPAN")]
        older_than: Option<String>,
        /// Larger than this, like `1g` or `500m`; with --older-than, both must hold
        #[arg(long, value_name = "SIZE")]
        larger_than: Option<String>,
        /// The oldest, until the rest fits into `snapshot_quota_gb`
        #[arg(long, conflicts_with_all = ["older_than", "larger_than"])]
        auto: bool,
        /// Only say which
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Args)]
pub struct Sync {
    /// Only these [default: all tables of `query_mode` local]
    pub tables: Vec<String>,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args)]
#[command(after_help = "Example:\n  echo $TOKEN | da login --server https://data.example.com --token-stdin")]
pub struct Login {
    /// Read the token from stdin instead of DA_TOKEN
    #[arg(long)]
    pub token_stdin: bool,
}

#[derive(Subcommand)]
pub enum Config {
    /// Show every setting
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
    },
}

#[derive(Subcommand)]
pub enum Skills {
    /// Write the agent's skill, and its part of CLAUDE.md
    Install {
        /// The project to write into
        #[arg(long, value_name = "DIR", default_value = ".")]
        project: PathBuf,
    },
    /// Print the skill
    Show,
}

#[derive(Subcommand)]
pub enum Admin {
    /// Make the server forget kept catalogs, schemas and samples
    CatalogRefresh,
    /// Write a safe contract for a table of a source
    Register { source: String, table: String },
    /// Show the contract of a table
    Show { table: String },
    /// Remove the contract of a table; only admins see it from then on
    Unregister { table: String },
}
