//! The data directory is its owner's. Workers read what they are to read all the same.

use crate::support::server;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// What doctor says of the data directory.
fn doctor(data: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    let output = command.args(["doctor", "--json", "--data"]).arg(data).output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    findings.as_array().unwrap().iter().find(|found| found["check"] == "config").unwrap()["verdict"].clone()
}

/// Another user can read this file, or list this directory.
fn is_read_by_others(path: &Path) -> bool {
    assert!(path.exists(), "{}", path.display());
    let mut look = Command::new("setpriv");
    look.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    look.args(if path.is_dir() { ["ls", "-a"] } else { ["head", "-c1"] }).arg(path).output().unwrap().status.success()
}

#[test]
fn other_users_are_kept_out_of_the_data_and_workers_are_not() {
    let above = tempfile::tempdir().unwrap();
    fs::set_permissions(above.path(), Permissions::from_mode(0o755)).unwrap();
    let (new, old) = (above.path().join("new"), above.path().join("old"));
    fs::create_dir(&old).unwrap();
    fs::set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(doctor(&old), "warn", "before a server has shut it");
    for data in [&new, &old] {
        let server = server().demo().data(data).start();
        assert_eq!(mode(data), 0o700, "{}", data.display());
        assert_eq!(mode(&data.join("demo.db")), 0o444, "nobody writes to it, not even by mistake");
        let ann = server.client("ann", "analyst");
        for (dataset, question) in [("shop", "How many orders?"), ("sales", "How many orders?")] {
            assert_eq!(ann.ask(dataset, question)["status"], "succeeded", "{dataset}");
        }
        if rustix::process::geteuid().is_root() {
            let files = ["demo.db", "datasets/shop/shop.sqlite", "contracts/cases.yaml", "datasets/crm/crm.sqlite"];
            assert_eq!(files.map(|file| is_read_by_others(&data.join(file))), [false; 4]);
        }
        assert_eq!(doctor(data), "ok");
    }
}

/// Files that the server itself writes: copies of tables, and what one statement hands to the next.
#[test]
fn other_users_are_kept_out_of_hot_copies_and_parts_of_joins() {
    let data = tempfile::tempdir().unwrap();
    fs::set_permissions(data.path(), Permissions::from_mode(0o755)).unwrap();
    let registry = r#"{"version":"1","datasets":[
        {"id":"yard","name":"Yard","files":[{"path":"gates.parquet","table":"gates","hot":true}]}]}"#;
    fs::create_dir(data.path().join("datasets")).unwrap();
    let table = data.path().join("datasets/gates.parquet");
    let copy = format!("COPY (SELECT range AS gate FROM range(1000)) TO '{}'", table.display());
    duckdb::Connection::open_in_memory().unwrap().execute_batch(&copy).unwrap();
    let server = server().data(data.path()).file("datasets/registry.json", registry).start();
    let admin = server.client("root", "admin");
    let part = json!([{ "name": "part", "sql": "SELECT gate FROM gates" }]);
    let joined = admin.post("/api/query/hybrid", &json!({ "register": part, "sql": "SELECT count(*) AS n FROM part" }));
    assert_eq!(joined.json(), json!([{ "n": 1000 }]), "{}", joined.text());
    let hot = data.path().join("hot");
    let copies = || fs::read_dir(&hot).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_copy = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "duckdb");
    let until = Instant::now() + Duration::from_secs(60);
    let copy = loop {
        assert!(Instant::now() < until, "no hot copy");
        assert_eq!(admin.post("/api/query", &json!({ "sql": "SELECT sum(gate) AS n FROM gates" })).status, 200);
        if let Some(copy) = copies().find(is_copy) {
            break copy;
        }
    };
    assert_eq!(mode(data.path()), 0o700);
    if rustix::process::geteuid().is_root() {
        let kept = [hot, copy, data.path().join("hybrid")];
        assert_eq!(kept.map(|path| is_read_by_others(&path)), [false; 3]);
    }
}

/// A server that then finds something wrong with its settings has written the demo by then, and shut it before.
#[test]
fn a_directory_is_shut_before_the_demo_is_written_to_it() {
    let data = tempfile::tempdir().unwrap();
    fs::set_permissions(data.path(), Permissions::from_mode(0o755)).unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    let output = serve.args(["serve", "--demo", "--listen", "nowhere", "--data"]).arg(data.path()).output().unwrap();
    assert!(!output.status.success());
    assert!(data.path().join("datasets/registry.json").exists(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(mode(data.path()), 0o700);
}
