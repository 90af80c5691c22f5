//! The settings, as the rest of the house reads them.

use super::SourceConfig;
use domain::{Limits, Names};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be set. All paths are absolute.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where all state is.
    pub data: PathBuf,
    /// The file that was named instead of `gatehouse.toml`.
    pub file: Option<PathBuf>,
    pub server: Server,
    pub tls: Option<Tls>,
    pub log: Log,
    pub planner: PlannerChoice,
    pub model: Model,
    pub records: Records,
    /// Tokens that somebody else signs.
    pub jwt: Jwt,
    /// How actors are written.
    pub names: Names,
    pub datasets_dir: PathBuf,
    pub contracts_dir: PathBuf,
    pub analyst: Analyst,
    pub audit: Audit,
    pub ledger: Ledger,
    /// Of one statement.
    pub limits: Limits,
    /// Of one actor.
    pub requests: Rate,
    /// What all actors of a role may send together, by role.
    pub role_requests: BTreeMap<String, Rate>,
    /// The longest question, in characters.
    pub question_chars: usize,
    /// Workers, and what each may use.
    pub engines: engines::Settings,
    /// Whom workers run as when the server is root.
    pub sandbox_user: Option<String>,
    /// The image of the containers that workers run in, instead of the native sandbox.
    pub sandbox_image: Option<String>,
    pub scan: Scan,
    pub ops: Ops,
    pub sources: Vec<SourceConfig>,
}

#[derive(Debug, Clone)]
pub struct Server {
    pub listen: SocketAddr,
    /// Names, besides loopback and the address itself, that a `Host` header may have.
    pub hosts: Vec<String>,
    pub behind_proxy: bool,
    pub body_limit_bytes: usize,
    pub header_timeout: Duration,
}

/// PEM files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    pub cert: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, Clone, Copy)]
pub struct Log {
    pub level: tracing::Level,
    pub format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Pretty,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannerChoice {
    /// Claude with a key, else offline.
    Auto,
    /// Anthropic's Messages API.
    Claude,
    /// The agent CLI `claude`, with our own tools and no others.
    ClaudeCode,
    /// Any server that speaks chat completions.
    OpenAi,
    /// Embedded: no model, no network.
    Offline,
}

/// The model that plans, where a planner asks one.
#[derive(Debug, Clone)]
pub struct Model {
    pub name: String,
    pub claude_key: Option<Secret>,
    pub claude_url: String,
    /// The agent CLI.
    pub claude_program: String,
    pub openai_key: Option<Secret>,
    pub openai_url: String,
    /// Calls of the model for one question.
    pub max_turns: u32,
    /// For one question.
    pub max_budget_usd: f64,
    /// For one question in all.
    pub timeout: Duration,
    /// Prices that go before our own.
    pub prices: Option<PathBuf>,
}

/// How instructions are planned (spec 002 §10).
#[derive(Debug, Clone, Default)]
pub struct Records {
    /// How sure a write's route must be.
    pub write_confidence: f64,
    /// Resources that are handed on to the planner, and where a join is implied.
    pub router_resources: usize,
    pub router_resources_joined: usize,
    /// Asked where the rules are not sure.
    pub router_model: Option<String>,
    /// Plans that are kept.
    pub intent_cache: usize,
}

/// Tokens that somebody else signs, and what they must say. Without a key none is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jwt {
    /// Shared with whoever signs, for HS256.
    pub secret: Option<Secret>,
    /// Public keys, for RS256 and ES256.
    pub jwks: Option<Jwks>,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    /// Where a token names its actor and their role: a claim, or a path of claims with dots.
    pub actor_claim: String,
    pub role_claim: String,
    /// How far clocks may be apart.
    pub leeway: Duration,
}

/// Where public keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Jwks {
    File(PathBuf),
    Url(String),
}

impl Default for Jwt {
    fn default() -> Self {
        Self {
            secret: None,
            jwks: None,
            issuer: None,
            audience: None,
            actor_claim: "sub".to_owned(),
            role_claim: "role".to_owned(),
            leeway: Duration::from_secs(30),
        }
    }
}

/// Shown to nobody, not even by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub(super) String);

impl Secret {
    #[cfg(test)]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// The door of spec 000.
#[derive(Debug, Clone)]
pub struct Analyst {
    /// The database behind `claude-da/analyst`. It need not exist where nobody named it.
    pub db_path: PathBuf,
    /// For one request in all.
    pub timeout: Duration,
}

impl Analyst {
    /// What `db_path` is when nobody says otherwise.
    pub const USUAL_NAME: &str = "demo.db";
}

/// The door of spec 004 (its §10.4).
#[derive(Debug, Clone, Copy)]
pub struct Scan {
    /// Rows, bytes and seconds of one scan.
    pub limits: Limits,
    /// Of one actor.
    pub max_concurrent_per_user: u64,
    pub max_daily_bytes_per_user: u64,
    /// US$ for each TB that BigQuery reads.
    pub bq_cost_per_tb_usd: f64,
    pub catalog_ttl: Duration,
    pub schema_ttl: Duration,
    pub sample_ttl: Duration,
    /// Results kept to be sent again.
    pub result_cache_bytes: u64,
    /// The largest hot copy; none are made of 0.
    pub hot_copy_bytes: u64,
}

/// The door of spec 003.
#[derive(Debug, Clone, Default)]
pub struct Ops {
    /// How long a script may wait for approval.
    pub approval: Duration,
    /// How long an approved one may wait for its device.
    pub package: Duration,
    /// How long a device may keep one without telling its end before it can fetch it again.
    pub lease: Duration,
    /// How long a code to enrol with is good.
    pub code: Duration,
    pub scripts: policy::script::ScriptSettings,
    /// Addresses that are not taken out of diagnostics.
    pub keep: policy::redact::Keep,
    /// Where what a model wrote lately is kept.
    pub redis: Option<Secret>,
}

/// The JSON lines of spec 000 §REQ-06.
#[derive(Debug, Clone)]
pub struct Audit {
    pub output: AuditOutput,
    pub file: PathBuf,
    /// Whole results instead of summaries.
    pub verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditOutput {
    Stdout,
    File,
    Both,
}

/// A file, unless an address of a database is given, or a file that holds one.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub path: PathBuf,
    pub url: Option<Secret>,
    pub url_file: Option<PathBuf>,
    /// Whom certificates of the database are checked against, instead of whom the system trusts.
    pub ca_file: Option<PathBuf>,
    /// How long a request waits for a database that is away.
    pub wait: Duration,
    /// How long a server gives no sign of life before others take it for dead.
    pub lease: Duration,
    /// After so many days the text of a run goes; its entry in the audit chain stays.
    pub keep_days: u32,
    /// The most that is kept of a result.
    pub result_bytes: usize,
    /// Space on the disk of the ledger that new work may not use.
    pub reserve_bytes: u64,
    /// How often the head of the audit chain is signed.
    pub head_interval: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub per_second: NonZeroU32,
    /// How many may come at once.
    pub burst: NonZeroU32,
}

impl Config {
    /// What the table's defaults are then written over; nothing here is a default of its own.
    pub(super) fn blank(data: PathBuf) -> Self {
        Self {
            data,
            file: None,
            server: Server {
                listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                hosts: Vec::new(),
                behind_proxy: false,
                body_limit_bytes: 0,
                header_timeout: Duration::ZERO,
            },
            tls: None,
            log: Log { level: tracing::Level::INFO, format: LogFormat::Pretty },
            planner: PlannerChoice::Auto,
            model: Model {
                name: String::new(),
                claude_key: None,
                claude_url: String::new(),
                claude_program: String::new(),
                openai_key: None,
                openai_url: String::new(),
                max_turns: 0,
                max_budget_usd: 0.0,
                timeout: Duration::ZERO,
                prices: None,
            },
            records: Records::default(),
            datasets_dir: PathBuf::new(),
            contracts_dir: PathBuf::new(),
            analyst: Analyst { db_path: PathBuf::new(), timeout: Duration::ZERO },
            audit: Audit { output: AuditOutput::Stdout, file: PathBuf::new(), verbose: false },
            ledger: Ledger {
                path: PathBuf::new(),
                url: None,
                url_file: None,
                ca_file: None,
                wait: Duration::ZERO,
                lease: Duration::ZERO,
                keep_days: 0,
                result_bytes: 0,
                reserve_bytes: 0,
                head_interval: Duration::ZERO,
            },
            limits: Limits { rows: 0, bytes: 0, seconds: 0 },
            requests: Rate { per_second: NonZeroU32::MIN, burst: NonZeroU32::MIN },
            role_requests: BTreeMap::new(),
            question_chars: 0,
            engines: engines::Settings::default(),
            sandbox_user: None,
            sandbox_image: None,
            jwt: Jwt::default(),
            names: Names::default(),
            scan: Scan {
                limits: Limits { rows: 0, bytes: 0, seconds: 0 },
                max_concurrent_per_user: 0,
                max_daily_bytes_per_user: 0,
                bq_cost_per_tb_usd: 0.0,
                catalog_ttl: Duration::ZERO,
                schema_ttl: Duration::ZERO,
                sample_ttl: Duration::ZERO,
                result_cache_bytes: 0,
                hot_copy_bytes: 0,
            },
            ops: Ops::default(),
            sources: Vec::new(),
        }
    }
}
