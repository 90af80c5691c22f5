//! Estimates against the truth: what a scan was said to give, and what it then gave.

use crate::scan_support::{all, data, over, row_count, scan};
use serde_json::{Value, json};
use tempfile::TempDir;

const SALES: &str = "\
version: \"1\"
resource: sales
source: sales
table: sales
fields:
  - {name: id, type: integer}
  - {name: day, type: date}
  - {name: region, type: string, nullable: true}
  - {name: amount, type: decimal}
  - {name: quantity, type: integer}
  - {name: note, type: string, nullable: true}
roles:
  analyst: {ops: [READ]}
";

/// 100,000 sales in order of their day, as files come out of warehouses, in row groups of 4,096.
fn sales() -> TempDir {
    let dir = data(10);
    std::fs::write(dir.path().join("contracts/sales.yaml"), SALES).unwrap();
    let toml = "[sources.sales]\nkind = \"files\"\ntables = { sales = \"sales.parquet\" }\n";
    std::fs::write(dir.path().join("gatehouse.toml"), toml).unwrap();
    let duck = duckdb::Connection::open_in_memory().unwrap();
    let sales = "SELECT range AS id, DATE '2022-01-01' + CAST(range // 100 AS INTEGER) AS day,
        CASE WHEN hash(range) % 50 = 0 THEN NULL ELSE ['north', 'south', 'east', 'west'][1 + CAST(hash(range) % 4 AS INTEGER)] END AS region,
        CAST(hash(range + 1) % 100000 / 100.0 AS DECIMAL(10,2)) AS amount, CAST(hash(range + 2) % 10 AS INTEGER) AS quantity,
        CASE WHEN range % 3 = 0 THEN NULL ELSE 'note ' || range END AS note FROM range(100000)";
    let path = dir.path().join("sales.parquet");
    duck.execute_batch(&format!("COPY ({sales}) TO '{}' (ROW_GROUP_SIZE 4096)", path.display())).unwrap();
    dir
}

/// How many times too large or too small: 1 is right.
fn off(estimated: f64, actual: f64) -> f64 {
    let (estimated, actual) = (estimated.max(1.0), actual.max(1.0));
    (estimated / actual).max(actual / estimated)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

#[test]
fn estimates_are_near_the_truth() {
    let dir = sales();
    let server = over(&dir).start();
    let client = server.client("ann", "analyst");
    let cases: Vec<&str> = include_str!("cases/estimates.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(cases.len() >= 30, "{}", cases.len());
    let file = std::fs::metadata(dir.path().join("sales.parquet")).unwrap().len();
    let (mut rows, mut bytes) = (Vec::new(), Vec::new());
    for predicate in &cases {
        let body = json!({ "table_id": "sales", "select": ["id", "region", "amount"], "where": predicate });
        let estimate = client.post("/api/v2/scan/estimate", &body).json();
        let reply = scan(&client, &body);
        let figure = |name: &str| estimate[name].as_f64().unwrap_or_else(|| panic!("{predicate}: {estimate}"));
        rows.push(off(figure("estimated_result_rows"), row_count(&reply) as f64));
        if row_count(&reply) > 1_000 {
            bytes.push(off(figure("estimated_result_bytes"), reply.body.len() as f64));
        }
        assert!(figure("estimated_scan_bytes") <= file as f64, "{predicate}: {estimate}");
        assert_eq!(estimate["bq_cost_estimate_usd"], Value::Null);
    }
    let worst = rows.iter().copied().fold(1.0, f64::max);
    println!(
        "rows off by {:.2} in the median, {worst:.2} at worst; bytes by {:.2}",
        median(rows.clone()),
        median(bytes.clone())
    );
    assert!(median(rows) <= 2.0 && median(bytes) <= 2.0);
}

#[test]
fn footers_tell_what_need_not_be_read() {
    let dir = sales();
    let server = over(&dir).start();
    let client = server.client("ann", "analyst");
    let scanned = |select: Value, predicate: &str| {
        let body = json!({ "table_id": "sales", "select": select, "where": predicate });
        client.post("/api/v2/scan/estimate", &body).json()["estimated_scan_bytes"].as_u64().unwrap()
    };
    let whole = scanned(json!(["id", "region", "amount", "day", "quantity", "note"]), "");
    let one_column = scanned(json!(["region"]), "");
    assert!(one_column * 4 < whole, "columns that are not asked for are not read: {one_column} of {whole}");
    let one_month = scanned(json!(["region"]), "day >= DATE '2023-01-01' AND day < DATE '2023-02-01'");
    assert!(one_month * 5 < one_column, "nor row groups of other days: {one_month} of {one_column}");
    assert_eq!(scanned(json!(["region"]), "amount > 2000"), 0, "nothing is that large");
}

#[test]
fn what_is_not_known_is_null() {
    let server = crate::support::demo();
    let estimate = server.client("ann", "analyst").post("/api/v2/scan/estimate", &all("customers")).json();
    assert_eq!(estimate["estimated_scan_bytes"], Value::Null, "SQLite tells no bytes of a table");
    assert!(estimate["estimated_result_rows"].as_u64().unwrap() > 0);
    let filtered = server.client("bot", "agent").post("/api/v2/scan/estimate", &all("sales_orders")).json();
    assert_eq!(filtered["filtered_by"], json!(["sales_orders"]), "{filtered}");
}

/// A literal that ends a condition, goes on as SQL about a hidden column and comments the rest away is a literal.
#[test]
fn no_literal_asks_anything_of_a_hidden_column() {
    let dir = data(10);
    let server = over(&dir).start();
    let client = server.client("mallory", "analyst");
    let estimate = |guess: &str| {
        let text = format!(" OR (SELECT min(ascii(secret)) FROM events) > {guess}))) --xxx AND id>0");
        let body = json!({ "table_id": "events", "where": format!("session_id = '{text}'") });
        let reply = client.post("/api/v2/scan/estimate", &body);
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    };
    assert_eq!(estimate("104"), estimate("103"), "`hidden` begins with 104");
}

/// How much of a file would be read tells of all rows in it.
#[test]
fn estimates_say_nothing_of_rows_that_a_filter_hides() {
    let dir = data(10);
    let server = over(&dir).start();
    let estimate = |role: &str, predicate: &str| {
        let body = json!({ "table_id": "events", "where": predicate });
        server.client("bot", role).post("/api/v2/scan/estimate", &body).json()
    };
    let mut seen = Vec::new();
    for predicate in ["id >= 0", "id > 10000", "owner = 'ann'", "owner = 'nobody'"] {
        assert!(estimate("analyst", predicate)["estimated_scan_bytes"].is_u64());
        let filtered = estimate("agent", predicate);
        assert_eq!(filtered["filtered_by"], json!(["events"]), "{filtered}");
        assert_eq!(filtered["estimated_scan_bytes"], Value::Null, "{filtered}");
        seen.push(filtered);
    }
    assert_eq!(seen[0]["estimated_result_rows"], 250);
    assert_eq!(seen[2], seen[3], "rows of others are as if they were not there");
}
