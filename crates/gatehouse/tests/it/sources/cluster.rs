//! Ballista, with a scheduler and two executors: `make test-cluster`, since it takes a quarter of an hour to build.

use super::ballista::{self, Ballista};
use super::{fence, suite};
use serde_json::json;
use std::thread;

/// Files of the table that is worked on while an executor dies: a task each.
const FILES: usize = 8;

#[test]
#[ignore = "needs Ballista: make test-cluster"]
fn ballista() {
    suite::conform(|dir| Box::new(Ballista::new(dir)));
}

#[test]
#[ignore = "needs Ballista: make test-cluster"]
fn hidden_rows_cause_no_errors() {
    let dir = tempfile::tempdir().unwrap();
    let file = fence::notes(dir.path());
    let cluster = testkit::Ballista::start();
    cluster.sql(&format!("CREATE EXTERNAL TABLE notes STORED AS PARQUET LOCATION '{}'", file.display()));
    let told = fence::attack(&ballista::section(&cluster));
    testkit::tally("source", "hidden rows by errors: ballista", 2 * fence::CONDITIONS.len(), "told", told.len());
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// Ballista at times announces the columns of a step on the way: what counts is what its rows come with.
#[test]
#[ignore = "needs Ballista: make test-cluster"]
fn columns_have_the_names_that_were_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("few.parquet");
    let duck = duckdb::Connection::open_in_memory().unwrap();
    duck.execute_batch(&format!("COPY (SELECT range % 3 AS k FROM range(9)) TO '{}'", file.display())).unwrap();
    let cluster = testkit::Ballista::start();
    cluster.sql(&format!("CREATE EXTERNAL TABLE few STORED AS PARQUET LOCATION '{}'", file.display()));
    let toml = format!("[sources.firm]\n{}\n", ballista::section(&cluster));
    let server = crate::support::server().file("gatehouse.toml", &toml).start();
    let root = server.client("root", "admin");
    let sql = "SELECT k, count(*) AS n FROM few GROUP BY k ORDER BY k";
    for _ in 0..40 {
        let reply = root.post("/api/query", &json!({ "sql": sql }));
        assert_eq!(reply.json(), json!([{ "k": 0, "n": 3 }, { "k": 1, "n": 3 }, { "k": 2, "n": 3 }]));
    }
}

/// What one executor had done is lost with it; the other does it again.
#[test]
#[ignore = "needs Ballista: make test-cluster"]
fn an_executor_dies_in_the_middle() {
    let dir = tempfile::tempdir().unwrap();
    let duck = duckdb::Connection::open_in_memory().unwrap();
    for file in 0..FILES {
        let rows = format!("SELECT range + {file} * 300000 AS n, range % 1000 AS k FROM range(300000)");
        let to = dir.path().join(format!("{file}.parquet"));
        duck.execute_batch(&format!("COPY ({rows}) TO '{}'", to.display())).unwrap();
    }
    let cluster = testkit::Ballista::start();
    cluster.sql(&format!("CREATE EXTERNAL TABLE many STORED AS PARQUET LOCATION '{}/'", dir.path().display()));
    let toml = format!("[sources.firm]\n{}\n", ballista::section(&cluster));
    let server = crate::support::server().file("gatehouse.toml", &toml).env("RUN_TIMEOUT_SECONDS", "300").start();
    let root = server.client("root", "admin");
    let sql = "SELECT count(*) AS a, sum(c) AS b, sum(s) AS c
        FROM (SELECT k, n % 7 AS d, count(*) AS c, sum(n) AS s FROM many GROUP BY k, n % 7) AS g";
    let all = FILES as u64 * 300_000;
    let expected = json!([[7000, all, all * (all - 1) / 2]]);
    let ask = || root.post("/datasets/firm/query", &json!({ "sql": sql }));
    let answer = thread::scope(|scope| {
        let asking = scope.spawn(ask);
        // It has begun: there are files of it.
        while !cluster.has_worked(0) {
            assert!(!asking.is_finished(), "it was over before");
            thread::yield_now();
        }
        cluster.kill_executor(0);
        assert!(!asking.is_finished(), "it was over before");
        asking.join().unwrap()
    });
    assert_eq!(answer.json()["result"]["rows"], expected, "{}", answer.text());
    let next = ask();
    assert_eq!(next.json()["result"]["rows"], expected, "{}", next.text());
    testkit::tally("source", "an executor dies in the middle: ballista", 2, "wrong answers", 0);
}

/// It refuses a token that it did not give.
#[test]
#[ignore = "needs Ballista: make test-cluster"]
fn unknown_tokens() {
    let cluster = testkit::Ballista::start();
    let toml = format!("[sources.firm]\n{}\ntoken_env = 'LAKE_TOKEN'\n", ballista::section(&cluster));
    let server = crate::support::server().file("gatehouse.toml", &toml).env("LAKE_TOKEN", "a-secret-of-ours").start();
    let reply = server.client("root", "admin").post("/datasets/firm/query", &json!({ "sql": "SELECT 1" }));
    assert_eq!((reply.status, reply.text().contains("source.credentials")), (503, true), "{}", reply.text());
    assert!(!format!("{}{}", reply.text(), server.stop()).contains("a-secret-of-ours"));
}
