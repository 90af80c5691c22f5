//! Scans as the clients of analysts meet them: pyarrow, Polars and DuckDB read our stream, and no type is lost on the way.

use crate::scan_support::{data, over};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use testkit::Server;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn python() -> String {
    let made = Command::new(format!("{PROJECT}/scripts/python-deps")).arg("scan").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// What a script of `tests/python` prints.
fn script(name: &str, server: &Server, role: &str, more: &[&str], input: &str) -> String {
    let token = server.token("py", role);
    let mut command = Command::new(python());
    command.arg(format!("{PROJECT}/tests/python/{name}.py")).args([&server.url, &token]).args(more);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python to start");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name} {more:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn pyarrow_polars_and_duckdb_read_our_stream() {
    let dir = data(70_000);
    let server = over(&dir).start();
    let read = |request: Value, packing: &str| -> Value {
        let printed = script("scan_clients", &server, "analyst", &[&request.to_string(), packing], "");
        serde_json::from_str(&printed).unwrap()
    };
    let all = json!({ "table_id": "numbers", "order_by": ["n"] });
    for packing in [
        "compression=none",
        "compression=lz4",
        "compression=zstd",
        "dictionary=true",
        "compression=zstd;dictionary=true",
    ] {
        let seen = read(all.clone(), packing);
        for client in ["pyarrow", "polars", "duckdb"] {
            assert_eq!(seen[client]["rows"], 70_000, "{client} with {packing}");
            assert_eq!(seen[client]["names"], json!(["n", "name", "share"]), "{client}");
        }
        assert_eq!(seen["first"][1]["name"], "row 1");
        assert_eq!(seen["polars"]["first"], seen["first"]);
        assert_eq!(seen["said"], json!({}));
    }
    let nested = read(json!({ "table_id": "events", "limit": 2 }), "compression=none");
    assert_eq!(nested["polars"]["first"][0]["device"]["screen"], json!({ "w": 1920, "h": 1080 }));
    let empty = read(json!({ "table_id": "events", "where": "id < 0" }), "compression=none");
    for client in ["pyarrow", "polars", "duckdb"] {
        assert_eq!(empty[client]["rows"], 0, "{client}");
        assert_eq!(empty[client]["names"].as_array().unwrap().len(), 16, "{client} keeps the columns of nothing");
    }
    assert_eq!(empty["pyarrow"]["types"], nested["pyarrow"]["types"]);
}

/// Few clients ask for trailers: a stream that was cut says so itself, and is read by all of them all the same.
#[test]
fn a_stream_that_was_cut_says_so_in_its_last_message() {
    let dir = data(70_000);
    let server = over(&dir).env("GATEHOUSE_API_SCAN_MAX_LIMIT", "60000").start();
    for packing in ["compression=none", "compression=lz4;dictionary=true"] {
        let request = json!({ "table_id": "numbers" }).to_string();
        let seen = script("scan_clients", &server, "analyst", &[&request, packing], "");
        let seen: Value = serde_json::from_str(&seen).unwrap();
        for client in ["pyarrow", "polars", "duckdb"] {
            assert_eq!(seen[client]["rows"], 60_000, "{client} with {packing}");
        }
        assert_eq!(seen["said"], json!({ "gatehouse.truncated": "true" }), "{packing}");
    }
}

/// Each statement with what pyarrow makes of its answer.
fn types(server: &Server, statements: &str) -> String {
    let seen = script("scan_types", server, "admin", &[], statements);
    statements.lines().zip(seen.lines()).map(|(sql, seen)| format!("{sql}\n    {seen}\n")).collect()
}

#[test]
fn every_type_of_duckdb_survives_the_trip() {
    let dir = data(10);
    let server = over(&dir).start();
    insta::assert_snapshot!("scan_types_duckdb", types(&server, include_str!("cases/types_duckdb.sql")));
}

#[test]
fn every_type_of_sqlite_survives_the_trip() {
    let dir = data(10);
    let lite = rusqlite::Connection::open(dir.path().join("kinds.sqlite")).unwrap();
    lite.execute_batch(
        "CREATE TABLE kinds (i INTEGER, b BOOLEAN, r REAL, t TEXT, x BLOB, n NUMERIC, d DATE, ts TIMESTAMP, j JSON, mixed, none TEXT);
         INSERT INTO kinds VALUES (9007199254740993, 1, 0.5, 'naïve', x'00ff', 12.5, '2024-02-29', '2024-02-29 12:30:00', '[1]', 1, NULL);
         INSERT INTO kinds VALUES (-1, 0, NULL, '', NULL, 7, NULL, NULL, NULL, 'two', NULL);",
    )
    .unwrap();
    std::fs::write(dir.path().join("gatehouse.toml"), "[sources.lite]\nkind = \"sqlite\"\npath = \"kinds.sqlite\"\n")
        .unwrap();
    let server = over(&dir).start();
    insta::assert_snapshot!("scan_types_sqlite", types(&server, include_str!("cases/types_sqlite.sql")));
}

/// A table of more than one block has values of other classes far behind: they are found before the first is sent.
#[test]
fn a_large_sqlite_table_keeps_values_that_come_late() {
    let dir = data(10);
    let lite = rusqlite::Connection::open(dir.path().join("late.sqlite")).unwrap();
    lite.execute_batch(
        "CREATE TABLE late (n INTEGER, v);
         WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 70000)
         INSERT INTO late SELECT n, CASE WHEN n = 69999 THEN 'late' ELSE n END FROM r;",
    )
    .unwrap();
    std::fs::write(dir.path().join("gatehouse.toml"), "[sources.lite]\nkind = \"sqlite\"\npath = \"late.sqlite\"\n")
        .unwrap();
    let server = over(&dir).start();
    let client = server.client("root", "admin").header("accept", "text/csv");
    let reply = client.post("/api/v2/scan", &json!({ "table_id": "late" }));
    let text = reply.text();
    assert_eq!(text.lines().count(), 70_001, "{}", text.chars().take(300).collect::<String>());
    assert!(text.contains("\r\n69999,late\r\n"));
}
