//! The command line: data on stdout, messages on stderr, exit codes that scripts can use.

use crate::support::demo;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn gatehouse(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatehouse")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn help_shows_commands_and_examples() {
    insta::assert_snapshot!(text(&gatehouse(&["--help"]).stdout));
}

#[test]
fn plan_prints_reading_plan_and_sql_of_a_file() {
    let shop = demo().data().join("datasets/shop/shop.sqlite");
    let output = gatehouse(&["plan", "--source", shop.to_str().unwrap(), "how many customers per tier?"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    insta::assert_snapshot!(text(&output.stdout));
    let refused = gatehouse(&["plan", "--source", shop.to_str().unwrap(), "purple elephants"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stdout).starts_with("refused:"));
    let csv = demo().data().join("datasets/support/tickets.csv");
    let output = gatehouse(&["plan", "--json", "--source", csv.to_str().unwrap(), "number of tickets per priority"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["status"], "answered", "{answer}");
}

#[test]
fn a_batch_answers_line_by_line_with_sql_that_runs() {
    let shop = demo().data().join("datasets/shop/shop.sqlite");
    let line = |id: u32, question: &str| json!({ "id": id, "db": shop, "question": question }).to_string();
    let input = [
        line(1, "how many customers are there?"),
        line(2, "customers in tier 'enterprise'"),
        line(3, "purple elephants"),
        "not json".to_owned(),
        json!({ "id": 4, "db": "/nowhere.sqlite", "question": "how many?" }).to_string(),
    ]
    .join("\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_gatehouse"))
        .args(["plan", "--planner", "offline", "--batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answers: Vec<Value> = text(&output.stdout).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let statuses: Vec<&str> = answers.iter().map(|a| a["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["answered", "answered", "refused", "refused", "refused"], "{answers:?}");
    assert_eq!(answers[0]["id"], 1);
    let database = rusqlite::Connection::open(&shop).unwrap();
    let count: i64 = database.query_row(answers[0]["sql"].as_str().unwrap(), [], |row| row.get(0)).unwrap();
    assert_eq!(count, 84);
    let mut enterprise = database.prepare(answers[1]["sql"].as_str().unwrap()).unwrap();
    assert_eq!(enterprise.query_map([], |_| Ok(())).unwrap().count(), 8);
}

#[test]
fn doctor_finds_everything_in_order_and_says_so_as_json() {
    let output = demo().command(&["doctor", "--json"]);
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    let verdict = |check: &str| {
        findings
            .as_array()
            .unwrap()
            .iter()
            .find(|f| f["check"] == check)
            .map(|f| f["verdict"].clone())
            .unwrap_or_default()
    };
    for check in ["config", "contracts", "ledger", "clock", "source"] {
        assert_eq!(verdict(check), "ok", "{check}: {findings}");
    }
    assert_ne!(verdict("sandbox"), "fail");
    assert!(output.status.success());
}

#[test]
fn settings_show_where_they_come_from() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("gatehouse.toml"), "[limits]\nrows = 7\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gatehouse"))
        .args(["config", "show", "--origin", "--data"])
        .arg(data.path())
        .env("RUN_TIMEOUT_SECONDS", "9")
        .output()
        .unwrap();
    let shown = text(&output.stdout);
    let line = |key: &str| shown.lines().find(|l| l.starts_with(key)).unwrap_or_default().to_owned();
    assert!(line("limits.rows").contains('7') && line("limits.rows").contains("gatehouse.toml"), "{shown}");
    assert!(line("limits.seconds").contains('9') && line("limits.seconds").contains("RUN_TIMEOUT_SECONDS"));
    assert!(line("server.listen").contains("default"));

    std::fs::write(data.path().join("gatehouse.toml"), "[limits]\nrow = 7\nbytes = \"x\"\n").unwrap();
    let output = gatehouse(&["serve", "--data", data.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("limits.row") && said.contains("limits.bytes"), "all at once: {said}");
}

/// The demo as it is, but for containers that cannot be had: never the native sandbox in their place.
#[test]
fn an_image_without_an_engine_keeps_the_server_from_starting() {
    let data = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gatehouse"))
        .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--data"])
        .arg(data.path())
        .env("RUNNER_IMAGE", "gatehouse-runner:absent")
        // No engine listens there, wherever else one may.
        .env("DOCKER_HOST", "unix:///nonexistent/docker.sock")
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("SANDBOX_UNAVAILABLE: no sandbox on this machine: docker engine: "), "{said}");
    assert!(said.contains("hint: start the Docker engine"), "{said}");
}

#[test]
fn a_token_is_alone_on_stdout_and_bad_spans_are_refused() {
    let output = demo().command(&["tokens", "create", "--actor", "x", "--role", "analyst", "--expires", "30d"]);
    assert_eq!(text(&output.stdout).lines().count(), 1);
    assert!(text(&output.stdout).starts_with("gh_"));
    for span in ["never", "-3d", "3"] {
        let expires = format!("--expires={span}");
        let output = demo().command(&["tokens", "create", "--actor", "x", "--role", "analyst", &expires]);
        assert_eq!(output.status.code(), Some(2), "{span}");
    }
}

/// Whoever checks the chain, or ends a token at night, need not have the passwords of databases at hand.
#[test]
fn audit_tokens_and_keys_need_no_secret_of_a_source() {
    let data = tempfile::tempdir().unwrap();
    let toml = "[sources.crm]\nkind = \"postgres\"\nurl_env = \"NOT_SET_ANYWHERE\"\n\
                [sources.lake]\nkind = \"rest\"\nurl = \"https://crm.example.com\"\ntoken_file = \"not-there\"\n\
                [sources.big]\nkind = \"bigquery\"\nproject = \"p\"\ndatasets = [\"d\"]\ncredentials_file = \"not-there\"\n";
    std::fs::write(data.path().join("gatehouse.toml"), toml).unwrap();
    let at = data.path().to_str().unwrap();
    let told = |args: &[&str]| {
        let output = gatehouse(&[args, &["--data", at]].concat());
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let token = told(&["tokens", "create", "--actor", "ann", "--role", "analyst"]);
    let id = token.split('_').nth(1).unwrap().to_owned();
    assert!(told(&["tokens", "list"]).contains(&id));
    told(&["tokens", "link", "--actor", "ann", "--role", "analyst"]);
    told(&["tokens", "revoke", &id]);
    assert!(told(&["audit", "verify"]).starts_with("whole: 3 entries"));
    assert_eq!(told(&["audit", "export"]).lines().count(), 3);
    told(&["keys", "list"]);
    // What reads data does need them, and says which.
    let output = gatehouse(&["doctor", "--data", at]);
    assert!(!output.status.success() && text(&output.stderr).contains("NOT_SET_ANYWHERE"), "{}", text(&output.stderr));
}

#[test]
fn verify_says_what_it_cannot_know() {
    let data = tempfile::tempdir().unwrap();
    let at = data.path().to_str().unwrap();
    for actor in ["ann", "bob"] {
        gatehouse(&["tokens", "create", "--actor", actor, "--role", "analyst", "--data", at]);
    }
    let verify = || gatehouse(&["audit", "verify", "--data", at]);
    let told = text(&verify().stdout);
    assert!(told.contains("no head covers the last one yet, since 20"), "{told}");
    std::fs::remove_file(data.path().join("audit-heads.jsonl")).unwrap();
    let told = text(&verify().stdout);
    assert!(told.contains("no exported heads"), "{told}");
    let ledger = rusqlite::Connection::open(data.path().join("ledger.sqlite")).unwrap();
    ledger.execute("UPDATE tokens SET role = 'admin' WHERE actor = 'ann'", []).unwrap();
    let output = verify();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("has the role `admin`, not `analyst`"), "{}", text(&output.stdout));
}

/// A link that was changed by hand would make an admin.
#[test]
fn verify_finds_a_changed_sign_in_code() {
    let data = tempfile::tempdir().unwrap();
    let at = data.path().to_str().unwrap();
    gatehouse(&["tokens", "link", "--actor", "ann", "--role", "analyst", "--data", at]);
    let ledger = rusqlite::Connection::open(data.path().join("ledger.sqlite")).unwrap();
    assert_eq!(ledger.execute("UPDATE sign_ins SET role = 'admin'", []).unwrap(), 1);
    let output = gatehouse(&["audit", "verify", "--data", at]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout);
    assert_eq!(told.trim(), "broken: entry 1: a sign-in code of `ann` as `admin` was one of `ann` as `analyst`");
    let output = gatehouse(&["audit", "verify", "--json", "--data", at]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["flaw"]["kind"], "login_differs");
    assert!(report["reexported"].is_null(), "{report}");
}

#[test]
fn every_contract_of_the_demo_fits_its_source() {
    let output = demo().command(&["contracts", "check"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
}

#[test]
fn the_published_schemas_are_those_in_the_documents() {
    for (name, file) in
        [("contract", "contract.json"), ("query-plan", "query-plan.json"), ("change-plan", "change-plan.json")]
    {
        let printed = text(&gatehouse(&["schema", name]).stdout);
        let path = format!("{}/../../docs/schemas/{file}", env!("CARGO_MANIFEST_DIR"));
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(printed, written, "write it anew: gatehouse schema {name} > docs/schemas/{file}");
    }
}

#[test]
fn plan_explains_what_each_word_may_mean() {
    let output = demo().command(&["plan", "--source", "shop", "--explain", "how many customers per tier"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in
        ["customers", "table customers (1.00)", "column customers.tier", "reading  number of customers per tier"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
}
