//! Hot copies: the same answers as from the files, sooner, and never of an older state of them.

use crate::scan_support::{all, data, over, scan};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::{Client, Server};

const FORMS: [&str; 4] =
    ["application/vnd.apache.arrow.stream", "application/vnd.apache.parquet", "text/csv", "application/json"];

/// Slices that read all of a table, some of it in some order, and nothing.
fn slices() -> [Value; 6] {
    [
        all("events"),
        all("numbers"),
        json!({ "table_id": "events", "where": "country_code = 'CZ' AND device.version > 1", "order_by": ["id DESC"] }),
        json!({ "table_id": "events", "where": "id < 0" }),
        json!({ "table_id": "numbers", "select": ["name", "share"], "where": "n BETWEEN 70000 AND 70100" }),
        json!({ "table_id": "numbers", "where": "share > 3", "limit": 1000 }),
    ]
}

fn house(dir: &TempDir, hot_copy_mb: &str) -> Server {
    let registry = r#"{"version":"1","datasets":[
        {"id":"web","name":"Web","files":[{"path":"events.parquet","table":"events","hot":true}]},
        {"id":"maths","name":"Maths","files":[{"path":"numbers.parquet","table":"numbers","hot":true}]}]}"#;
    std::fs::write(dir.path().join("datasets/registry.json"), registry).unwrap();
    over(dir)
        .env("GATEHOUSE_API_SCAN_HOT_COPY_MAX_MB", hot_copy_mb)
        .env("GATEHOUSE_API_SCAN_RESULT_CACHE_MB", "0")
        .start()
}

/// Every slice in every form, and what each is estimated at.
fn everything(client: &Client) -> Vec<(String, Vec<u8>)> {
    let slice = |body: &Value| {
        let replies = FORMS.map(|form| {
            let reply = scan(&client.clone().header("accept", form), body);
            assert_eq!(reply.status, 200, "{}", reply.text());
            (format!("{body} as {form}"), reply.body)
        });
        let estimate = client.post("/api/v2/scan/estimate", body).json();
        let estimate = (format!("{body} estimated"), estimate["estimated_scan_bytes"].to_string().into_bytes());
        replies.into_iter().chain([estimate]).collect::<Vec<_>>()
    };
    slices().iter().flat_map(slice).collect()
}

fn copies(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join("hot")).into_iter().flatten();
    let mut copies: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    copies.retain(|path| path.extension().is_some_and(|e| e == "duckdb"));
    copies.sort();
    copies
}

/// Asks for the tables until their copies are there.
fn made(client: &Client, dir: &Path, wanted: impl Fn(&[PathBuf]) -> bool) -> Vec<PathBuf> {
    let deadline = Instant::now() + Duration::from_secs(180);
    while Instant::now() < deadline {
        for table in ["events", "numbers"] {
            let one = json!({ "table_id": table, "limit": 1 });
            assert_eq!(scan(client, &one).status, 200);
        }
        let copies = copies(dir);
        if wanted(&copies) {
            return copies;
        }
    }
    panic!("no hot copies in time: {:?}", copies(dir));
}

#[test]
fn answers_are_the_same_with_and_without_copies() {
    let dir = data(150_000);
    let mut cold = house(&dir, "0");
    let by_file = everything(&cold.client("ann", "analyst"));
    assert!(copies(dir.path()).is_empty(), "switched off");
    cold.terminate();
    let hot = house(&dir, "512");
    let ann = hot.client("ann", "analyst");
    made(&ann, dir.path(), |copies| copies.len() == 2);
    for ((slice, file), (_, copy)) in by_file.iter().zip(everything(&ann)) {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes)).into_owned();
        assert!(*file == copy, "{slice} differs: {} / {}", shown(file), shown(&copy));
    }
    let own = hot.client("ann", "agent").clone().header("accept", "application/json");
    let own = scan(&own, &all("events")).json();
    assert!(own.as_array().unwrap().iter().all(|row| row["owner"] == "ann"), "policy is the same");
}

/// What stands in a copy is seen to be read by putting something else there.
#[test]
fn a_copy_is_read_until_the_data_changes_and_not_if_it_is_broken() {
    let dir = data(1_000);
    let names = |client: &Client| {
        let body = json!({ "table_id": "numbers", "select": ["name"], "where": "n < 2" });
        scan(&client.clone().header("accept", "application/json"), &body).json()
    };
    let mut server = house(&dir, "512");
    let before = made(&server.client("ann", "analyst"), dir.path(), |copies| copies.len() == 2);
    server.terminate();
    let of_numbers = before.iter().find(|copy| put(copy, "SELECT n, 'a copy' AS name, share FROM copied")).unwrap();

    let server = house(&dir, "512");
    let ann = server.client("ann", "analyst");
    assert_eq!(names(&ann), json!([{ "name": "a copy" }, { "name": "a copy" }]), "kept, and read");
    let file = dir.path().join("datasets/numbers.parquet");
    let duck = duckdb::Connection::open_in_memory().unwrap();
    let rows = "SELECT range AS n, 'new' AS name, 0.5 AS share FROM range(10)";
    duck.execute_batch(&format!("COPY ({rows}) TO '{}'", file.display())).unwrap();
    assert_eq!(names(&ann), json!([{ "name": "new" }, { "name": "new" }]), "the data has changed");
    let after = made(&ann, dir.path(), |copies| copies.len() == 2 && !copies.contains(of_numbers));
    drop(server);

    for copy in after {
        replace(&copy, b"not a database");
    }
    let server = house(&dir, "512");
    assert_eq!(names(&server.client("ann", "analyst")), json!([{ "name": "new" }, { "name": "new" }]));
}

#[test]
fn a_table_too_large_for_a_copy_is_read_from_its_file() {
    let dir = data(400_000);
    let server = house(&dir, "1");
    let ann = server.client("ann", "analyst");
    made(&ann, dir.path(), |copies| copies.len() == 1);
    let count = scan(&ann.clone().header("accept", "text/csv"), &all("numbers")).text().lines().count();
    assert_eq!(count, 400_001);
    let parts = std::fs::read_dir(dir.path().join("hot")).unwrap().count();
    assert!(parts <= 2, "at most the copy of the small table and what is being made");
}

/// Rewrites a copy, if it is one of the table that the statement fits.
fn put(copy: &Path, select: &str) -> bool {
    let part = copy.with_extension("other");
    let duck = duckdb::Connection::open_in_memory().unwrap();
    let (from, to) = (copy.display(), part.display());
    let written = duck.execute_batch(&format!(
        "ATTACH '{from}' AS old (READ_ONLY); ATTACH '{to}' AS new; USE old;
         CREATE TABLE new.copied AS {select}; USE memory; DETACH new;"
    ));
    let written = written.is_ok();
    if written {
        replace(copy, &std::fs::read(&part).unwrap());
    }
    std::fs::remove_file(&part).unwrap();
    written
}

/// In place of the file, as one that is open stays as it was.
fn replace(file: &Path, bytes: &[u8]) {
    std::fs::remove_file(file).unwrap();
    std::fs::write(file, bytes).unwrap();
}
