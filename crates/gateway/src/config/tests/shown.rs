//! What is told of the settings: by `config show`, and by the documents.

use super::*;

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
    auth.bare_origin                    token
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
    ledger.result_bytes                 65536
    ledger.reserve_bytes                268435456
    ledger.head_interval_seconds        60
    limits.rows                         1000
    limits.bytes                        16777216
    limits.seconds                      30
    limits.requests_per_second          50
    limits.burst                        100
    limits.roles                        (not set)
    limits.question_chars               10000
    engines.concurrency                 6
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
    let readme = include_str!("../../../../../README.md");
    for setting in SETTINGS {
        for name in setting.variables().iter().filter(|name| name.starts_with("CLAUDE_DA_")) {
            let row = format!("| `{name}` | `{}`", setting.default);
            assert!(readme.contains(&row), "the README lacks {row}");
        }
    }
}
