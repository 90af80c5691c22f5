//! Time, memory, and workers that die: each costs one request and no more.

use crate::support::{server, sql};
use serde_json::json;
use std::process::Command;

#[test]
fn a_statement_that_takes_too_long_is_stopped() {
    let server = server().demo().env("RUN_TIMEOUT_SECONDS", "1").start();
    let client = server.client("ann", "analyst");
    let endless = "SELECT count(*) FROM sales_orders a, sales_orders b, sales_orders c WHERE a.quantity + b.quantity < c.quantity";
    let reply = client.post("/datasets/sales/query", &json!({ "sql": endless }));
    assert_eq!(reply.status, 504);
    assert_eq!(reply.json()["result"]["error"]["type"], "RUNNER_TIMEOUT");
    let recursive = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r";
    let reply = client.post("/datasets/shop/query", &json!({ "sql": recursive }));
    assert_eq!(reply.json()["result"]["error"]["type"], "RUNNER_TIMEOUT", "{}", reply.text());
    assert_eq!(sql(&client, "sales", "SELECT 1 AS one")["status"], "succeeded");
}

#[test]
fn a_statement_that_needs_too_much_memory_fails_alone() {
    // On a busy machine the time would be over before the memory is.
    let server = server().demo().env("RUN_TIMEOUT_SECONDS", "120").start();
    let client = server.client("ann", "analyst");
    let hungry = "SELECT list(a.order_id || b.order_id || a.sales_rep) AS l FROM sales_orders a, sales_orders b";
    let reply = client.post("/datasets/sales/query", &json!({ "sql": hungry }));
    assert_eq!(reply.json()["result"]["error"]["type"], "RUNNER_RESOURCE_EXCEEDED", "{}", reply.text());
    assert_eq!(sql(&client, "sales", "SELECT 1 AS one")["status"], "succeeded");
}

#[test]
fn a_killed_worker_costs_at_most_one_request() {
    let server = server().demo().start();
    let client = server.client("ann", "analyst");
    assert_eq!(sql(&client, "shop", "SELECT 1 AS one")["status"], "succeeded");
    Command::new("pkill").args(["-KILL", "-P", &server.pid().to_string()]).status().unwrap();
    let _ = sql(&client, "shop", "SELECT 1 AS one");
    assert_eq!(sql(&client, "shop", "SELECT 1 AS one")["status"], "succeeded");
}

#[test]
fn results_are_cut_by_bytes_too() {
    let server = server().demo().env("GATEHOUSE_LIMITS_BYTES", "20000").start();
    let client = server.client("ann", "analyst");
    for (dataset, table) in [("sales", "sales_orders"), ("shop", "order_items")] {
        let body = sql(&client, dataset, &format!("SELECT * FROM {table}"));
        assert_eq!(body["result"]["truncated"], true, "{table}");
        assert!(body["result"]["row_count"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_source_that_cannot_be_read_is_an_error_of_its_own() {
    let server = server()
        .file(
            "datasets/registry.json",
            r#"{"version":"1","datasets":[
            {"id":"gone","name":"Gone","files":[{"path":"gone.csv","table":"gone"}]},
            {"id":"here","name":"Here","files":[{"path":"here.csv","table":"here"}]}]}"#,
        )
        .file("datasets/here.csv", "a\n1\n")
        .start();
    let admin = server.client("root", "admin");
    let reply = admin.post("/chat", &json!({ "dataset_id": "gone", "message": "how many?" }));
    assert_eq!((reply.status, reply.code().as_str()), (503, "source.unreadable"));
    assert!(!reply.text().contains(server.data().to_str().unwrap()), "no paths of the machine");
    assert_eq!(sql(&admin, "here", "SELECT a FROM here")["result"]["rows"], json!([[1]]));
}

#[test]
fn one_actor_does_not_take_all_the_workers() {
    let server =
        server().demo().env("GATEHOUSE_ENGINES_CONCURRENCY", "2").env("GATEHOUSE_ENGINES_QUEUE_SECONDS", "2").start();
    let greedy = server.client("greedy", "analyst");
    let admin = server.client("root", "admin");
    let endless = "SELECT count(*) FROM sales_orders a, sales_orders b, sales_orders c WHERE a.quantity + b.quantity < c.quantity";
    let body = json!({ "dataset_id": "sales", "message": endless }).to_string().into_bytes();
    let _streams: Vec<_> = (0..2).map(|_| greedy.open("POST".parse().unwrap(), "/chat/stream", body.clone())).collect();
    while !admin.get("/metrics").text().contains("gatehouse_active_runs 2") {}
    let modest = server.client("modest", "analyst");
    assert_eq!(sql(&modest, "shop", "SELECT 1 AS one")["status"], "succeeded");
}

#[test]
fn a_broken_or_endless_view_does_not_close_its_source() {
    let server = server()
        .file(
            "datasets/registry.json",
            r#"{"version":"1","datasets":[{"id":"lite","name":"Lite","files":[{"path":"lite.sqlite"}]}]}"#,
        )
        .start();
    let lite = rusqlite::Connection::open(server.data().join("datasets/lite.sqlite")).unwrap();
    lite.execute_batch(
        "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1);
         CREATE TABLE gone (x); CREATE VIEW broken AS SELECT x FROM gone; DROP TABLE gone;
         CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;",
    )
    .unwrap();
    let admin = server.client("root", "admin");
    assert_eq!(sql(&admin, "lite", "SELECT a FROM t")["result"]["rows"], json!([[1]]));
    let schema = admin.get("/datasets/lite/schema").json();
    let names: Vec<_> = schema["tables"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(names, [json!("endless"), json!("t")]);
}
