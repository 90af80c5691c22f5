//! The table of settings. Everything else in this module follows from it.

use super::given::{Given, Origin};
use super::rates::{rate, role_rates};
use super::types::{Analyst, AuditOutput, Config, Jwks, LogFormat, PlannerChoice, Secret};
use domain::{Names, Origin as From};
use std::path::Path;
use tracing::Level;

/// One row: what a setting is called, what it means, and how it is read.
pub struct Setting {
    pub key: &'static str,
    /// The names that the specs give it, besides `GATEHOUSE_…`.
    aliases: &'static [&'static str],
    pub flag: Option<&'static str>,
    /// As text; empty where it is not set unless somebody sets it.
    pub default: &'static str,
    pub doc: &'static str,
    pub apply: Apply,
    /// Never shown.
    pub secret: bool,
}

type Apply = fn(&mut Config, &Given) -> Result<(), String>;

impl Setting {
    /// The environment variables that set it, the one named after its key first.
    pub fn variables(&self) -> Vec<String> {
        let own = format!("GATEHOUSE_{}", self.key.replace('.', "_").to_uppercase());
        std::iter::once(own).chain(self.aliases.iter().map(|alias| (*alias).to_owned())).collect()
    }

    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }
}

const fn setting(key: &'static str, default: &'static str, doc: &'static str, apply: Apply) -> Setting {
    Setting { key, aliases: &[], flag: None, default, doc, apply, secret: false }
}

const MIB: i64 = 1024 * 1024;
const DAY: i64 = 24 * 60 * 60;

#[rustfmt::skip]
pub static SETTINGS: &[Setting] = &[
    setting("planner", "auto",
        "Who turns questions into answers: `claude` (the Messages API), `claude-code` (the agent CLI), `openai` (any server \
         that speaks chat completions), `offline` (embedded, no model, no network) or `auto` (Claude with a key, else \
         offline). `serve` without `--demo` takes `claude` where nobody says anything.",
        |c, g| g.one_of(PLANNERS).map(|v| c.planner = v)).flag("--planner"),

    setting("model.name", "claude-sonnet-5-5",
        "The model that is asked, as its server calls it.",
        |c, g| g.words().map(|v| c.model.name = v.to_owned())).alias(&["CLAUDE_DA_MODEL"]),
    setting("model.claude_key", "",
        "Key of Anthropic's API.",
        |c, g| key(g).map(|v| c.model.claude_key = Some(v))).alias(&["ANTHROPIC_API_KEY"]).secret(),
    setting("model.claude_url", planner::Model::CLAUDE_URL,
        "Where the Messages API is.",
        |c, g| url(g).map(|v| c.model.claude_url = v)).alias(&["ANTHROPIC_BASE_URL"]),
    setting("model.claude_program", "claude",
        "The agent CLI of the planner `claude-code`: a name to be found in `PATH`, or a path.",
        |c, g| g.words().map(|v| c.model.claude_program = v.to_owned())),
    setting("model.openai_key", "",
        "Key of the server of the planner `openai`, if it wants one.",
        |c, g| key(g).map(|v| c.model.openai_key = Some(v))).alias(&["OPENAI_API_KEY"]).secret(),
    setting("model.openai_url", "http://127.0.0.1:11434/v1",
        "Where the server of the planner `openai` is, with its `/v1`.",
        |c, g| url(g).map(|v| c.model.openai_url = v)).alias(&["OPENAI_BASE_URL"]),
    setting("model.max_turns", "10",
        "Calls of the model for one question. On the last it answers with what it has.",
        |c, g| g.number(1..=100).map(|v| c.model.max_turns = v)).alias(&["CLAUDE_DA_MAX_TURNS"]),
    setting("model.max_budget_usd", "0.50",
        "US$ that one question may cost, checked before each call where the model's price is known.",
        |c, g| g.fraction(0.001..=1000.0).map(|v| c.model.max_budget_usd = v)).alias(&["CLAUDE_DA_MAX_BUDGET_USD"]),
    setting("model.timeout_seconds", "240",
        "Seconds that one question may take in all, its queries included.",
        |c, g| g.seconds(1..=3600).map(|v| c.model.timeout = v)),
    setting("model.prices", "",
        "A TOML file of prices that go before those of this version; docs/OPERATIONS.md shows its form.",
        |c, g| g.path(&c.data).map(|v| c.model.prices = Some(v))),

    setting("records.write_confidence", "0.80",
        "How sure the router must be of a write (spec 002 §3.2); below it one question is asked back.",
        |c, g| g.fraction(0.0..=1.0).map(|v| c.records.write_confidence = v)),
    setting("records.router_resources", "2",
        "Resources whose contracts are handed to the planner of an instruction.",
        |c, g| g.number(1..=10).map(|v| c.records.router_resources = v)),
    setting("records.router_resources_joined", "3",
        "The same, where the instruction implies a join.",
        |c, g| g.number(1..=10).map(|v| c.records.router_resources_joined = v)),
    setting("records.router_model", "",
        "A small model that is asked for a route where the rules are not sure, on the server of the planner in use.",
        |c, g| g.words().map(|v| c.records.router_model = Some(v.to_owned()))),
    setting("records.intent_cache", "4096",
        "Plans of instructions that are kept, without their literals.",
        |c, g| g.number(1..=1_000_000).map(|v| c.records.intent_cache = v)),

    setting("server.listen", "127.0.0.1:8080",
        "Where to listen; port 0 takes a free one. What other machines can reach needs TLS or `server.behind_proxy`.",
        |c, g| g.address().map(|v| c.server.listen = v)).alias(&["GATEHOUSE_LISTEN"]).flag("--listen"),
    setting("server.hosts", "",
        "Names, without port, that requests may have in `Host` and `Origin` besides loopback and `server.listen`.",
        |c, g| hosts(g).map(|v| c.server.hosts = v)),
    setting("server.behind_proxy", "false",
        "A proxy in front ends TLS: allows a reachable address without TLS here.",
        |c, g| g.switch().map(|v| c.server.behind_proxy = v)).flag("--behind-proxy"),
    setting("server.body_limit_bytes", "1048576",
        "The largest request body, in bytes.",
        |c, g| g.number(1024..=64 * MIB).map(|v| c.server.body_limit_bytes = v)),
    setting("server.header_timeout_seconds", "10",
        "How long a client may take to send its headers.",
        |c, g| g.seconds(1..=300).map(|v| c.server.header_timeout = v)),

    setting("tls.cert", "",
        "Certificate chain, a PEM file. Needs `tls.key`.",
        |c, g| g.path(&c.data).map(|v| c.tls.get_or_insert_default().cert = v)),
    setting("tls.key", "",
        "Private key of the certificate, a PEM file. Needs `tls.cert`.",
        |c, g| g.path(&c.data).map(|v| c.tls.get_or_insert_default().key = v)),

    setting("auth.jwt_secret", "",
        "Secret that JWTs are signed with (HS256), 32 bytes or more. Where neither it nor `auth.jwks` is set, no JWT is taken.",
        |c, g| shared(g).map(|v| c.jwt.secret = Some(v))).alias(&["SUPABASE_JWT_SECRET"]).secret(),
    setting("auth.jwks", "",
        "Public keys that JWTs are signed with (RS256, ES256): a file, or an `https` address. New keys are taken up.",
        |c, g| jwks(g, &c.data).map(|v| c.jwt.jwks = Some(v))),
    setting("auth.jwt_issuer", "",
        "The `iss` that a JWT must have. Without it the issuer is not looked at: set it where the keys sign for others too.",
        |c, g| g.words().map(|v| c.jwt.issuer = Some(v.to_owned()))),
    setting("auth.jwt_audience", "",
        "The `aud` that a JWT must have, alone or among others. Without it the audience is not looked at: set it where the \
         keys sign for other services too.",
        |c, g| g.words().map(|v| c.jwt.audience = Some(v.to_owned()))),
    setting("auth.actor_claim", "sub",
        "Where a JWT says who it is: a claim, or a path like `user.email`.",
        |c, g| g.words().map(|v| c.jwt.actor_claim = v.to_owned())),
    setting("auth.role_claim", "role",
        "Where a JWT says its role: a claim, or a path like `app_metadata.role`.",
        |c, g| g.words().map(|v| c.jwt.role_claim = v.to_owned())),
    setting("auth.bare_origin", "token",
        "Whose actors are written without a prefix: `token`, those of this house's own tokens (a JWT's are then `jwt:SUBJECT`), or \
         `jwt` (those of tokens are then `token:NAME`).",
        |c, g| g.one_of(ORIGINS).map(|v| c.names = v)),
    setting("auth.leeway_seconds", "30",
        "How far the clock of whoever signs JWTs may be from this one.",
        |c, g| g.seconds(0..=600).map(|v| c.jwt.leeway = v)),

    setting("log.level", "info",
        "`error`, `warn`, `info`, `debug` or `trace`.",
        |c, g| g.one_of(LEVELS).map(|v| c.log.level = v)).alias(&["LOG_LEVEL"]),
    setting("log.format", "pretty",
        "`pretty` for people, `json` for machines: one object a line.",
        |c, g| g.one_of(&[("pretty", LogFormat::Pretty), ("json", LogFormat::Json)]).map(|v| c.log.format = v)),

    setting("datasets.dir", "datasets",
        "Directory of the datasets and their `registry.json`.",
        |c, g| g.path(&c.data).map(|v| c.datasets_dir = v)).alias(&["DATASETS_DIR"]),

    setting("analyst.db_path", Analyst::USUAL_NAME,
        "The SQLite database of the model `claude-da/analyst`; may be one that is a dataset too. The server does not start \
         if it is writable for workers, or is set and cannot be read.",
        |c, g| g.path(&c.data).map(|v| c.analyst.db_path = v)).alias(&["CLAUDE_DA_DB_PATH"]),
    setting("analyst.timeout_seconds", "240",
        "Seconds that one request of the Analyst may take in all.",
        |c, g| g.seconds(1..=3600).map(|v| c.analyst.timeout = v)),

    setting("audit.output", "stdout",
        "Where the Analyst's audit lines go: `stdout`, `file` or `both`.",
        |c, g| g.one_of(AUDIT_OUTPUTS).map(|v| c.audit.output = v)).alias(&["CLAUDE_DA_LOG_OUTPUT"]),
    setting("audit.file", "claude-da-audit.jsonl",
        "The file of the audit lines, JSON Lines, opened anew on SIGHUP.",
        |c, g| g.path(&c.data).map(|v| c.audit.file = v)).alias(&["CLAUDE_DA_LOG_FILE"]),
    setting("audit.verbose", "false",
        "Whole results in audit lines, instead of row counts and column names.",
        |c, g| g.switch().map(|v| c.audit.verbose = v)).alias(&["CLAUDE_DA_LOG_VERBOSE"]),

    setting("contracts.dir", "contracts",
        "Directory of the contracts, one YAML file a resource.",
        |c, g| g.path(&c.data).map(|v| c.contracts_dir = v)),

    setting("ledger.path", "ledger.sqlite",
        "The SQLite file of runs, audit chain and tokens, unless they are in Postgres.",
        |c, g| g.path(&c.data).map(|v| c.ledger.path = v)).alias(&["CAPSULE_DB_PATH"]),
    setting("ledger.url", "",
        "A Postgres database for runs, audit chain and tokens, which several servers share: \
         `postgres://user:password@host:5432/database`. Given by the variable only, or by `ledger.url_file`.",
        |c, g| key(g).map(|v| c.ledger.url = Some(v))).secret(),
    setting("ledger.url_file", "",
        "A file that holds `ledger.url`, as secret stores mount them.",
        |c, g| g.path(&c.data).map(|v| c.ledger.url_file = Some(v))),
    setting("ledger.ca_file", "",
        "Certificates, a PEM file, that the one of the database is checked against. Not set: whom the system trusts.",
        |c, g| g.path(&c.data).map(|v| c.ledger.ca_file = Some(v))),
    setting("ledger.wait_seconds", "10",
        "How long a request waits for a ledger in Postgres that is away, before it fails.",
        |c, g| g.seconds(1..=300).map(|v| c.ledger.wait = v)),
    setting("ledger.lease_seconds", "15",
        "How long a server that shares a ledger in Postgres gives no sign of life before the others settle what it left \
         under way.",
        |c, g| g.seconds(1..=3600).map(|v| c.ledger.lease = v)),
    setting("ledger.keep_days", "365",
        "Days after which the text of a run is removed. Its entry in the audit chain stays.",
        |c, g| g.number(1..=36_500).map(|v| c.ledger.keep_days = v)),
    setting("ledger.result_bytes", "65536",
        "Bytes that are kept of a result, as JSON: of a larger one its first rows, its number of rows, and size and digest \
         of the whole. Replies carry it whole.",
        |c, g| g.number(1024..=16 * MIB).map(|v| c.ledger.result_bytes = v)),
    setting("ledger.reserve_bytes", "268435456",
        "Space on the disk of the ledger's file that is left to records of work under way, or 5 % of the disk where that is \
         less. With less than that free, new work is refused (`ledger.disk_nearly_full`); with less than four times as much, \
         `doctor` warns.",
        |c, g| g.number(0..=1024 * 1024 * MIB).map(|v| c.ledger.reserve_bytes = v)),
    setting("ledger.head_interval_seconds", "60",
        "How often the head of the audit chain is signed.",
        |c, g| g.seconds(1..=DAY).map(|v| c.ledger.head_interval = v)),

    setting("limits.rows", "1000",
        "Rows that one statement may give.",
        |c, g| g.number(1..=1_000_000).map(|v| c.limits.rows = v)).alias(&["MAX_ROWS"]),
    setting("limits.bytes", "16777216",
        "Bytes of Arrow that one statement may give.",
        |c, g| g.number(1024..=1024 * MIB).map(|v| c.limits.bytes = v)),
    setting("limits.seconds", "30",
        "Seconds that one statement may take; then its worker is killed.",
        |c, g| g.number(1..=3600).map(|v| c.limits.seconds = v)).alias(&["RUN_TIMEOUT_SECONDS"]),
    setting("limits.requests_per_second", "50",
        "Requests that one actor may send, on average.",
        |c, g| rate(g).map(|v| c.requests.per_second = v)),
    setting("limits.burst", "100",
        "Requests that one actor may send at once.",
        |c, g| rate(g).map(|v| c.requests.burst = v)),
    setting("limits.roles", "",
        "Requests that all actors of a role may send together: `agent=200/400` is 200 each second on average, and 400 at once. \
         Roles that are not named have no limit of their own.",
        |c, g| role_rates(g).map(|v| c.role_requests = v)),
    setting("limits.question_chars", "10000",
        "The longest question, in characters.",
        |c, g| g.number(1..=1_000_000).map(|v| c.question_chars = v)).alias(&["CLAUDE_DA_INPUT_MAX_CHARS"]),

    setting("engines.concurrency", "6",
        "Statements that run at the same time; others wait. A third of them is for statements that take less than 100 ms.",
        |c, g| g.number(1..=1024).map(|v| c.engines.concurrency = v)),
    setting("engines.warm_workers", "8",
        "Idle workers that are kept, over all sources and roles.",
        |c, g| g.number(0..=1024).map(|v| c.engines.warm = v)),
    setting("engines.queue_seconds", "10",
        "How long a statement may wait for its turn.",
        |c, g| g.seconds(1..=600).map(|v| c.engines.queue = v)),
    setting("engines.worker_max_age_seconds", "600",
        "The age at which a worker is replaced.",
        |c, g| g.seconds(1..=DAY).map(|v| c.engines.worker_max_age = v)),
    setting("engines.worker_max_statements", "1000",
        "The number of statements after which a worker is replaced.",
        |c, g| g.number(1..=1_000_000).map(|v| c.engines.worker_max_statements = v)),
    setting("engines.strict", "false",
        "One statement, one worker: nothing of a statement can outlive it.",
        |c, g| g.switch().map(|v| c.engines.strict = v)),

    setting("api.scan.max_limit", "10000000",
        "Rows that one scan may give.",
        |c, g| g.number(1..=1_000_000_000_000).map(|v| c.scan.limits.rows = v)),
    setting("api.scan.max_result_bytes", "2147483648",
        "Bytes that one scan may give; a longer result is cut and marked as truncated.",
        |c, g| g.number(1024..=1024 * 1024 * MIB).map(|v| c.scan.limits.bytes = v)),
    setting("api.scan.max_concurrent_per_user", "5",
        "Scans that one actor may have under way.",
        |c, g| g.number(1..=1024).map(|v| c.scan.max_concurrent_per_user = v)),
    setting("api.scan.max_daily_bytes_per_user", "53687091200",
        "Bytes that one actor may fetch between two midnights, UTC. Kept in the ledger.",
        |c, g| g.number(1..=1024 * 1024 * 1024 * MIB).map(|v| c.scan.max_daily_bytes_per_user = v)),
    setting("api.scan.bq_cost_per_tb_usd", "5.00",
        "What BigQuery takes for a TB read, for estimates.",
        |c, g| g.fraction(0.0..=1_000.0).map(|v| c.scan.bq_cost_per_tb_usd = v)),
    setting("api.scan.request_timeout_seconds", "300",
        "Seconds that one scan may take, slow readers included; then its worker is killed.",
        |c, g| g.number(1..=DAY).map(|v| c.scan.limits.seconds = v)),
    setting("api.scan.catalog_cache_ttl_seconds", "300",
        "How long a catalog is kept, unless policy or data change before.",
        |c, g| g.seconds(0..=DAY).map(|v| c.scan.catalog_ttl = v)),
    setting("api.scan.schema_cache_ttl_seconds", "3600",
        "How long a schema is kept, unless policy or data change before.",
        |c, g| g.seconds(0..=DAY).map(|v| c.scan.schema_ttl = v)),
    setting("api.scan.sample_cache_ttl_seconds", "3600",
        "How long a sample is kept, unless policy or data change before.",
        |c, g| g.seconds(0..=DAY).map(|v| c.scan.sample_ttl = v)),
    setting("api.scan.result_cache_mb", "64",
        "Memory for results that are sent again while neither data nor policy have changed, in MiB; 0 keeps none.",
        |c, g| g.number::<u64>(0..=1024 * 1024).map(|v| c.scan.result_cache_bytes = v << 20)),
    setting("api.scan.hot_copy_max_mb", "1024",
        "The largest copy of a table that a source calls `hot`, in MiB; 0 makes none. Making one takes as much memory for a while.",
        |c, g| g.number::<u64>(0..=1024 * 1024).map(|v| c.scan.hot_copy_bytes = v << 20)),
    setting("api.scan.workers", "8",
        "Scans that run at the same time, of all actors; others wait.",
        |c, g| g.number(1..=1024).map(|v| c.engines.scan.concurrency = v)),
    setting("api.scan.worker_cpus", "0",
        "Processors of a worker that scans; 0 stands for all there are.",
        |c, g| g.fraction(0.0..=1024.0).map(|v| scan_cpus(c, v))),
    setting("api.scan.worker_memory_mb", "1024",
        "Memory of a worker that scans, in MiB.",
        |c, g| g.number(128..=1024 * 1024).map(|v| with_memory(&mut c.engines.scan.jail, v))),

    setting("ops.approval_seconds", "86400",
        "How long a script waits for approval before it expires.",
        |c, g| g.seconds(0..=30 * DAY).map(|v| c.ops.approval = v)),
    setting("ops.package_seconds", "172800",
        "How long an approved script waits for its device before it expires; the device checks it too.",
        |c, g| g.seconds(0..=30 * DAY).map(|v| c.ops.package = v)),
    setting("ops.lease_seconds", "600",
        "How long a device may hold a script without telling its end before it can fetch it again. It never runs one twice.",
        |c, g| g.seconds(1..=DAY).map(|v| c.ops.lease = v)),
    setting("ops.code_seconds", "3600",
        "How long a code to enrol a device with is good.",
        |c, g| g.seconds(1..=30 * DAY).map(|v| c.ops.code = v)),
    setting("ops.max_timeout_seconds", "300",
        "The longest time that the manifest of a script may ask for.",
        |c, g| g.number(1..=DAY).map(|v| c.ops.scripts.max_timeout_seconds = v)).alias(&["AI_ORCH_MAX_TIMEOUT_SEC"]),
    setting("ops.allowed_binaries", "",
        "The only commands that scripts may use. Not set: those of the built-in table. One that the table does not know \
         makes the risk high.",
        |c, g| names(g).map(|v| c.ops.scripts.allowed_binaries = Some(v))).alias(&["AI_ORCH_ALLOWED_BINARIES"]),
    setting("ops.denied_binaries", "",
        "Commands that no script may use.",
        |c, g| names(g).map(|v| c.ops.scripts.denied_binaries = v)),
    setting("ops.deny_paths", "",
        "Paths that no script reads or writes, besides those that none ever may; `*` stands for anything.",
        |c, g| names(g).map(|v| c.ops.scripts.deny_paths = v)).alias(&["AI_ORCH_DENY_PATHS"]),
    setting("ops.permission_mode", "ask",
        "Scripts run after people have said yes: `ask` is the only mode there is.",
        |_, g| g.one_of(&[("ask", ())])).alias(&["AI_ORCH_PERMISSION_MODE"]),
    setting("ops.allowed_tools", "",
        "Tools that a model may use by itself while it analyses: there are none, and the list stays empty.",
        |_, g| no_tools(g)).alias(&["AI_ORCH_ALLOWED_TOOLS"]),
    setting("ops.keep_private_ips", "true",
        "Addresses of private networks stay in diagnostics: faults of routes can hardly be found without them.",
        |c, g| g.switch().map(|v| c.ops.keep.private_ips = v)),
    setting("ops.keep_public_ips", "false",
        "Other addresses stay in diagnostics too.",
        |c, g| g.switch().map(|v| c.ops.keep.public_ips = v)),
    setting("ops.redis_url", "",
        "A Redis that keeps scripts that a model wrote for a quarter of an hour, for all servers: the same question is not \
         asked twice. `redis://:password@host:6379/0` or `redis+unix:///path`, without TLS. Not set: each question is asked.",
        |c, g| key(g).map(|v| c.ops.redis = Some(v))).alias(&["AI_ORCH_REDIS_URL"]).secret(),

    setting("sandbox.user", "",
        "Whom workers run as when the server is root. Not set: `gatehouse` if there is such a user, else `nobody`.",
        |c, g| g.words().map(|v| c.sandbox_user = Some(v.to_owned()))),
    setting("sandbox.memory_mb", "512",
        "Memory of one worker, in MiB.",
        |c, g| g.number(128..=1024 * 1024).map(|v| memory(c, v))),
    setting("sandbox.processes", "64",
        "Processes and threads of one worker.",
        |c, g| g.number(8..=4096).map(|v| c.engines.jail.processes = v)),
    setting("sandbox.cpus", "0.5",
        "Processors of one worker; 0.5 is half of one.",
        |c, g| g.fraction(0.05..=1024.0).map(|v| c.engines.jail.cpus = v)),
    setting("sandbox.tmp_mb", "64",
        "Size of a worker's own `/tmp`, in MiB.",
        |c, g| g.number::<u64>(1..=64 * 1024).map(|v| c.engines.jail.tmp_bytes = v << 20)),
    setting("sandbox.image", "",
        "A container image to run workers in, by Docker, instead of the native sandbox. It must hold this program.",
        |c, g| image(g).map(|v| c.sandbox_image = Some(v))).alias(&["RUNNER_IMAGE"]),
];

const AUDIT_OUTPUTS: &[(&str, AuditOutput)] =
    &[("stdout", AuditOutput::Stdout), ("file", AuditOutput::File), ("both", AuditOutput::Both)];

const LEVELS: &[(&str, Level)] = &[
    ("error", Level::ERROR),
    ("warn", Level::WARN),
    ("warning", Level::WARN),
    ("info", Level::INFO),
    ("debug", Level::DEBUG),
    ("trace", Level::TRACE),
];

const ORIGINS: &[(&str, Names)] = &[("token", Names::bare(From::Token)), ("jwt", Names::bare(From::Jwt))];

const PLANNERS: &[(&str, PlannerChoice)] = &[
    ("auto", PlannerChoice::Auto),
    ("claude", PlannerChoice::Claude),
    ("claude-code", PlannerChoice::ClaudeCode),
    ("openai", PlannerChoice::OpenAi),
    ("offline", PlannerChoice::Offline),
];

/// Goes into a header as it is. The text is not repeated: it is a secret, if a misspelt one.
fn key(given: &Given) -> Result<Secret, String> {
    match given.words() {
        _ if matches!(given.origin(), Origin::File(_)) => {
            Err("is a secret, and this file is none: set the variable instead".to_owned())
        }
        Ok(key) if key.bytes().all(|b| b.is_ascii_graphic()) => Ok(Secret(key.to_owned())),
        _ => Err("is no key: it may hold letters, digits and signs, and no spaces".to_owned()),
    }
}

/// A secret that is short can be guessed from one token.
fn shared(given: &Given) -> Result<Secret, String> {
    let secret = key(given)?;
    match secret.expose().len() {
        0..32 => Err("is too short: 32 bytes or more".to_owned()),
        _ => Ok(secret),
    }
}

/// Over plain HTTP only from this machine: whoever is between could put in a key of their own.
fn jwks(given: &Given, data: &Path) -> Result<Jwks, String> {
    let text = given.words()?;
    let host = text.strip_prefix("http://").and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let named = |name: &&str| host.strip_prefix(*name).is_some_and(|port| port.is_empty() || port.starts_with(':'));
    let local = !host.contains('@') && ["127.0.0.1", "localhost", "[::1]"].iter().any(named);
    if text.starts_with("https://") || local {
        return url(given).map(Jwks::Url);
    }
    match text.starts_with("http://") {
        true => Err(format!("`{text}` can be changed on its way: use `https`")),
        false => given.path(data).map(Jwks::File),
    }
}

fn url(given: &Given) -> Result<String, String> {
    let url = given.words()?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    match rest.is_some_and(|rest| !rest.is_empty()) {
        true => Ok(url.to_owned()),
        false => Err(format!("`{url}` is not the address of a server: write it like `https://example.com`")),
    }
}

/// It becomes an argument of Docker's client, and must not become an option.
fn image(given: &Given) -> Result<String, String> {
    let image = given.words()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if image.starts_with(|c: char| c.is_ascii_alphanumeric()) && image.chars().all(plain) {
        return Ok(image.to_owned());
    }
    Err(format!("`{image}` is not the name of an image, such as `gatehouse-runner:1`"))
}

fn hosts(given: &Given) -> Result<Vec<String>, String> {
    let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
    let names = given.list()?;
    match names.iter().find(|name| !plain(name)) {
        Some(odd) => Err(format!("`{odd}` is not a host name: write it without scheme, port and path")),
        None => Ok(names.iter().map(|name| name.to_ascii_lowercase()).collect()),
    }
}

/// Names with commas between them, or a JSON array as spec 003 writes it.
fn names(given: &Given) -> Result<Vec<String>, String> {
    let list = given.list()?;
    match list.join(",") {
        text if text.trim_start().starts_with('[') => {
            serde_json::from_str(&text).map_err(|_| format!("`{text}` is not a list of names"))
        }
        _ => Ok(list),
    }
}

fn no_tools(given: &Given) -> Result<(), String> {
    match names(given)?.iter().all(String::is_empty) {
        true => Ok(()),
        false => Err("must be empty: a model that analyses has no tools".to_owned()),
    }
}

/// Address space comes with memory, in the proportion of the sandbox's own defaults.
fn memory(config: &mut Config, mebibytes: u64) {
    with_memory(&mut config.engines.jail, mebibytes);
}

fn scan_cpus(config: &mut Config, cpus: f64) {
    let all = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    config.engines.scan.jail.cpus = if cpus > 0.0 { cpus } else { f64::from(u32::try_from(all).unwrap_or(1)) };
}

fn with_memory(jail: &mut sandbox::JailLimits, mebibytes: u64) {
    jail.memory_bytes = mebibytes << 20;
    jail.address_space_bytes = jail.memory_bytes / 2 * 3;
}
