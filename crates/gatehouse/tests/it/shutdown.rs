//! Stopping, by request and by accident: nothing that was told is lost, and the chain holds.

use crate::support::{server, sql, verify};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn a_stop_is_quick_and_records_what_was_on_its_way() {
    let mut server = server().demo().start();
    let client = server.client("ann", "analyst");
    let endless = "SELECT count(*) FROM sales_orders a, sales_orders b, sales_orders c WHERE a.quantity + b.quantity < c.quantity";
    let asking = std::thread::spawn({
        let client = client.clone();
        move || client.events("/chat/stream", &json!({ "dataset_id": "sales", "message": endless }))
    });
    let admin = server.client("root", "admin");
    while !running(&admin) {}
    let start = Instant::now();
    let status = server.terminate();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(status.success());
    let events = asking.join().unwrap();
    let result = events.iter().find(|e| e.name == "result").expect("a result before the end");
    assert_eq!(result.data["status"], "cancelled");
    let report = verify(&server);
    assert_eq!(report["flaw"], Value::Null, "{report}");
    assert!(report["heads"].as_u64().unwrap() >= 1, "the head was signed on the way out");
}

/// Whether a statement is on its way: admins are told by the metrics.
fn running(admin: &testkit::Client) -> bool {
    admin.get("/metrics").text().contains("gatehouse_active_runs 1")
}

#[test]
fn after_a_kill_every_reply_that_was_given_is_on_record() {
    let data = tempfile::tempdir().unwrap();
    let mut told = Vec::new();
    for round in 0..3 {
        let mut running = server().demo().data(data.path()).start();
        let client = running.client("ann", "analyst");
        for i in 0..5 {
            let body = sql(&client, "shop", &format!("SELECT {round} AS round, {i} AS i"));
            told.push(body["run_id"].as_str().unwrap().to_owned());
        }
        running.kill();
    }
    let again = server().demo().data(data.path()).start();
    let client = again.client("ann", "analyst");
    for run_id in &told {
        assert_eq!(client.get(&format!("/runs/{run_id}")).status, 200, "{run_id}");
    }
    assert_eq!(verify(&again)["flaw"], Value::Null);
}

#[test]
fn a_tampered_ledger_is_found() {
    let data = tempfile::tempdir().unwrap();
    let mut running = server().demo().data(data.path()).start();
    let client = running.client("ann", "analyst");
    sql(&client, "shop", "SELECT 42 AS answer");
    assert!(running.terminate().success());
    let ledger = rusqlite::Connection::open(data.path().join("ledger.sqlite")).unwrap();
    ledger.execute("UPDATE run_capsules SET result_json = replace(result_json, '42', '43')", []).unwrap();
    let output = running.command(&["audit", "verify"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("broken:"));
}

#[test]
fn a_taken_port_is_a_clear_error() {
    let running = server().start();
    let address = running.url.strip_prefix("http://").unwrap().to_owned();
    let data = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gatehouse"))
        .args(["serve", "--planner", "offline", "--listen", &address, "--data"])
        .arg(data.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&address) && said.contains("hint: another program has this port"), "{said}");
}
