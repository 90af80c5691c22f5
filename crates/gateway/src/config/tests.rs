//! What comes of flags, variables and files; what is refused, and in which words.

use super::*;
use std::time::Duration;
use tempfile::TempDir;

type Loaded = Result<(Config, Vec<Shown>), Vec<ConfigError>>;

/// Loads from a file in a directory of its own and these variables.
fn load_with(file: &str, variables: &[(&str, &str)], flags: impl FnOnce(&mut Flags)) -> (Loaded, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    if !file.is_empty() {
        std::fs::write(dir.path().join("gatehouse.toml"), file).unwrap();
    }
    let mut said = Flags { data: dir.path().to_owned(), ..Flags::default() };
    flags(&mut said);
    let loaded = load(&said, |name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()));
    (loaded, dir)
}

fn good(file: &str, variables: &[(&str, &str)]) -> Config {
    load_with(file, variables, |_| {}).0.unwrap().0
}

/// Everything that is refused, one a line, without the name of the directory.
fn bad(file: &str, variables: &[(&str, &str)]) -> String {
    let (loaded, dir) = load_with(file, variables, |_| {});
    lines(&loaded.unwrap_err(), &dir)
}

fn lines(errors: &[ConfigError], dir: &TempDir) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n").replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn the_page_of_settings_is_current() {
    for (file, wanted) in [("docs/SETTINGS.md", markdown()), (".env.example", env_example())] {
        let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_SETTINGS").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == wanted, "{file} differs from the table: run this test with UPDATE_SETTINGS=1");
    }
}

/// The variables of spec 000 AC-07.1 that are settled here, and their defaults.
#[test]
fn the_analysts_variables_have_the_defaults_of_the_specification() {
    let (loaded, dir) = load_with("", &[], |_| {});
    let config = loaded.unwrap().0;
    assert_eq!(config.analyst.db_path, dir.path().join("demo.db"));
    assert_eq!(config.analyst.timeout, Duration::from_secs(240));
    assert_eq!(config.question_chars, 10_000);
    assert_eq!((config.audit.output, config.audit.verbose), (AuditOutput::Stdout, false));
    assert_eq!(config.audit.file, dir.path().join("claude-da-audit.jsonl"));
    let said = [
        ("CLAUDE_DA_DB_PATH", "/srv/shop.db"),
        ("CLAUDE_DA_INPUT_MAX_CHARS", "500"),
        ("CLAUDE_DA_LOG_OUTPUT", "Both"),
        ("CLAUDE_DA_LOG_FILE", "./log/audit.jsonl"),
        ("CLAUDE_DA_LOG_VERBOSE", "true"),
    ];
    let config = good("", &said);
    assert_eq!((config.analyst.db_path, config.question_chars), ("/srv/shop.db".into(), 500));
    assert_eq!((config.audit.output, config.audit.verbose), (AuditOutput::Both, true));
    assert!(config.audit.file.ends_with("log/audit.jsonl"));
    let wrong =
        [("CLAUDE_DA_INPUT_MAX_CHARS", "abc"), ("CLAUDE_DA_LOG_OUTPUT", "syslog"), ("CLAUDE_DA_LOG_VERBOSE", "loud")];
    insta::assert_snapshot!(bad("", &wrong), @r"
    environment CLAUDE_DA_LOG_OUTPUT: `audit.output`: `syslog` is not one of `stdout`, `file`, `both`
    environment CLAUDE_DA_LOG_VERBOSE: `audit.verbose`: `loud` is not `true` or `false`
    environment CLAUDE_DA_INPUT_MAX_CHARS: `limits.question_chars`: `abc` is not a whole number from 1 to 1000000
    ");
}

#[test]
fn every_setting_is_documented_and_named_once() {
    let mut keys: Vec<&str> = SETTINGS.iter().map(|s| s.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), SETTINGS.len());
    let mut variables: Vec<String> = SETTINGS.iter().flat_map(Setting::variables).collect();
    let count = variables.len();
    variables.sort_unstable();
    variables.dedup();
    assert_eq!(variables.len(), count);
    let all = Flags { listen: Some("x".into()), behind_proxy: true, planner: Some("x".into()), ..Flags::default() };
    for setting in SETTINGS {
        assert!(setting.flag.is_none_or(|flag| all.said(flag).is_some()), "{}", setting.key);
        assert!(setting.doc.ends_with('.') && !setting.doc.contains('|'), "{}", setting.key);
    }
}

#[test]
fn without_anything_the_defaults_hold() {
    let (loaded, dir) = load_with("", &[], |_| {});
    let (config, shown) = loaded.unwrap();
    assert_eq!(config.limits, domain::Limits::default());
    let (ours, theirs) = (&config.engines, engines::Settings::default());
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    assert_eq!(config.ledger.path, dir.path().join("ledger.sqlite"));
    assert_eq!(config.server.header_timeout, Duration::from_secs(10));
    assert!(shown.iter().all(|s| s.origin == "default"));
    insta::assert_snapshot!(text(&shown, false), @r"
    planner                             auto
    model.name                          claude-sonnet-5-5
    model.claude_key                    (not set)
    model.claude_url                    https://api.anthropic.com
    model.claude_program                claude
    model.openai_key                    (not set)
    model.openai_url                    http://127.0.0.1:11434/v1
    model.max_turns                     10
    model.max_budget_usd                0.50
    model.timeout_seconds               240
    model.prices                        (not set)
    records.write_confidence            0.80
    records.router_resources            2
    records.router_resources_joined     3
    records.router_model                (not set)
    records.intent_cache                4096
    server.listen                       127.0.0.1:8080
    server.hosts                        (not set)
    server.behind_proxy                 false
    server.body_limit_bytes             1048576
    server.header_timeout_seconds       10
    tls.cert                            (not set)
    tls.key                             (not set)
    auth.jwt_secret                     (not set)
    auth.jwks                           (not set)
    auth.jwt_issuer                     (not set)
    auth.jwt_audience                   (not set)
    auth.actor_claim                    sub
    auth.role_claim                     role
    auth.leeway_seconds                 30
    log.level                           info
    log.format                          pretty
    datasets.dir                        datasets
    analyst.db_path                     demo.db
    analyst.timeout_seconds             240
    audit.output                        stdout
    audit.file                          claude-da-audit.jsonl
    audit.verbose                       false
    contracts.dir                       contracts
    ledger.path                         ledger.sqlite
    ledger.url                          (not set)
    ledger.url_file                     (not set)
    ledger.ca_file                      (not set)
    ledger.wait_seconds                 10
    ledger.lease_seconds                15
    ledger.keep_days                    365
    ledger.head_interval_seconds        60
    limits.rows                         1000
    limits.bytes                        16777216
    limits.seconds                      30
    limits.requests_per_second          50
    limits.burst                        100
    limits.roles                        (not set)
    limits.question_chars               10000
    engines.concurrency                 4
    engines.warm_workers                8
    engines.queue_seconds               10
    engines.worker_max_age_seconds      600
    engines.worker_max_statements       1000
    engines.strict                      false
    api.scan.max_limit                  10000000
    api.scan.max_result_bytes           2147483648
    api.scan.max_concurrent_per_user    5
    api.scan.max_daily_bytes_per_user   53687091200
    api.scan.bq_cost_per_tb_usd         5.00
    api.scan.request_timeout_seconds    300
    api.scan.catalog_cache_ttl_seconds  300
    api.scan.schema_cache_ttl_seconds   3600
    api.scan.sample_cache_ttl_seconds   3600
    api.scan.result_cache_mb            64
    api.scan.hot_copy_max_mb            1024
    api.scan.workers                    8
    api.scan.worker_cpus                0
    api.scan.worker_memory_mb           1024
    ops.approval_seconds                86400
    ops.package_seconds                 172800
    ops.lease_seconds                   600
    ops.code_seconds                    3600
    ops.max_timeout_seconds             300
    ops.allowed_binaries                (not set)
    ops.denied_binaries                 (not set)
    ops.deny_paths                      (not set)
    ops.permission_mode                 ask
    ops.allowed_tools                   (not set)
    ops.keep_private_ips                true
    ops.keep_public_ips                 false
    ops.redis_url                       (not set)
    sandbox.user                        (not set)
    sandbox.memory_mb                   512
    sandbox.processes                   64
    sandbox.cpus                        0.5
    sandbox.tmp_mb                      64
    sandbox.image                       (not set)
    ");
}

#[test]
fn flags_before_environment_before_file_before_default() {
    let file = "[server]\nlisten = '127.0.0.1:1'";
    let variable = ("GATEHOUSE_SERVER_LISTEN", "127.0.0.1:2");
    let listen = |file, variables: &[(&str, &str)], flag: Option<&str>| {
        let (loaded, dir) = load_with(file, variables, |flags| flags.listen = flag.map(str::to_owned));
        let (config, shown) = loaded.unwrap();
        let origin = &shown.iter().find(|s| s.key == "server.listen").unwrap().origin;
        (config.server.listen.port(), origin.replace(&format!("{}/", dir.path().display()), ""))
    };
    assert_eq!(listen("", &[], None), (8080, "default".to_owned()));
    assert_eq!(listen(file, &[], None), (1, "file gatehouse.toml".to_owned()));
    assert_eq!(listen(file, &[variable], None), (2, "environment GATEHOUSE_SERVER_LISTEN".to_owned()));
    assert_eq!(listen(file, &[variable], Some("127.0.0.1:3")), (3, "flag --listen".to_owned()));
    assert_eq!(listen(file, &[("GATEHOUSE_LISTEN", "")], None), (1, "file gatehouse.toml".to_owned()));
}

#[test]
fn variables_of_the_specs_work_under_their_own_names() {
    let config = good(
        "",
        &[
            ("DATASETS_DIR", "/srv/datasets"),
            ("CAPSULE_DB_PATH", "runs.db"),
            ("RUN_TIMEOUT_SECONDS", "5"),
            ("MAX_ROWS", "7"),
            ("LOG_LEVEL", "WARNING"),
            ("RUNNER_IMAGE", "csv-analyst-runner:test"),
            ("GATEHOUSE_SERVER_HOSTS", "Data.Example.com, intranet"),
        ],
    );
    assert_eq!(config.datasets_dir, std::path::Path::new("/srv/datasets"));
    assert_eq!(config.ledger.path, config.data.join("runs.db"));
    assert_eq!((config.limits.seconds, config.limits.rows), (5, 7));
    assert_eq!(config.log.level, tracing::Level::WARN);
    assert_eq!(config.sandbox_image.as_deref(), Some("csv-analyst-runner:test"));
    assert_eq!(config.server.hosts, ["data.example.com", "intranet"]);
}

#[test]
fn every_value_of_a_file_arrives() {
    let config = good(
        r#"
        planner = "offline"
        [server]
        listen = "0.0.0.0:443"
        hosts = ["data.example.com"]
        [tls]
        cert = "tls/cert.pem"
        key = "/etc/key.pem"
        [log]
        format = "json"
        [limits]
        requests_per_second = 5
        burst = 6
        roles = ["agent=20/40", "lead = 1 / 2"]
        [sandbox]
        user = "worker"
        memory_mb = 1024
        cpus = 2
        tmp_mb = 1
        "#,
        &[],
    );
    assert_eq!(config.planner, PlannerChoice::Offline);
    assert_eq!(config.server.listen.to_string(), "0.0.0.0:443");
    assert_eq!(config.tls, Some(Tls { cert: config.data.join("tls/cert.pem"), key: "/etc/key.pem".into() }));
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!((config.requests.per_second.get(), config.requests.burst.get()), (5, 6));
    let roles =
        config.role_requests.iter().map(|(role, rate)| (role.as_str(), rate.per_second.get(), rate.burst.get()));
    assert_eq!(roles.collect::<Vec<_>>(), [("agent", 20, 40), ("lead", 1, 2)]);
    assert_eq!(config.sandbox_user.as_deref(), Some("worker"));
    let jail = config.engines.jail;
    assert_eq!((jail.memory_bytes, jail.address_space_bytes), (1 << 30, 3 << 29));
    assert_eq!((jail.cpus, jail.tmp_bytes), (2.0, 1 << 20));
}

#[test]
fn everything_wrong_is_said_at_once() {
    let file = r#"
        planer = "auto"
        listen = "127.0.0.1:1"
        log = "info"
        colour = true
        [server]
        behind_proxy = "yes"
        hosts = "data.example.com"
        [limits]
        rows = "1000"
        bytes = 10
        seconds = 1.5
        row = 5
        [telemetry]
        on = true
        [sandbox]
        cpus = 0
        user = ["a"]
        "#;
    let variables = [
        ("MAX_ROWS", "many"),
        ("GATEHOUSE_ENGINES_STRICT", "maybe"),
        ("RUN_TIMEOUT_SECONDS", "5"),
        ("GATEHOUSE_LIMITS_SECONDS", "6"),
        ("RUNNER_IMAGE", "--privileged"),
        ("GATEHOUSE_PLANNER", "oracle"),
        ("ANTHROPIC_API_KEY", "sk-ant a secret"),
        ("ANTHROPIC_BASE_URL", "api.example.com"),
        ("CLAUDE_DA_MAX_TURNS", "abc"),
        ("LOG_LEVEL", "loud"),
        ("GATEHOUSE_SERVER_LISTEN", "8080"),
    ];
    insta::assert_snapshot!(bad(file, &variables), @r#"
    file gatehouse.toml: `colour`: unknown key: see `gatehouse config show` for all of them
    file gatehouse.toml: `limits.row`: unknown key: did you mean `limits.rows`?
    file gatehouse.toml: `listen`: unknown key: did you mean `server.listen`?
    file gatehouse.toml: `log`: is a section: write `[log]` and its keys below
    file gatehouse.toml: `planer`: unknown key: did you mean `planner`?
    file gatehouse.toml: `telemetry`: unknown key: see `gatehouse config show` for all of them
    environment GATEHOUSE_PLANNER: `planner`: `oracle` is not one of `auto`, `claude`, `claude-code`, `openai`, `offline`
    environment ANTHROPIC_API_KEY: `model.claude_key`: is no key: it may hold letters, digits and signs, and no spaces
    environment ANTHROPIC_BASE_URL: `model.claude_url`: `api.example.com` is not the address of a server: write it like `https://example.com`
    environment CLAUDE_DA_MAX_TURNS: `model.max_turns`: `abc` is not a whole number from 1 to 100
    environment GATEHOUSE_SERVER_LISTEN: `server.listen`: `8080` is not an address with a port, such as `127.0.0.1:8080`
    file gatehouse.toml: `server.hosts`: the text `data.example.com` is not a list of texts, as in `["a", "b"]`
    file gatehouse.toml: `server.behind_proxy`: the text `yes` is not `true` or `false`
    environment LOG_LEVEL: `log.level`: `loud` is not one of `error`, `warn`, `warning`, `info`, `debug`, `trace`
    file gatehouse.toml: `limits.rows`: the text `1000` is not a whole number from 1 to 1000000
    environment MAX_ROWS: `limits.rows`: `many` is not a whole number from 1 to 1000000
    file gatehouse.toml: `limits.bytes`: `10` is not a whole number from 1024 to 1073741824
    environment RUN_TIMEOUT_SECONDS: `limits.seconds`: `GATEHOUSE_LIMITS_SECONDS` and `RUN_TIMEOUT_SECONDS` say different things: unset one of them
    file gatehouse.toml: `limits.seconds`: `1.5` is not a whole number from 1 to 3600
    environment GATEHOUSE_ENGINES_STRICT: `engines.strict`: `maybe` is not `true` or `false`
    file gatehouse.toml: `sandbox.user`: a list is not text
    file gatehouse.toml: `sandbox.cpus`: `0` is not a number from 0.05 to 1024
    environment RUNNER_IMAGE: `sandbox.image`: `--privileged` is not the name of an image, such as `gatehouse-runner:1`
    "#);
}

#[test]
fn rates_of_roles_that_are_wrong() {
    for given in ["agent", "agent=5", "=5/10", "agent=0/10", "agent=5/0", "agent=5/x", "agent=5/10,agent=6/12"] {
        let said = bad("", &[("GATEHOUSE_LIMITS_ROLES", given)]);
        assert!(said.contains("`limits.roles`: `"), "{given}: {said}");
    }
}

#[test]
fn a_reachable_address_needs_protection() {
    let cases = [
        ("127.0.0.1:80", true),
        ("[::1]:80", true),
        ("localhost:80", true),
        ("[::ffff:127.0.0.1]:80", true),
        ("0.0.0.0:80", false),
        ("[::]:80", false),
        ("192.0.2.1:80", false),
    ];
    for (address, loopback) in cases {
        let listen = [("GATEHOUSE_LISTEN", address)];
        assert_eq!(load_with("", &listen, |_| {}).0.is_ok(), loopback, "{address}");
        assert!(load_with("", &listen, |flags| flags.behind_proxy = true).0.is_ok(), "{address}");
        assert!(load_with("tls = {cert = 'c', key = 'k'}", &listen, |_| {}).0.is_ok(), "{address}");
    }
    insta::assert_snapshot!(bad("[tls]\ncert = 'c'", &[]), @"file gatehouse.toml: `tls.cert`: is set without `tls.key`: TLS needs both");
    insta::assert_snapshot!(bad("", &[("GATEHOUSE_LISTEN", "0.0.0.0:80")]), @"environment GATEHOUSE_LISTEN: `server.listen`: `0.0.0.0:80` can be reached from other machines without TLS: set `tls.cert` and `tls.key`, or say `--behind-proxy` (`server.behind_proxy = true`) if a proxy in front ends TLS");
}

#[test]
fn sources() {
    let config = good(
        r#"
        [sources.crm]
        kind = "sqlite"
        path = "crm.sqlite"
        name = "Customers"
        prompts = ["How many customers are there?"]
        [sources.traffic-2024]
        kind = "files"
        tables = {visits = "visits.parquet", pages = "/srv/pages.csv"}
        "#,
        &[],
    );
    let [crm, traffic] = config.sources.as_slice() else { panic!("two sources") };
    assert_eq!((crm.source.name.as_str(), crm.name.as_str(), crm.prompts.len()), ("crm", "Customers", 1));
    assert_eq!(crm.source.kind, engines::SourceKind::Sqlite(config.data.join("crm.sqlite")));
    assert_eq!((traffic.name.as_str(), traffic.description.as_str()), ("traffic-2024", ""));
    let paths = [PathBuf::from("/srv/pages.csv"), config.data.join("visits.parquet")];
    assert_eq!(traffic.source.paths(), paths);
}

#[test]
fn sources_that_are_wrong() {
    let file = r#"
        [sources]
        odd = 5
        [sources.Shop]
        kind = "sqlite"
        path = "shop.sqlite"
        [sources.a]
        kind = "oracle"
        prompts = "How many?"
        [sources.b]
        path = "b.sqlite"
        [sources.c]
        kind = "sqlite"
        pth = "c.sqlite"
        tables = {}
        [sources.d]
        kind = "files"
        tables = {x = 5, y = "y.csv"}
        [sources.e]
        kind = "files"
        tables = {}
        "#;
    insta::assert_snapshot!(bad(file, &[]), @r#"
    file gatehouse.toml: `sources.Shop`: a source's name has lowercase letters, digits, `_` and `-`, at most 64
    file gatehouse.toml: `sources.a.prompts`: the text `How many?` is not a list of texts, as in `["a", "b"]`
    file gatehouse.toml: `sources.a.kind`: `oracle` is not a kind of source: use `sqlite`, `files`, `postgres`, `bigquery`, `flight` or `rest`
    file gatehouse.toml: `sources.b.kind`: missing: say `sqlite`, `files`, `postgres`, `bigquery`, `flight` or `rest`
    file gatehouse.toml: `sources.c.pth`: unknown key: did you mean `path`?
    file gatehouse.toml: `sources.c.tables`: belongs to sources of kind `files`
    file gatehouse.toml: `sources.c.path`: missing
    file gatehouse.toml: `sources.d.tables.x`: `5` is not a path
    file gatehouse.toml: `sources.e.tables`: must name a file for each table, as in `{orders = "orders.parquet"}`
    file gatehouse.toml: `sources.odd`: must be a table, as in `[sources.odd]`
    "#);
}

#[test]
fn a_source_on_postgres() {
    let file = r#"
        [sources.crm]
        kind = "postgres"
        url_env = "CRM_URL"
        schemas = ["public", "sales"]
        roles = {analyst = "gatehouse_analyst"}
        [sources.local]
        kind = "postgres"
        url_env = "LOCAL_URL"
        sslmode = "disable"
        "#;
    let urls = [("CRM_URL", "postgres://g:p%20w@db.example.com/crm"), ("LOCAL_URL", "postgres://g@127.0.0.1:5433/x")];
    let config = good(file, &urls);
    let [crm, local] = config.sources.as_slice() else { panic!("two sources") };
    let engines::SourceKind::Postgres(crm) = &crm.source.kind else { panic!("a Postgres") };
    assert_eq!((crm.tls.is_some(), crm.connections, crm.schemas.join(" ").as_str()), (true, 8, "public sales"));
    assert_eq!(crm.roles.get("analyst").map(String::as_str), Some("gatehouse_analyst"));
    let engines::SourceKind::Postgres(local) = &local.source.kind else { panic!("a Postgres") };
    assert_eq!((local.tls.is_some(), local.roles.len()), (false, 0));
    let (loaded, _dir) = load_with(file, &urls, |_| {});
    let (config, shown) = loaded.unwrap();
    let told = format!("{config:?} {}", text(&shown, true));
    assert!(!told.contains("p%20w") && !told.contains("p w"), "a password is shown");
}

#[test]
fn sources_on_postgres_that_are_wrong() {
    let file = r#"
        [sources.a]
        kind = "postgres"
        [sources.b]
        kind = "postgres"
        url_env = "NOT_THERE"
        path = "x.sqlite"
        [sources.c]
        kind = "postgres"
        url_file = "not-there"
        connections = 0
        [sources.d]
        kind = "postgres"
        url_env = "FAR"
        sslmode = "disable"
        schemas = ["a.b"]
        roles = ["analyst"]
        [sources.e]
        kind = "postgres"
        url_env = "ODD"
        sslmode = "prefer"
        "#;
    let urls = [("FAR", "postgres://g:secret@db.example.com/crm"), ("ODD", "mysql://g:secret@db")];
    insta::assert_snapshot!(bad(file, &urls), @r#"
    file gatehouse.toml: `sources.a.url_env`: missing: name the variable, or say `url_file`
    file gatehouse.toml: `sources.b.path`: belongs to sources of kind `sqlite`
    file gatehouse.toml: `sources.b.url_env`: the variable `NOT_THERE` is not set
    file gatehouse.toml: `sources.c.url_file`: `not-there` cannot be read: No such file or directory (os error 2)
    file gatehouse.toml: `sources.c.connections`: `0` is not a whole number from 1 to 100
    file gatehouse.toml: `sources.d.schemas`: `a.b` is not a name that can be shown
    file gatehouse.toml: `sources.d.roles`: must name a role of the database for each role here, as in `{analyst = "gatehouse_analyst"}`
    file gatehouse.toml: `sources.d.sslmode`: `disable` is for this machine only: the password and the rows would cross the network in clear
    file gatehouse.toml: `sources.e.sslmode`: the text `prefer` is not one of `verify-full`, `disable`
    file gatehouse.toml: `sources.e.url_env`: the address is not one: write postgres://user:password@host:5432/database
    "#);
}

#[test]
fn a_source_behind_flight_sql() {
    let file = r#"
        [sources.lake]
        kind = "flight"
        url = "https://sail.example.com:32010"
        token_env = "LAKE_TOKEN"
        databases = ["default", "sales"]
        [sources.here]
        kind = "flight"
        url = "http://127.0.0.1:32010"
        [sources.many]
        kind = "flight"
        url = "http://127.0.0.1:50050"
        dialect = "datafusion"
        "#;
    let secrets = [("LAKE_TOKEN", "very secret")];
    let config = good(file, &secrets);
    let flight = |name: &str| {
        let source = config.sources.iter().find(|source| source.source.name == name).unwrap();
        let engines::SourceKind::Flight(flight) = &source.source.kind else { panic!("an engine") };
        flight
    };
    let (lake, here, many) = (flight("lake"), flight("here"), flight("many"));
    assert_eq!((lake.token.is_some(), lake.connections, lake.databases.join(" ").as_str()), (true, 8, "default sales"));
    assert!(here.token.is_none() && here.databases == ["default"] && here.dialect == domain::Dialect::Spark);
    assert!(many.databases == ["public"] && many.dialect == domain::Dialect::DataFusion);
    let (loaded, _dir) = load_with(file, &secrets, |_| {});
    let (config, shown) = loaded.unwrap();
    assert!(!format!("{config:?} {}", text(&shown, true)).contains("very secret"), "a token is shown");
}

#[test]
fn sources_behind_flight_sql_that_are_wrong() {
    let wrong = |section: &str| bad(&format!("[sources.lake]\nkind = \"flight\"\n{section}"), &[]);
    for (section, told) in [
        ("", "`sources.lake.url`: missing"),
        ("url = \"http://sail.example.com:32010\"", "this machine only"),
        ("url = \"https://sail.example.com\"", "must be an address"),
        ("url = \"https://user@sail.example.com:1\"", "must be an address"),
        ("url = \"file:///etc:1\"", "must be an address"),
        ("url = \"https://h:1\"\ntoken_env = \"NOT_THERE\"", "is not set"),
        ("url = \"https://h:1\"\ndialect = \"hive\"", "one of `spark`, `datafusion`"),
        ("url = \"http://127.0.0.1:1\"\nca = \"ca.pem\"", "of no use without"),
        ("url = \"https://h:1\"\ndatabases = [\"a.b\"]", "not a name that can be shown"),
        ("url = \"https://h:1\"\npath = \"x\"", "belongs to sources of kind"),
    ] {
        assert!(wrong(section).contains(told), "{section}: {}", wrong(section));
    }
}

#[test]
fn a_source_in_bigquery() {
    let file = r#"
        [sources.warehouse]
        kind = "bigquery"
        project = "my-project"
        datasets = ["sales", "web"]
        location = "EU"
        token_env = "WAREHOUSE_TOKEN"
        [sources.emulator]
        kind = "bigquery"
        project = "local"
        datasets = ["firm"]
        url = "http://127.0.0.1:9050"
        storage_url = "http://127.0.0.1:9060"
        max_bytes_billed = 1000
        "#;
    let secrets = [("WAREHOUSE_TOKEN", "very-secret")];
    let config = good(file, &secrets);
    let [emulator, warehouse] = config.sources.as_slice() else { panic!("two sources") };
    let engines::SourceKind::BigQuery(warehouse) = &warehouse.source.kind else { panic!("a warehouse") };
    assert_eq!((warehouse.max_bytes_billed, warehouse.connections), (10_737_418_240, 8));
    assert_eq!(warehouse.url, "https://bigquery.googleapis.com");
    assert_eq!(warehouse.storage_url, "https://bigquerystorage.googleapis.com");
    let engines::SourceKind::BigQuery(emulator) = &emulator.source.kind else { panic!("a warehouse") };
    assert_eq!((emulator.max_bytes_billed, &emulator.identity), (1000, &engines::Identity::Nobody));
    let (loaded, _dir) = load_with(file, &secrets, |_| {});
    let (config, shown) = loaded.unwrap();
    assert!(!format!("{config:?} {}", text(&shown, true)).contains("very-secret"), "a token is shown");
}

#[test]
fn sources_in_bigquery_that_are_wrong() {
    let wrong = |section: &str| bad(&format!("[sources.wh]\nkind = \"bigquery\"\n{section}"), &[]);
    let named = "project = \"p\"\ndatasets = [\"d\"]\n";
    for (section, told) in [
        ("", "`sources.wh.project`: missing"),
        ("project = \"p\"", "`sources.wh.datasets`: missing"),
        ("project = \"p/x\"\ndatasets = [\"d\"]", "not the id of a project"),
        ("project = \"p\"\ndatasets = [\"d`x\"]", "not the name of a dataset"),
        (named, "`sources.wh.credentials_file`: missing"),
        (&format!("{named}url = \"http://warehouse.example.com\""), "can be read and changed on its way"),
        (&format!("{named}metadata_url = \"http://elsewhere.example.com\""), "can be read and changed on its way"),
        (
            &format!("{named}credentials_file = \"k.json\"\nmetadata_url = \"http://metadata.google.internal\""),
            "in one way only",
        ),
        (&format!("{named}credentials_file = \"k.json\"\nmax_bytes_billed = 0"), "max_bytes_billed"),
        (&format!("{named}token_env = \"NOT_THERE\""), "is not set"),
        (&format!("{named}location = \"E U\""), "not a location"),
    ] {
        assert!(wrong(section).contains(told), "{section}: {}", wrong(section));
    }
}

#[test]
fn files_that_cannot_be_read() {
    insta::assert_snapshot!(bad("[server]\nlisten = ", &[]), @"file gatehouse.toml: not valid TOML in line 2: string values must be quoted, expected literal string");
    let (loaded, dir) = load_with("", &[], |flags| flags.config = Some(flags.data.join("other.toml")));
    insta::assert_snapshot!(lines(&loaded.unwrap_err(), &dir), @"file other.toml: cannot be read: No such file or directory (os error 2)");
}

#[test]
fn shown_with_origins() {
    let file =
        "[limits]\nrows = 5\n[sources.crm]\nkind = 'sqlite'\npath = '/srv/crm.sqlite'\ndescription = 'Customers'";
    let (loaded, dir) = load_with(file, &[("LOG_LEVEL", "debug")], |flags| flags.behind_proxy = true);
    let mut shown = loaded.unwrap().1;
    shown.retain(|s| s.origin != "default" || s.key == "tls.cert");
    for line in &mut shown {
        line.origin = line.origin.replace(&format!("{}/", dir.path().display()), "");
    }
    insta::assert_snapshot!(text(&shown, true), @r"
    server.behind_proxy  true                     flag --behind-proxy
    tls.cert             (not set)                default
    log.level            debug                    environment LOG_LEVEL
    limits.rows          5                        file gatehouse.toml
    sources.crm          sqlite: /srv/crm.sqlite  file gatehouse.toml
    ");
    insta::assert_json_snapshot!(shown.last(), @r#"
    {
      "key": "sources.crm",
      "value": "sqlite: /srv/crm.sqlite",
      "origin": "file gatehouse.toml",
      "doc": "Customers"
    }
    "#);
}

#[test]
fn the_readme_names_the_variables_of_the_analyst_with_their_defaults() {
    let readme = include_str!("../../../../README.md");
    for setting in SETTINGS {
        for name in setting.variables().iter().filter(|name| name.starts_with("CLAUDE_DA_")) {
            let row = format!("| `{name}` | `{}`", setting.default);
            assert!(readme.contains(&row), "the README lacks {row}");
        }
    }
}

#[test]
fn a_source_that_is_a_service() {
    let file = r#"
        [sources.crm]
        kind = "rest"
        url = "https://crm.example.com/api/"
        token_env = "CRM_TOKEN"
        timeout_seconds = 3
        writable = true
        [sources.local]
        kind = "rest"
        url = "http://127.0.0.1:9000"
        "#;
    let config = good(file, &[("CRM_TOKEN", "secret")]);
    let [crm, local] = config.sources.as_slice() else { panic!("two sources") };
    let (engines::SourceKind::Rest(crm), engines::SourceKind::Rest(local)) = (&crm.source.kind, &local.source.kind)
    else {
        panic!("two services")
    };
    assert_eq!((crm.url.as_str(), crm.timeout.as_secs(), crm.writable), ("https://crm.example.com/api", 3, true));
    assert_eq!((local.token.is_none(), local.timeout.as_secs(), local.writable), (true, 10, false));
    assert!(!format!("{config:?}").contains("secret\""), "no credential in a log");
}

#[test]
fn services_that_are_wrong() {
    let file = r#"
        [sources.a]
        kind = "rest"
        path = "x"
        [sources.b]
        kind = "rest"
        url = "http://crm.example.com"
        token_env = "NOT_SET"
        [sources.c]
        kind = "rest"
        url = "https://me:password@crm.example.com"
        [sources.d]
        kind = "rest"
        url = "ftp://crm.example.com"
        timeout_seconds = 0
        "#;
    let said = bad(file, &[]);
    for (key, words) in [
        ("a.path", "belongs to sources of kind `sqlite`"),
        ("a.url", "missing"),
        ("b.url", "use `https`"),
        ("b.token_env", "the variable `NOT_SET` is not set"),
        ("c.url", "no user"),
        ("d.url", "is not the address of a service"),
        ("d.timeout_seconds", "from 1 to 300"),
    ] {
        let line = said.lines().find(|line| line.contains(&format!("`sources.{key}`"))).unwrap_or_default();
        assert!(line.contains(words), "{key}: {said}");
    }
}
