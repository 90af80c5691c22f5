//! What an engine works on that cannot be told to stop, and that nobody waits for any more.

use serde_json::json;
use std::time::{Duration, Instant};
use testkit::{GrpcGate, Mode, Sail};

/// Ballista answers the first question only when it has worked a statement out. The gate stands for it here.
#[test]
fn what_an_engine_still_works_on_keeps_its_place() {
    let sail = Sail::start(Mode::Local);
    sail.sql("CREATE TABLE lines AS SELECT id FROM range(3)");
    let gate = GrpcGate::before(&sail.url(), "a-pass");
    let toml =
        format!("[sources.lake]\nkind = 'flight'\nurl = '{}'\ntoken_env = 'LAKE_TOKEN'\nconnections = 1\n", gate.url);
    let server = crate::support::server().file("gatehouse.toml", &toml).env("LAKE_TOKEN", "a-pass");
    let server = server.env("RUN_TIMEOUT_SECONDS", "3").env("GATEHOUSE_ENGINES_QUEUE_SECONDS", "1").start();
    let root = server.client("root", "admin");
    let count = || root.post("/datasets/lake/query", &json!({ "sql": "SELECT count(*) AS n FROM lines" }));
    assert_eq!(count().json()["result"]["rows"], json!([[3]]));
    gate.hold(true);
    let late = count();
    assert_eq!((late.status, gate.waiting()), (504, 1), "{}", late.text());
    // Nobody waits for it, and it is still under way: there is no place for another.
    for _ in 0..2 {
        let next = count();
        assert_eq!(next.json()["result"]["error"]["code"], "engine.busy", "{}", next.text());
        assert_eq!(gate.waiting(), 1);
    }
    gate.hold(false);
    let patience = Instant::now() + Duration::from_secs(30);
    while count().json()["result"]["rows"] != json!([[3]]) {
        assert!(Instant::now() < patience, "its place was never given back");
    }
}
