//! Every command and flag, defined once: parsing, help and completions come from here.

use clap::{Args, Parser, Subcommand, ValueEnum};
use domain::SessionId;
use std::path::PathBuf;

/// The guarded way from AI agents to a company's data and machines.
#[derive(Parser)]
#[command(name = "gatehouse", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  gatehouse serve --demo                      a server with demo data on 127.0.0.1:8080
  gatehouse tokens create --actor ann --role analyst --expires 30d
  gatehouse mcp --role analyst                its tools for an agent, over stdin and stdout
  gatehouse plan --source sales.sqlite \"orders per region\"
  gatehouse contracts init sales              safe contracts for a source
  gatehouse doctor                            does everything hold?

Exit codes: 0 done, 1 our fault or a check that failed, 2 bad input or configuration,
            3 a token that is not valid, 5 not found, 8 time or memory ran out, 9 not available now";

#[derive(Subcommand)]
pub enum Command {
    /// Serve the doors over HTTP
    Serve(Serve),
    /// Serve the tools over MCP on stdin and stdout, to an agent that starts this as its child
    Mcp(Mcp),
    /// Create, list and revoke access tokens
    #[command(subcommand)]
    Tokens(Tokens),
    /// List, rotate and retire the keys that scripts for devices are signed with
    #[command(subcommand)]
    Keys(Keys),
    /// Write, check and show contracts
    #[command(subcommand)]
    Contracts(Contracts),
    /// Register, describe and unregister tables of the catalog
    #[command(subcommand)]
    Tables(Tables),
    /// Plan a question without a server: reading, plan and SQL
    Plan(Plan),
    /// Ask a file of questions whose answers are known, and count what is right
    Eval(Eval),
    /// The audit chain
    #[command(subcommand)]
    Audit(Audit),
    /// What today's planner and contracts would make of runs on record
    Replay(Replay),
    /// Check everything that the server stands on
    Doctor(Doctor),
    /// The settings in force
    #[command(subcommand)]
    Config(Config),
    /// A device with three faults, for the demo
    DemoDevice(DemoDevice),
    /// JSON Schemas of what callers and operators write
    #[command(subcommand)]
    Schema(Schema),
    /// A worker in its sandbox; started by the server only
    #[command(hide = true)]
    Runner,
}

/// Where everything is kept.
#[derive(Args, Clone)]
pub struct Data {
    /// Directory of all state: configuration, contracts, datasets, ledger, keys
    #[arg(long, value_name = "DIR", default_value = "data", env = "GATEHOUSE_DATA")]
    pub data: PathBuf,
    /// Configuration file [default: DIR/gatehouse.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gatehouse serve --demo\n  gatehouse serve --data /srv/gatehouse --listen 127.0.0.1:9000"
)]
pub struct Serve {
    #[command(flatten)]
    pub data: Data,
    /// Write demo datasets and contracts into DIR first, if they are not there
    #[arg(long)]
    pub demo: bool,
    /// Address to listen on; port 0 lets the system choose
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// A proxy in front of this server does TLS
    #[arg(long)]
    pub behind_proxy: bool,
    /// Which planner turns questions into plans
    #[arg(long, value_name = "NAME")]
    pub planner: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gatehouse serve --demo &\n  gatehouse demo-device\n\nIts faults are found without a model, and repaired by scripts once somebody has approved them; at every start they are\nback. What its programs say goes to the house by itself. It needs `gatehouse-device` beside this program, and ends\nwith its house."
)]
pub struct DemoDevice {
    #[command(flatten)]
    pub data: Data,
    /// Where the house is
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub url: String,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gatehouse replay 019a…\n  gatehouse replay 019a… 019b… --against new-contracts --json\n\nNothing is executed. Exit code 1 says that something differs."
)]
pub struct Replay {
    #[command(flatten)]
    pub data: Data,
    /// Runs by their id
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Decide by these contracts instead of those in force
    #[arg(long, value_name = "CONTRACT_DIR")]
    pub against: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gatehouse mcp --role analyst --actor ann\n  gatehouse mcp --token-file ~/.gatehouse-token\n  gatehouse mcp --tools sqlite --dataset shop --token-file ~/.gatehouse-token\n\nA running server has the same at /mcp and /mcp/DATASET. The log and audit lines go to stderr."
)]
pub struct Mcp {
    #[command(flatten)]
    pub data: Data,
    /// `chat`: the five tools over all datasets; `sqlite`: list_tables, describe_table and read_query over one
    #[arg(long, value_enum, value_name = "SET", default_value = "chat")]
    pub tools: ToolSet,
    /// The dataset of `--tools sqlite` [default: the Analyst's database]
    #[arg(long, value_name = "ID")]
    pub dataset: Option<String>,
    /// A file, readable by its owner only, with the token of whoever calls
    #[arg(long, value_name = "FILE", conflicts_with_all = ["role", "actor"])]
    pub token_file: Option<PathBuf>,
    /// Instead of a token: what the caller may do, as contracts say
    #[arg(long)]
    pub role: Option<String>,
    /// Who calls, with `--role`
    #[arg(long, default_value = "local")]
    pub actor: String,
    /// Pass on what is said between the client and a server that listens here; said by the server only
    #[arg(long, hide = true, value_name = "SOCKET")]
    pub connect: Option<PathBuf>,
    /// The request that the calls are part of; said by the server only
    #[arg(long, hide = true)]
    pub session: Option<SessionId>,
    /// That request is the Analyst's; said by the server only
    #[arg(long, hide = true)]
    pub analyst: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolSet {
    Chat,
    Sqlite,
}

#[derive(Subcommand)]
pub enum Tokens {
    /// Create a token; it is printed once, alone on stdout
    Create {
        #[command(flatten)]
        data: Data,
        /// Who will use it
        #[arg(long)]
        actor: String,
        /// What they may do, as contracts say
        #[arg(long)]
        role: String,
        /// How long it is valid, like `30d` or `12h` [default: for ever]
        #[arg(long, value_name = "SPAN")]
        expires: Option<String>,
        /// A claim for `rows` predicates, as NAME=VALUE; may be given more than once
        #[arg(long = "claim", value_name = "NAME=VALUE")]
        claims: Vec<String>,
    },
    /// List tokens, without their secrets
    List {
        #[command(flatten)]
        data: Data,
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token; it is refused from then on
    Revoke {
        #[command(flatten)]
        data: Data,
        /// The id that `list` shows
        id: String,
    },
    /// Print a one-time sign-in link for the page
    Link {
        #[command(flatten)]
        data: Data,
        #[arg(long)]
        actor: String,
        #[arg(long)]
        role: String,
    },
}

#[derive(Subcommand)]
pub enum Contracts {
    /// Write safe contracts for a source: read only, fields that look like PII hidden
    Init {
        #[command(flatten)]
        data: Data,
        source: String,
        /// Print instead of writing
        #[arg(long)]
        dry_run: bool,
    },
    /// Check all contracts, also against their sources
    Check {
        #[command(flatten)]
        data: Data,
        #[arg(long)]
        json: bool,
    },
    /// What a role sees of a resource
    Show {
        #[command(flatten)]
        data: Data,
        resource: String,
        #[arg(long)]
        role: String,
    },
}

#[derive(Subcommand)]
pub enum Keys {
    /// List the keys that devices trust, the one that signs first
    List {
        #[command(flatten)]
        data: Data,
        #[arg(long)]
        json: bool,
    },
    /// Sign with a new key from now on; devices trust the old ones too, until they are retired
    Rotate {
        #[command(flatten)]
        data: Data,
    },
    /// Let devices trust a key no longer
    Retire {
        #[command(flatten)]
        data: Data,
        /// The id that `list` shows
        id: String,
    },
}

#[derive(Subcommand)]
pub enum Tables {
    /// Write a safe contract for a table: read only, fields that look like PII hidden
    Register {
        #[command(flatten)]
        data: Data,
        source: String,
        table: String,
    },
    /// Remove a table's contract; only admins see the table from then on
    Unregister {
        #[command(flatten)]
        data: Data,
        /// As the catalog calls it
        id: String,
    },
    /// The contract of a table, whole
    Describe {
        #[command(flatten)]
        data: Data,
        id: String,
    },
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gatehouse plan --source shop.sqlite \"how many customers per tier?\"\n  gatehouse plan --source sales --role analyst --explain \"revenue by month\"\n  gatehouse plan --planner offline --batch - < questions.jsonl\n\nA line of a batch is {\"id\", \"db\", \"question\"}; db is a SQLite file."
)]
pub struct Plan {
    #[command(flatten)]
    pub data: Data,
    /// A dataset's id, or a file: SQLite, CSV, Parquet or JSON
    #[arg(long, value_name = "FILE_OR_NAME", required_unless_present = "batch")]
    pub source: Option<String>,
    #[arg(long, default_value = "offline", value_parser = ["offline"])]
    pub planner: String,
    /// Plan as this role sees the source
    #[arg(long, default_value = "admin")]
    pub role: String,
    /// Show what each word may mean, with scores, the reading that won and the one that came next
    #[arg(long, conflicts_with = "batch")]
    pub explain: bool,
    /// Read questions as JSON lines from FILE, or from stdin with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "question"])]
    pub batch: Option<String>,
    #[arg(long)]
    pub json: bool,
    #[arg(required_unless_present = "batch")]
    pub question: Option<String>,
}

const EVAL_HELP: &str = "\
Examples:
  gatehouse eval demo/questions.jsonl --data data
  gatehouse eval questions.jsonl --source shop.sqlite --min-right 0.6 --min-precision 0.9
  gatehouse eval questions.jsonl --source shop.sqlite --planner claude --json

A line is {\"question\", …} with what is right: \"sql\" (a query that gives the answer), \"rows\", \"refuse\": true or
\"clarify\": true. It may name its \"dataset\" or \"db\" (a SQLite file beside the questions), a \"shape\" to count it under,
and \"ordered\": true.

A model is asked as the settings of --data or --config and the environment say. The rows of its last statement are its
answer; one without rows counts as refused, or as asked back if it ends in a question mark.

Exit code 1: fewer right than `--min-right`, `--min-precision` or `--min-withheld` ask for.";

/// A part of one.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share is a number from 0 to 1".to_owned()),
    }
}

#[derive(Args)]
#[command(after_help = EVAL_HELP)]
pub struct Eval {
    /// JSON lines
    pub questions: PathBuf,
    #[command(flatten)]
    pub data: Data,
    /// A dataset's id, or a file, for lines that name none
    #[arg(long, value_name = "FILE_OR_NAME")]
    pub source: Option<String>,
    /// Who answers, as the setting `planner` names it: `offline`, `claude`, `claude-code`, `openai` or `auto`
    #[arg(long, value_name = "NAME", default_value = "offline")]
    pub planner: String,
    /// Ask as this role
    #[arg(long, default_value = "admin")]
    pub role: String,
    /// Ask `synonym_question` where a line has one, and leave out lines without
    #[arg(long)]
    pub synonyms: bool,
    /// The least share of all questions that must be right, 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    pub min_right: f64,
    /// The least share of answered questions that must be right, 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    pub min_precision: f64,
    /// The least share of questions to refuse or to ask back on that must have been, 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    pub min_withheld: f64,
    /// Everything, with the verdict on each question
    #[arg(long)]
    pub json: bool,
}

#[derive(Subcommand)]
pub enum Audit {
    /// Walk the whole chain and its signed heads
    Verify {
        #[command(flatten)]
        data: Data,
        #[arg(long)]
        json: bool,
    },
    /// Write every entry to stdout as a line of JSON: its text as it was hashed, and both hashes
    Export {
        #[command(flatten)]
        data: Data,
    },
}

#[derive(Args)]
pub struct Doctor {
    #[command(flatten)]
    pub data: Data,
    #[arg(long)]
    pub json: bool,
}

#[derive(Subcommand)]
pub enum Config {
    /// Show every setting
    Show {
        #[command(flatten)]
        data: Data,
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
pub enum Schema {
    /// Of a contract
    Contract,
    /// Of a plan of Records
    ChangePlan,
    /// Of a QueryPlan
    QueryPlan,
}
