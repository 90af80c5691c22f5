//! The Scan door: what exists, what it looks like, and the slice that was asked for.

use crate::scan_support::{ARROW, all, audited, batches, data, over, row_count, rows, runs, scan};
use crate::support::{demo, verify};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use serde_json::{Value, json};
use std::sync::OnceLock;
use testkit::{Client, Server};

/// One server for all tests that only read.
fn house() -> &'static Server {
    static SERVER: OnceLock<(tempfile::TempDir, Server)> = OnceLock::new();
    let (_, server) = SERVER.get_or_init(|| {
        let dir = data(10_000);
        let server = over(&dir).start();
        (dir, server)
    });
    server
}

fn analyst() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| house().client("ann", "analyst"))
}

fn by_id<'v>(catalog: &'v Value, id: &str) -> Option<&'v Value> {
    catalog["tables"].as_array().unwrap().iter().find(|table| table["id"] == id)
}

#[test]
fn the_catalog_is_what_a_role_may_read() {
    let mut catalog = analyst().get("/api/v2/catalog").json();
    assert!(catalog["server_time"].as_str().unwrap().ends_with('Z'));
    for table in catalog["tables"].as_array_mut().unwrap() {
        // Of a table with a hidden column the rows are told, and not the size of its file.
        let (hint, is_whole) = (table["rough_size_hint"].take(), table["id"] != "events");
        assert!(hint.as_str().is_some_and(|hint| hint.contains(" rows") && hint.contains(" / ") == is_whole), "{hint}");
    }
    catalog["server_time"].take();
    insta::assert_json_snapshot!("scan_catalog", catalog);
    let stranger = house().client("eve", "nobody").get("/api/v2/catalog").json();
    assert_eq!(stranger["tables"], json!([]));
    let filtered = house().client("ann", "agent").get("/api/v2/catalog").json();
    let events = by_id(&filtered, "events").unwrap();
    assert_eq!((&events["filtered_by"], &events["rough_size_hint"]), (&json!(["events"]), &Value::Null));
    assert!(by_id(&filtered, "numbers").is_none());
}

#[test]
fn examples_are_only_those_that_the_role_could_send() {
    let examples = |role| {
        by_id(&demo().client("x", role).get("/api/v2/catalog").json(), "sales_orders").unwrap()["where_examples"]
            .clone()
    };
    assert_eq!(examples("analyst"), json!(["region = 'EMEA'", "order_date >= '2026-01-01'"]));
}

#[test]
fn a_schema_has_nested_fields_and_hints_and_no_hidden_column() {
    let schema = analyst().get("/api/v2/schema/events").json();
    insta::assert_json_snapshot!("scan_schema", schema);
    assert!(!schema.to_string().contains("secret"));
    let refused = house().client("eve", "nobody").get("/api/v2/schema/events");
    let unknown = house().client("eve", "nobody").get("/api/v2/schema/nothing");
    assert_eq!((refused.status, unknown.status), (403, 403), "whether it exists is not told");
    assert_eq!(refused.json()["error"], "rbac_denied");
}

#[test]
fn statistics_are_of_the_rows_that_a_caller_may_see() {
    let of = |client: &Client, column: &str| {
        let schema = client.get("/api/v2/schema/events?statistics=true").json();
        let columns = schema["columns"].as_array().unwrap_or_else(|| panic!("{schema}")).clone();
        columns.into_iter().find(|c| c["name"] == column).unwrap()["statistics"].take()
    };
    assert_eq!(of(analyst(), "id"), json!({ "min": 0, "max": 499, "nulls": 0, "distinct": 500 }));
    assert_eq!(of(analyst(), "country_code"), json!({ "min": "CZ", "max": "FR", "nulls": 50, "distinct": 3 }));
    assert_eq!(of(analyst(), "tags"), json!({ "nulls": 0 }));
    let own = house().client("ann", "agent");
    assert_eq!(of(&own, "id"), json!({ "min": 0, "max": 498, "nulls": 0, "distinct": 250 }));
    assert_eq!(of(&own, "owner")["distinct"], 1);
}

#[test]
fn a_sample_is_a_few_rows_as_they_are() {
    let sample = analyst().get("/api/v2/sample/numbers?n=2").json();
    assert_eq!(
        sample,
        json!({ "table_id": "numbers", "source": "files", "rows": [
            { "n": 0, "name": "row 0", "share": 0.0 }, { "n": 1, "name": "row 1", "share": 0.142_857_142_857_142_85 }] })
    );
    assert_eq!(analyst().get("/api/v2/sample/numbers").json()["rows"].as_array().unwrap().len(), 5);
    assert_eq!(analyst().get("/api/v2/sample/numbers?n=101").json()["kind"], "sample_size");
    assert!(!analyst().get("/api/v2/sample/events?n=100").text().contains("hidden"));
    let own = house().client("ann", "agent").get("/api/v2/sample/events?n=100").json();
    assert_eq!(own["filtered_by"], json!(["events"]));
    assert!(own["rows"].as_array().unwrap().iter().all(|row| row["owner"] == "ann"), "only rows of her own");
}

#[test]
fn a_scan_is_the_slice_that_was_asked_for() {
    let body = json!({ "table_id": "numbers", "select": ["n", "name"], "where": "n >= 9990 AND name LIKE 'row%'",
        "order_by": ["n DESC"], "limit": 3 });
    let reply = scan(analyst(), &body);
    assert_eq!(reply.header("content-type"), ARROW);
    let [batch] = batches(&reply).try_into().unwrap();
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[9999, 9998, 9997]);
    assert_eq!(batch.schema().fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>(), ["n", "name"]);
    let headers = ["x-agnes-truncated", "x-gatehouse-truncated", "x-gatehouse-rows", "x-gatehouse-schema"];
    let schema = r#"[{"name":"n","type":"integer"},{"name":"name","type":"string"}]"#;
    assert_eq!(headers.map(|name| reply.header(name)), ["false", "false", "3", schema]);
    assert_eq!(row_count(&scan(analyst(), &all("numbers"))), 10_000, "all columns and rows by default");
    let empty = scan(analyst(), &json!({ "table_id": "events", "where": "id < 0" }));
    let [batch] = batches(&empty).try_into().unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (0, 16), "an empty result keeps its columns");
}

#[test]
fn rows_and_columns_that_policy_hides_are_not_there() {
    let own = house().client("ann", "agent");
    let reply = scan(&own, &all("events"));
    assert_eq!(reply.header("x-gatehouse-filtered-by"), "events");
    assert_eq!(row_count(&reply), 250);
    let names: Vec<String> = batches(&reply)[0].schema().fields().iter().map(|f| f.name().clone()).collect();
    assert!(!names.contains(&"secret".to_owned()) && !names.contains(&"raw".to_owned()), "{names:?}");
    for body in [
        json!({ "table_id": "events", "select": ["secret"] }),
        json!({ "table_id": "events", "where": "secret = 'hidden 1'" }),
        json!({ "table_id": "events", "order_by": ["secret"] }),
    ] {
        let refused = scan(&own, &body).json();
        assert_eq!((&refused["error"], &refused["kind"]), (&json!("validator_rejected"), &json!("unknown_column")));
    }
}

#[test]
fn one_scan_in_every_form() {
    let body = json!({ "table_id": "events", "select": ["id", "platform", "country_code", "amount", "tags"],
        "where": "id IN (9, 10)", "order_by": ["id"] });
    let with = |accept: &str| scan(&analyst().clone().header("accept", accept), &body);
    let rows = json!([
        { "id": 9, "platform": "ios", "country_code": "CZ", "amount": 2.25, "tags": ["a", "b"] },
        { "id": 10, "platform": "web", "country_code": null, "amount": 2.5, "tags": ["a", "b"] }]);
    let json = with("application/json");
    assert_eq!((json.header("content-type"), json.json()), ("application/json", rows));
    assert!(json.text().contains("\"amount\":2.50"), "every digit: {}", json.text());
    let csv = with("text/csv");
    assert_eq!(
        csv.text(),
        "id,platform,country_code,amount,tags\r\n9,ios,CZ,2.25,\"[\"\"a\"\",\"\"b\"\"]\"\r\n10,web,,2.50,\"[\"\"a\"\",\"\"b\"\"]\"\r\n"
    );
    let parquet = with("application/vnd.apache.parquet");
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(bytes::Bytes::from(parquet.body.clone()), 100)
            .unwrap();
    let plain = batches(&with(ARROW));
    let read: Vec<_> = reader.map(Result::unwrap).collect();
    assert_eq!(read[0].columns(), plain[0].columns());
    for (coding, name) in [("lz4", "lz4"), ("zstd", "zstd")] {
        let reply = scan(&analyst().clone().header("accept", ARROW).header("accept-encoding", coding), &body);
        assert_eq!(reply.header("x-gatehouse-arrow-compression"), name);
        assert_eq!(batches(&reply), plain);
    }
    let numbered = batches(&with(&format!("{ARROW}; dictionary=true")));
    let schema = numbered[0].schema();
    let kind = schema.field_with_name("platform").unwrap().data_type();
    assert!(matches!(kind, arrow_schema::DataType::Dictionary(..)), "{kind}");
    let refused = with("image/png");
    assert_eq!((refused.status, &refused.json()["kind"]), (400, &json!("accept")));
}

#[test]
fn what_is_wrong_is_told_in_the_specifications_words() {
    let cases = [
        (json!({ "table_id": "numbers", "where": "OBSCURE_FN(n) = 1" }), 400, "validator_rejected", "unknown_function"),
        (json!({ "table_id": "numbers", "where": "n IN (SELECT 1)" }), 400, "validator_rejected", "nested_select"),
        (json!({ "table_id": "numbers", "where": "1=1 LIMIT 5" }), 400, "validator_rejected", "trailing_input"),
        (json!({ "table_id": "numbers", "select": ["nope"] }), 400, "validator_rejected", "unknown_column"),
        (json!({ "table_id": "numbers", "limit": 10_000_001 }), 400, "validator_rejected", "limit_too_large"),
        (json!({ "table_id": "numbers", "what": 1 }), 400, "invalid_request", "json"),
        (json!({ "table_id": "nope" }), 403, "rbac_denied", "table_not_accessible"),
        (json!({ "table_id": "events; DROP" }), 403, "rbac_denied", "table_not_accessible"),
    ];
    for (body, status, error, kind) in cases {
        for path in ["/api/v2/scan", "/api/v2/scan/estimate"] {
            let reply = analyst().post(path, &body);
            let told = reply.json();
            assert_eq!((reply.status, &told["error"], &told["kind"]), (status, &json!(error), &json!(kind)), "{told}");
            assert_eq!(told["request_id"], reply.header("x-request-id"));
        }
    }
    let told = scan(analyst(), &json!({ "table_id": "numbers", "where": "OBSCURE_FN(n) = 1" })).json();
    assert_eq!(told["details"]["function"], "OBSCURE_FN");
    assert_eq!(house().stranger().get("/api/v2/catalog").json()["error"], "unauthenticated");
    let admin = house().client("root", "admin");
    assert_eq!(scan(&admin, &all("nope")).status, 404, "nothing is hidden from admins");
}

#[test]
fn each_fetch_is_on_record_with_its_predicate_hashed() {
    let dir = data(1_000);
    let server = over(&dir).start();
    let client = server.client("ann", "analyst");
    let body = json!({ "table_id": "numbers", "select": ["n"], "where": "name = 'row 7'", "limit": 10 });
    scan(&client, &body);
    client.post("/api/v2/scan/estimate", &body);
    scan(&client, &json!({ "table_id": "numbers", "where": "no" }));
    scan(&client, &all("secret_table"));
    let [denied, rejected, done] = audited(&server, "fetch_scan").try_into().unwrap();
    // printf "name = 'row 7'" | md5sum
    assert_eq!(done["where_hash"], "bc792649966a62ea51e5bcfde129f868");
    assert_eq!(
        (&done["table_id"], &done["select"], &done["limit"], &done["actual_result_rows"], &done["status"]),
        (&json!("numbers"), &json!(["n"]), &json!(10), &json!(1), &json!("ok"))
    );
    assert!(done["actual_result_bytes"].as_u64().unwrap() > 0 && done["latency_ms"].is_u64());
    assert_eq!((&rejected["status"], &rejected["error_kind"]), (&json!("rejected"), &json!("validator")));
    assert_eq!((&denied["status"], &denied["error_kind"]), (&json!("rejected"), &json!("rbac")));
    assert_eq!(audited(&server, "fetch_estimate")[0]["status"], "ok");
    let run = &runs(&server, "ann")[1];
    assert_eq!((&run["details"]["door"], &run["result"]["row_count"]), (&json!("scan"), &json!(1)), "{run}");
    assert!(!format!("{:?}", audited(&server, "fetch_scan")).contains("row 7"));
    assert_eq!(verify(&server)["flaw"], Value::Null);
}

#[test]
fn a_sqlite_source_is_scanned_like_files() {
    let client = demo().client("scanner", "analyst");
    let found = rows(
        &client,
        &json!({ "table_id": "customers", "where": "tier = 'enterprise'", "order_by": ["id"], "limit": 1 }),
    );
    assert_eq!(found[0]["tier"], "enterprise");
    assert!(found[0].get("email").is_none());
    let schema = client.get("/api/v2/schema/customers").json();
    assert_eq!((&schema["source_type"], &schema["sql_flavor"]), (&json!("sqlite"), &json!("duckdb")));
}
