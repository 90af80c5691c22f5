//! What `da` made opens without `da`: in DuckDB's own command line and in Python's.

use crate::support::House;
use std::process::Command;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Something of a virtual environment of `scripts/python-deps`.
fn program(environment: &str, name: &str) -> String {
    let made = Command::new(format!("{PROJECT}/scripts/python-deps")).arg(environment).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().replace("/bin/python", &format!("/bin/{name}"))
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn stock_duckdb_opens_what_we_made() {
    let house = House::new(1_000);
    let da = house.da();
    da.ok(&["fetch", "events", "--where", "country_code = 'CZ'", "--as", "cz", "--quiet"]);
    da.ok(&["sync"]);
    let database = da.root().join("duckdb/analytics.duckdb");
    let sql = "SELECT count(*) AS n, sum(clicks) AS clicks, (SELECT sum(amount) FROM orders) AS amount FROM cz";
    let ours = da.ok(&["query", sql, "--format", "csv"]);
    let mut cli = Command::new(program("da", "duckdb"));
    let theirs = printed(cli.args(["-csv", "-readonly"]).arg(&database).arg(sql).current_dir("/"));
    assert_eq!(theirs.replace('\r', ""), ours);
    let script = format!("{PROJECT}/tests/python/da_stock.py");
    let mut python = Command::new(program("scan", "python"));
    let python = printed(python.arg(script).arg(&database).arg(da.root().join("snapshots/cz.parquet")));
    let python: serde_json::Value = serde_json::from_str(&python).unwrap();
    assert_eq!(python["views"], serde_json::json!(["cz", "orders"]));
    assert_eq!(python["rows"].as_i64(), Some(da.number("SELECT count(*) FROM cz")));
    assert_eq!(python["pyarrow"], python["rows"]);
    assert_eq!(python["polars"], python["rows"]);
}
