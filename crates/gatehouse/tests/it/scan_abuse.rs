//! Hostile scans over HTTP: none of them reaches an engine.

use crate::scan_support::{data, over};
use serde_json::{Value, json};

/// Predicates that policy's own tests know as hostile, with the code of each.
fn predicates() -> impl Iterator<Item = (&'static str, &'static str)> {
    let both = include_str!("../../../policy/tests/cases/scan/reject/both.txt");
    let duckdb = include_str!("../../../policy/tests/cases/scan/reject/duckdb.txt");
    let lines = both.lines().chain(duckdb.lines()).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" | "))
}

/// Hostile entries of `select` and `order_by`.
const ENTRIES: &[&str] = &[
    "*",
    "secret",
    "not_in_contract",
    "id, secret",
    "id; DROP TABLE events",
    "id -- x",
    "id /* x */",
    "md5(secret)",
    "(SELECT secret FROM events)",
    "events.*",
    "* EXCLUDE (id)",
    "* REPLACE (secret AS id)",
    "COLUMNS(*)",
    "'id'",
    "1",
    "id AS secret",
    "id)",
    "(id",
    "\"id\" FROM read_text('/etc/passwd') --",
    "id UNION SELECT secret",
    "$1",
    "?",
    "@id",
    "other.id",
    "main.events.id",
    "rowid",
    "device.nope",
    "device.*",
    "tags[id]",
    "tags[clicks + 1]",
    "id::VARCHAR",
    "CAST(id AS VARCHAR)",
    "CASE WHEN secret = 'x' THEN 1 END",
    "id COLLATE NOCASE",
    "",
    " ",
    "\u{0}",
    "id\u{0}",
    "💥",
    "random()",
    "current_setting('x')",
    "getenv('HOME')",
    "(((((((((((id)))))))))))",
];

#[test]
fn no_hostile_scan_reaches_an_engine() {
    let dir = data(1_000);
    let server = over(&dir).start();
    let client = server.client("mallory", "analyst");
    let mut tried = 0;
    let mut passed: Vec<Value> = Vec::new();
    let mut attempt = |body: Value, kind: Option<&str>| {
        for path in ["/api/v2/scan", "/api/v2/scan/estimate"] {
            tried += 1;
            let reply = client.post(path, &body);
            let told = if reply.status == 400 { reply.json() } else { Value::Null };
            if told["error"] != "validator_rejected" || kind.is_some_and(|kind| told["kind"] != kind) {
                passed.push(json!([path, reply.status, body, told]));
            }
        }
    };
    for (kind, predicate) in predicates() {
        attempt(json!({ "table_id": "events", "where": predicate }), Some(kind));
    }
    for entry in ENTRIES {
        attempt(json!({ "table_id": "events", "select": [entry] }), None);
        attempt(json!({ "table_id": "events", "order_by": [format!("{entry} DESC")] }), None);
    }
    assert!(passed.is_empty(), "{} of {tried}: {:#?}", passed.len(), passed);
    assert!(tried >= 2 * 200, "{tried}");
    let ledger = rusqlite::Connection::open(dir.path().join("ledger.sqlite")).unwrap();
    let ran = "SELECT count(*) FROM run_capsules WHERE actor = 'mallory' AND (compiled_sql IS NOT NULL OR sandbox_tier IS NOT NULL)";
    let ran: u32 = ledger.query_row(ran, [], |row| row.get(0)).unwrap();
    let refused = "SELECT count(*) FROM run_capsules WHERE actor = 'mallory' AND status = 'refused'";
    let refused: u32 = ledger.query_row(refused, [], |row| row.get(0)).unwrap();
    testkit::tally("house", "hostile scans over HTTP", tried, "reached an engine", ran as usize);
    assert_eq!((ran, refused as usize), (0, tried), "all of them are on record, and none of them ran");
}
