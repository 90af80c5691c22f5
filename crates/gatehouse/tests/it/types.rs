//! Values keep what they are, from the file to JSON: NULL, dates, decimals, big integers, nested.

use crate::support::{server, sql};
use serde_json::json;
use std::sync::OnceLock;
use testkit::{Client, Server};

fn client() -> &'static Client {
    static SERVER: OnceLock<(Server, Client)> = OnceLock::new();
    let (_, client) = SERVER.get_or_init(|| {
        let data = "{\"n\": 1, \"tags\": [\"a\", \"b\"], \"place\": {\"city\": \"Rome\", \"zip\": null}, \"seen\": \"2024-02-29\"}\n{\"n\": null, \"tags\": [], \"place\": null, \"seen\": null}\n";
        let server = server()
            .file("datasets/registry.json", r#"{"version":"1","datasets":[
                {"id":"things","name":"Things","files":[{"path":"things.ndjson","table":"things"}]},
                {"id":"lite","name":"Lite","files":[{"path":"lite.sqlite"}]}]}"#)
            .file("datasets/things.ndjson", data)
            .start();
        let lite = rusqlite::Connection::open(server.data().join("datasets/lite.sqlite")).unwrap();
        lite.execute_batch(
            "CREATE TABLE t (i INTEGER, r REAL, s TEXT, b BLOB, ok BOOLEAN, d DATE, mixed, e TEXT);
             INSERT INTO t VALUES (9007199254740993, 0.5, 'naïve', x'00ff', 1, '2024-02-29', 1, NULL);
             INSERT INTO t VALUES (NULL, NULL, '', NULL, 0, NULL, 'two', NULL);",
        )
        .unwrap();
        let admin = server.client("root", "admin");
        (server, admin)
    });
    client
}

#[test]
fn duckdb_values_are_exact() {
    let cases = [
        ("CAST(NULL AS INTEGER)", "null", "integer"),
        ("9223372036854775807", "9223372036854775807", "integer"),
        (
            "CAST('170141183460469231731687303715884105727' AS HUGEINT)",
            "170141183460469231731687303715884105727",
            "integer",
        ),
        ("CAST('12345678901234567890.12345' AS DECIMAL(30,5))", "12345678901234567890.12345", "decimal"),
        ("CAST(1.50 AS DECIMAL(5,2))", "1.50", "decimal"),
        ("CAST(0.1 AS DOUBLE)", "0.1", "number"),
        ("DATE '2024-02-29'", "\"2024-02-29\"", "date"),
        ("TIMESTAMP '2024-02-29 12:30:00.25'", "\"2024-02-29T12:30:00.25\"", "timestamp"),
        ("TIMESTAMPTZ '2024-02-29 12:30:00+00'", "\"2024-02-29T12:30:00Z\"", "timestamp"),
        ("true", "true", "boolean"),
        ("'naïve \"x\"'", "\"naïve \\\"x\\\"\"", "string"),
        ("[1, NULL, 3]", "[1,null,3]", "list"),
        ("{'a': 1, 'b': [DATE '2024-01-01']}", "{\"a\":1,\"b\":[\"2024-01-01\"]}", "struct"),
    ];
    for (expression, cell, kind) in cases {
        let body = serde_json::json!({ "sql": format!("SELECT {expression} AS v") });
        let text = client().post("/datasets/things/query", &body).text();
        assert!(text.contains(&format!("\"rows\":[[{cell}]]")), "{expression}: {text}");
        assert!(text.contains(&format!("\"types\":[\"{kind}\"]")), "{expression}: {text}");
    }
}

#[test]
fn tools_are_as_exact_as_replies() {
    let sql = "SELECT CAST('123456789012345678901.123456789' AS DECIMAL(38,9)) AS v";
    let text = client().post("/tools/execute_sql", &json!({ "dataset_id": "things", "sql": sql })).text();
    assert!(text.contains("[[123456789012345678901.123456789]]"), "{text}");
}

#[test]
fn nested_files_and_empty_results_keep_their_types() {
    let body = sql(client(), "things", "SELECT * FROM things ORDER BY n NULLS LAST");
    assert_eq!(body["result"]["types"], json!(["integer", "list", "struct", "date"]));
    assert_eq!(body["result"]["rows"][0], json!([1, ["a", "b"], { "city": "Rome", "zip": null }, "2024-02-29"]));
    assert_eq!(body["result"]["rows"][1], json!([null, [], null, null]));
    let empty = sql(client(), "things", "SELECT * FROM things WHERE n > 100");
    assert_eq!(empty["result"]["types"], body["result"]["types"]);
    assert_eq!(empty["result"]["rows"], json!([]));
    assert_eq!(
        sql(client(), "things", "SELECT place.city AS c FROM things WHERE n = 1")["result"]["rows"],
        json!([["Rome"]])
    );
}

#[test]
fn sqlite_values_are_exact() {
    let body = client().post("/datasets/lite/query", &json!({ "sql": "SELECT * FROM t ORDER BY i DESC" }));
    let text = body.text();
    assert!(text.contains("9007199254740993"), "no detour by a float: {text}");
    let body = body.json();
    assert_eq!(
        body["result"]["types"],
        json!(["integer", "number", "string", "bytes", "boolean", "date", "string", "string"])
    );
    let first = &body["result"]["rows"][0];
    assert_eq!(
        (&first[1], &first[2], &first[3], &first[4], &first[5]),
        (&json!(0.5), &json!("naïve"), &json!("AP8="), &json!(true), &json!("2024-02-29"))
    );
    assert_eq!(body["result"]["rows"][1][4], json!(false));
    assert_eq!(body["result"]["rows"][1][6], json!("two"), "a column of mixed values is text");
    let empty = sql(client(), "lite", "SELECT i, r, s, ok FROM t WHERE i = -1");
    assert_eq!(empty["result"]["types"], json!(["integer", "number", "string", "boolean"]));
}

#[test]
fn parameters_are_typed_as_their_fields() {
    let plan = |op: &str, value: serde_json::Value| {
        json!({ "plan": { "version": "1", "from": { "resource": "things" },
            "select": [{ "expr": { "aggregate": { "fn": "count" } }, "as": "n" }],
            "where": { "test": { "left": { "field": "seen" }, "op": op, "right": { "value": value } } } } })
    };
    for (op, value, count) in
        [("=", json!("2024-02-29"), 1), (">", json!("2024-03-01"), 0), ("<=", json!("2024-12-31"), 1)]
    {
        let body = client().post("/datasets/things/query", &plan(op, value)).json();
        assert_eq!(body["result"]["rows"], json!([[count]]), "{body}");
    }
    let bad = client().post("/datasets/things/query", &plan("=", json!("29.2.2024")));
    assert_eq!(bad.status, 400, "{}", bad.text());
}

/// SQLite keeps timestamps as text in several forms; they compare as moments all the same.
#[test]
fn sqlite_timestamps_compare_as_moments() {
    let analyst = crate::support::analyst();
    let count = |op: &str, value: &str| {
        let plan = json!({ "version": "1", "from": { "resource": "orders" },
            "select": [{ "expr": { "aggregate": { "fn": "count" } }, "as": "n" }],
            "where": { "test": { "left": { "field": "created_at" }, "op": op, "right": { "value": value } } } });
        let body = analyst.post("/datasets/shop/query", &json!({ "plan": plan })).json();
        body["result"]["rows"][0][0].as_i64().unwrap_or_else(|| panic!("{body}"))
    };
    let all = sql(analyst, "shop", "SELECT count(*), min(created_at) FROM orders");
    let row = &all["result"]["rows"][0];
    let (total, first) = (row[0].as_i64().unwrap(), row[1].as_str().unwrap());
    assert!(first.contains('T') && first.ends_with('Z'), "{first}");
    assert_eq!(count("=", first), 1);
    assert_eq!(count("<=", &first.replace('T', " ").replace('Z', "")), 1);
    assert_eq!(count(">", first), total - 1);
    assert_eq!(count(">=", "2000-01-01"), total);
}
