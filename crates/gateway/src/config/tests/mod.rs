//! What comes of flags, variables and files; what is refused, and in which words.

mod shown;
mod sources;

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
fn files_that_cannot_be_read() {
    insta::assert_snapshot!(bad("[server]\nlisten = ", &[]), @"file gatehouse.toml: not valid TOML in line 2: string values must be quoted, expected literal string");
    let (loaded, dir) = load_with("", &[], |flags| flags.config = Some(flags.data.join("other.toml")));
    insta::assert_snapshot!(lines(&loaded.unwrap_err(), &dir), @"file other.toml: cannot be read: No such file or directory (os error 2)");
}
