//! What a scan of a Postgres would read and give: by its planner where that tells nothing that is hidden, else counted.

use serde_json::{Value, json};
use testkit::{Client, Postgres, Server};

const DATABASE: &str = "
    CREATE TABLE events (id int PRIMARY KEY, kind text);
    INSERT INTO events SELECT n, 'kind ' || n % 4 FROM generate_series(1, 10000) AS n;
    CREATE SCHEMA side;
    CREATE TABLE side.events AS SELECT * FROM events WHERE id <= 1000;
    CREATE VIEW few_events AS SELECT * FROM events WHERE id <= 30;
    ANALYZE events; ANALYZE side.events";

const CONTRACT: &str = "version: \"1\"
resource: events
source: crm
table: events
fields:
  - {name: id, type: integer}
  - {name: kind, type: string}
roles:
  analyst: {ops: [READ], rows: \"kind = 'kind 1'\"}
";

fn house() -> (Server, String) {
    let cluster = Postgres::shared();
    let database = cluster.database();
    cluster.sql(&database, DATABASE);
    let toml =
        "[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\nsslmode = 'disable'\nschemas = ['public', 'side']\n";
    let server = crate::support::server()
        .file("gatehouse.toml", toml)
        .file("contracts/events.yaml", CONTRACT)
        .env("CRM_URL", &cluster.url(&database))
        .start();
    (server, database)
}

fn estimate(client: &Client, body: &Value) -> Value {
    let reply = client.post("/api/v2/scan/estimate", body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

#[test]
fn the_planner_of_the_database_tells_what_is_open() {
    let (server, database) = house();
    let root = server.client("root", "admin");
    let size = |table: &str| -> u64 {
        let sql = format!("SELECT pg_relation_size('{table}')");
        Postgres::shared().sql(&database, &sql).parse().unwrap()
    };
    let all = estimate(&root, &json!({ "table_id": "events" }));
    assert_eq!(all["estimated_result_rows"], 10_000, "{all}");
    assert_eq!(all["estimated_scan_bytes"], size("events"), "{all}");
    assert!(all["estimated_result_bytes"].as_u64().is_some_and(|bytes| bytes >= 10_000 * 4), "{all}");
    // From statistics: near, and not counted.
    let some = estimate(&root, &json!({ "table_id": "events", "where": "id <= 2500" }));
    let rows = some["estimated_result_rows"].as_u64().unwrap();
    assert!((2_000..=3_000).contains(&rows) && rows < 10_000, "{some}");
    let cut = estimate(&root, &json!({ "table_id": "events", "limit": 7 }));
    assert_eq!(cut["estimated_result_rows"], 7, "{cut}");
    // A table of the same name in another schema is another table.
    let side = estimate(&root, &json!({ "table_id": "side.events" }));
    assert_eq!(
        (&side["estimated_result_rows"], &side["estimated_scan_bytes"]),
        (&json!(1_000), &json!(size("side.events")))
    );
}

#[test]
fn what_hides_rows_is_counted_as_the_caller() {
    let (server, _) = house();
    let root = server.client("root", "admin");
    // Of a view the planner would tell how many rows lie behind it.
    let view = estimate(&root, &json!({ "table_id": "few_events" }));
    assert_eq!((&view["estimated_result_rows"], &view["estimated_scan_bytes"]), (&json!(30), &Value::Null), "{view}");
    let ann = server.client("ann", "analyst");
    let own = estimate(&ann, &json!({ "table_id": "events" }));
    assert_eq!((&own["estimated_result_rows"], &own["estimated_scan_bytes"]), (&json!(2_500), &Value::Null), "{own}");
    assert_eq!(own["filtered_by"], json!(["events"]));
    let none = estimate(&ann, &json!({ "table_id": "events", "where": "kind = 'kind 2'" }));
    assert_eq!(none["estimated_result_rows"], 0, "{none}");
}
