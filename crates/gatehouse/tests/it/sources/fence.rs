//! A caller's condition is never tried on rows that a row filter hides: an error on one of them would tell of it.
//!
//! The optimizers of Sail and Ballista merge filters and try them in an order of their own. What keeps them from that is the `LIMIT` of all rows
//! that policy puts behind a row filter (`policy/src/sql/build.rs`); without it, these fail.

use serde_json::json;
use std::path::{Path, PathBuf};
use testkit::{Mode, Sail};

/// Ann's rows hold numbers; what others have would be an error in each of these.
pub const CONDITIONS: [&str; 4] = [
    "CAST(word AS INTEGER) > 0",
    "10 % divisor = 0",
    "CASE WHEN owner = 'ann' THEN 1 ELSE CAST(word AS INTEGER) END = 1",
    "CAST(word || '0' AS BIGINT) / divisor > 1",
];

const CONTRACT: &str = r#"
version: "1"
resource: notes
source: lake
table: notes
fields:
  - {name: id, type: integer}
  - {name: owner, type: string}
  - {name: word, type: string}
  - {name: divisor, type: integer}
roles:
  agent: {ops: [READ], rows: "owner = $actor"}
"#;

#[test]
fn hidden_rows_cause_no_errors_in_sail() {
    let dir = tempfile::tempdir().unwrap();
    let file = notes(dir.path());
    let sail = Sail::start(Mode::Local);
    sail.sql(&format!("CREATE TABLE notes USING parquet LOCATION '{}'", file.display()));
    let told = attack(&format!("kind = 'flight'\nurl = '{}'", sail.url()));
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// The table, in a file of this directory.
pub fn notes(dir: &Path) -> PathBuf {
    let file = dir.join("notes.parquet");
    let duck = duckdb::Connection::open_in_memory().unwrap();
    duck.execute_batch(&format!(
        "COPY (SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'ann' ELSE 'bob' END AS owner,
                      CASE WHEN i % 2 = 0 THEN '7' ELSE 'secret' END AS word,
                      CAST((i + 1) % 2 AS INTEGER) AS divisor FROM range(1, 1001) AS r(i))
         TO '{}'",
        file.display()
    ))
    .unwrap();
    file
}

/// Asks as Ann, over the source of this section, by statements and by scans. Gives what was told but her rows.
pub fn attack(section: &str) -> Vec<String> {
    let toml = format!("[sources.lake]\n{section}\n");
    let server = crate::support::server().file("gatehouse.toml", &toml).file("contracts/notes.yaml", CONTRACT).start();
    let ann = server.client("ann", "agent");
    let mut told = Vec::new();
    for condition in CONDITIONS {
        let sql = format!("SELECT count(*) AS n FROM notes WHERE {condition}");
        let reply = ann.post("/api/query", &json!({ "sql": sql }));
        if reply.json() != json!([{ "n": 500 }]) {
            told.push(format!("{condition}: {} {}", reply.status, reply.text()));
        }
        let scanned =
            json!({ "table_id": "notes", "select": ["id"], "where": condition, "order_by": ["id"], "limit": 1 });
        let reply = ann.clone().header("accept", "application/json").post("/api/v2/scan", &scanned);
        if reply.json() != json!([{ "id": 2 }]) {
            told.push(format!("{condition}: {} {}", reply.status, reply.text()));
        }
    }
    told
}
