//! The registry and what stands beside scans: registering tables, copies for `da sync`, one-shot SQL.

use crate::scan_support::{all, batches, data, over, row_count, runs, scan, until};
use serde_json::{Value, json};
use ureq::http::Method;

#[test]
fn tables_are_registered_described_and_unregistered() {
    let dir = data(100);
    std::fs::remove_file(dir.path().join("contracts/numbers.yaml")).unwrap();
    let server = over(&dir).start();
    let (admin, ann) = (server.client("root", "admin"), server.client("ann", "analyst"));
    assert_eq!(scan(&ann, &all("numbers")).status, 403);
    assert_eq!(scan(&admin, &all("numbers")).status, 200, "admins see tables without a contract");
    let registered = admin.post("/api/admin/tables", &json!({ "source": "maths", "table": "numbers" }));
    assert_eq!((registered.status, &registered.json()["table_id"]), (201, &json!("numbers")));
    assert_eq!(row_count(&scan(&ann, &all("numbers"))), 100, "at once");
    assert_eq!(admin.post("/api/admin/tables", &json!({ "source": "maths", "table": "numbers" })).status, 409);
    assert_eq!(admin.post("/api/admin/tables", &json!({ "source": "maths", "table": "nope" })).status, 404);
    let described = admin.get("/api/admin/tables/numbers").json();
    assert_eq!((&described["contract"]["source"], &described["missing"]), (&json!("maths"), &json!([])));
    for (method, path) in [
        (Method::POST, "/api/admin/tables"),
        (Method::GET, "/api/admin/tables/numbers"),
        (Method::DELETE, "/api/admin/tables/numbers"),
        (Method::POST, "/api/admin/catalog/invalidate"),
    ] {
        assert_eq!(ann.send(method, path, b"{}".to_vec()).status, 403, "{path} is for admins");
    }
    assert_eq!(admin.delete("/api/admin/tables/numbers").status, 204);
    assert_eq!(scan(&ann, &all("numbers")).status, 403);
    assert_eq!(admin.delete("/api/admin/tables/numbers").status, 404);
    ann.get("/api/v2/catalog");
    let forgotten = admin.post("/api/admin/catalog/invalidate", &json!({})).json();
    assert!(forgotten["invalidated"].as_u64().is_some_and(|count| count > 0), "{forgotten}");
}

#[test]
fn the_command_line_registers_too() {
    let dir = data(100);
    std::fs::remove_file(dir.path().join("contracts/numbers.yaml")).unwrap();
    let server = over(&dir).start();
    let ann = server.client("ann", "analyst");
    let output = server.command(&["tables", "register", "maths", "numbers"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "numbers\n", "{}", String::from_utf8_lossy(&output.stderr));
    until("the server to take it up", || (scan(&ann, &all("numbers")).status == 200).then_some(()));
    let described = server.command(&["tables", "describe", "numbers"]);
    let contract: Value = serde_json::from_slice(&described.stdout).unwrap();
    assert_eq!(contract["roles"]["analyst"]["ops"], json!(["READ"]));
    assert!(server.command(&["tables", "unregister", "numbers"]).status.success());
    assert_eq!(server.command(&["tables", "describe", "numbers"]).status.code(), Some(5));
    until("the server to take it up", || (scan(&ann, &all("numbers")).status == 403).then_some(()));
}

#[test]
fn copies_are_governed_and_not_sent_twice() {
    let dir = data(100);
    let server = over(&dir).start();
    let (ann, own) = (server.client("ann", "analyst"), server.client("ann", "agent"));
    let manifest = ann.get("/api/sync/manifest").json();
    let [events] = manifest["tables"].as_array().unwrap().as_slice() else { panic!("one local table: {manifest}") };
    assert_eq!((&events["id"], &events["rows"]), (&json!("events"), &json!(500)));
    let reply = ann.get("/api/sync/tables/events");
    assert_eq!(reply.header("content-type"), "application/vnd.apache.parquet");
    assert_eq!(reply.header("etag"), format!("\"{}\"", events["version"].as_str().unwrap()));
    assert!(reply.body.starts_with(b"PAR1") && reply.body.ends_with(b"PAR1"));
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(bytes::Bytes::from(reply.body.clone()), 1000)
            .unwrap();
    let read: Vec<_> = reader.map(Result::unwrap).collect();
    assert_eq!(read.iter().map(|b| b.num_rows()).sum::<usize>(), 500);
    assert!(read[0].column_by_name("secret").is_none());
    let again = ann.clone().header("if-none-match", reply.header("etag")).get("/api/sync/tables/events");
    assert_eq!((again.status, again.body.len()), (304, 0));
    let mine = own.get("/api/sync/manifest").json();
    assert_ne!(mine["tables"][0]["version"], events["version"], "another role has another copy");
    assert_eq!((&mine["tables"][0]["filtered"], &mine["tables"][0]["rows"]), (&json!(true), &Value::Null));
    assert_eq!(ann.get("/api/sync/tables/numbers").json()["kind"], "not_local");
    assert_eq!(server.client("eve", "nobody").get("/api/sync/tables/events").status, 403);
}

#[test]
fn one_statement_runs_where_its_tables_are() {
    let dir = data(1_000);
    let server = over(&dir).start();
    let ann = server.client("ann", "analyst");
    let query = |sql: &str| ann.post("/api/query", &json!({ "sql": sql }));
    assert_eq!(query("SELECT count(*) AS n FROM numbers").json(), json!([{ "n": 1000 }]));
    assert_eq!(query("SELECT count(*) AS n FROM events").json(), json!([{ "n": 500 }]));
    let cut = ann.post("/api/query", &json!({ "sql": "SELECT n FROM numbers ORDER BY n", "limit": 2 }));
    assert_eq!((cut.json(), cut.header("x-gatehouse-truncated")), (json!([{ "n": 0 }, { "n": 1 }]), "true"));
    let arrow = ann.clone().header("accept", "application/vnd.apache.arrow.stream");
    assert_eq!(batches(&arrow.post("/api/query", &json!({ "sql": "SELECT n FROM numbers" })))[0].num_columns(), 1);
    for (sql, kind) in [
        ("SELECT secret FROM events", "unknown_column"),
        ("SELECT * FROM nowhere", "unknown_table"),
        ("DROP TABLE events", "not_a_query"),
        ("SELECT * FROM read_text('/etc/passwd')", "table_function"),
        ("SELECT 1; SELECT 2", "several_statements"),
        ("SELECT n FROM numbers, events", "unknown_table"),
    ] {
        let told = query(sql).json();
        assert_eq!((&told["error"], &told["kind"]), (&json!("validator_rejected"), &json!(kind)), "{sql}: {told}");
    }
    let nothing = server.client("eve", "nobody").post("/api/query", &json!({ "sql": "SELECT n FROM numbers" }));
    assert!((400..500).contains(&nothing.status), "{}", nothing.text());
    let [refused] = runs(&server, "eve").try_into().unwrap();
    assert_eq!(refused["status"], "refused", "who may read nothing is on record too");
}

/// A second name for a file would be a way around the contracts of the first.
#[test]
fn no_file_is_there_under_two_names() {
    let dir = data(10);
    let start = || over(&dir).try_start().err().unwrap_or_default();
    let again =
        "[sources.again]\nkind = \"files\"\ntables = { everything = \"datasets/../datasets/events.parquet\" }\n";
    std::fs::write(dir.path().join("gatehouse.toml"), again).unwrap();
    let said = start();
    assert!(said.contains("events.parquet") && said.contains("`again` and `web`"), "{said}");
    let twice = "[sources.twice]\nkind = \"files\"\ntables = { a = \"n.parquet\", b = \"n.parquet\" }\n";
    std::fs::copy(dir.path().join("datasets/numbers.parquet"), dir.path().join("n.parquet")).unwrap();
    std::fs::write(dir.path().join("gatehouse.toml"), twice).unwrap();
    let said = start();
    assert!(said.contains("n.parquet") && said.contains("`twice` and `twice`"), "{said}");
}
