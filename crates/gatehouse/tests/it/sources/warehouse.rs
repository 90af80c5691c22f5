//! What only BigQuery has: nested values, partitions, two types of moments, costs, and several ways to say who asks.

use serde_json::{Value, json};
use testkit::{BigQuery, Client, Gate, GrpcGate, Server};

const SALES: &str = "
    CREATE TABLE baskets (
        id INT64, customer STRUCT<name STRING, city STRING>, items ARRAY<STRUCT<sku STRING, qty INT64>>,
        tags ARRAY<STRING>, at TIMESTAMP, price NUMERIC, region STRING
    ) PARTITION BY DATE(at) CLUSTER BY region, id;
    INSERT INTO baskets VALUES
        (1, STRUCT('Ann', 'Bern'), [STRUCT('a', 2), STRUCT('b', 1)], ['x', 'y'], TIMESTAMP '2024-01-01 10:00:00+00', 10.5, 'EU'),
        (2, STRUCT('Bob', 'Oslo'), [STRUCT('c', 5)], [], TIMESTAMP '2024-02-03 23:30:00+00', 99, 'EU'),
        (3, STRUCT('Cem', 'Lima'), [], ['z'], TIMESTAMP '2024-02-04 00:30:00+00', NULL, 'not a number');
    CREATE VIEW cities AS SELECT id, customer.city AS city, at FROM baskets;
    CREATE TABLE sales AS SELECT id, region, price, at FROM baskets";

/// Shown to analysts but for what is sold elsewhere.
const CONTRACT: &str = r#"
version: "1"
resource: sales
source: firm
table: sales
fields:
  - {name: id, type: integer}
  - {name: region, type: string}
  - {name: price, type: decimal, nullable: true}
  - {name: at, type: timestamp}
roles:
  analyst: {ops: [READ], rows: "region = 'EU'"}
"#;

struct Warehouse {
    emulator: BigQuery,
    gate: Gate,
    rows: GrpcGate,
    dir: tempfile::TempDir,
}

impl Warehouse {
    fn new() -> Self {
        let emulator = BigQuery::start();
        emulator.sql(SALES);
        let gate = Gate::before(&emulator.url());
        let rows = gate.before_rows(&emulator.storage_url());
        Self { emulator, gate, rows, dir: tempfile::tempdir().unwrap() }
    }

    /// A server over it, which says in these lines who asks.
    fn server(&self, identity: &str) -> Server {
        let server = crate::support::server()
            .file("gatehouse.toml", &self.section(identity))
            .file("contracts/sales.yaml", CONTRACT);
        server.env("WAREHOUSE_TOKEN", "token-1").env("STALE_TOKEN", "token-0").start()
    }

    /// Its section of a server's configuration.
    fn section(&self, identity: &str) -> String {
        format!(
            "[sources.firm]\nkind = 'bigquery'\nproject = '{}'\ndatasets = ['{}']\nurl = '{}'\nstorage_url = '{}'\n\
             max_bytes_billed = 123456789\n{identity}\n",
            BigQuery::PROJECT,
            BigQuery::DATASET,
            self.gate.url,
            self.rows.url,
        )
    }

    fn by_key(&self) -> Server {
        self.server(&format!("credentials_file = '{}'", self.gate.key_file(self.dir.path()).display()))
    }
}

fn scan(client: &Client, body: &Value) -> testkit::Reply {
    client.clone().header("accept", "application/json").post("/api/v2/scan", body)
}

#[test]
fn nested_values_partitions_and_views() {
    let warehouse = Warehouse::new();
    let server = warehouse.by_key();
    let root = server.client("root", "admin");
    let schema = root.get("/api/v2/schema/baskets").json();
    assert_eq!(
        (&schema["sql_flavor"], &schema["partition_by"], &schema["clustered_by"]),
        (&json!("bigquery"), &json!("at"), &json!(["region", "id"])),
        "{schema}"
    );
    let reply = scan(
        &root,
        &json!({
            "table_id": "baskets", "select": ["id", "customer.city", "items", "tags"], "order_by": ["id"],
            "where": "customer.name <> 'Cem' AND at < TIMESTAMP '2024-02-04 00:00:00 UTC' AND at >= '2024-01-01'",
        }),
    );
    let expected = json!([
        { "id": 1, "city": "Bern", "items": [{ "sku": "a", "qty": 2 }, { "sku": "b", "qty": 1 }], "tags": ["x", "y"] },
        { "id": 2, "city": "Oslo", "items": [{ "sku": "c", "qty": 5 }], "tags": [] },
    ]);
    assert_eq!(reply.json(), expected, "{}", reply.text());
    let first = json!({ "table_id": "baskets", "select": ["id"], "where": "items[SAFE_OFFSET(0)].sku = 'c'" });
    assert_eq!(scan(&root, &first).json(), json!([{ "id": 2 }]));
    let view = json!({ "sql": "SELECT c.city, EXTRACT(MONTH FROM c.at) AS m FROM cities AS c WHERE c.city LIKE '%o' ORDER BY c.id" });
    assert_eq!(root.post("/api/query", &view).json(), json!([{ "city": "Oslo", "m": 2 }]));
    let unnested = "SELECT s.id, i.sku FROM baskets AS s, UNNEST(s.items) AS i WHERE i.qty > 1 ORDER BY i.sku";
    let found = root.post("/api/query", &json!({ "sql": unnested })).json();
    assert_eq!(found, json!([{ "id": 1, "sku": "a" }, { "id": 2, "sku": "c" }]));
}

#[test]
fn jobs_have_caps_estimates_cost_nothing_and_hidden_rows_stay_hidden() {
    let warehouse = Warehouse::new();
    let server = warehouse.by_key();
    let root = server.client("root", "admin");
    let body = json!({ "table_id": "sales", "select": ["id"], "where": "region = 'it\\'s' OR id = 1" });
    warehouse.gate.would_read(2_000_000_000_000);
    let estimate = root.post("/api/v2/scan/estimate", &body).json();
    assert_eq!(estimate["estimated_scan_bytes"], 2_000_000_000_000_u64, "{estimate}");
    assert_eq!(estimate["bq_cost_estimate_usd"], 10.0, "{estimate}");
    assert_eq!(scan(&root, &body).json(), json!([{ "id": 1 }]));
    // Of a filtered table the size would tell of what is hidden.
    let filtered =
        server.client("ann", "analyst").post("/api/v2/scan/estimate", &json!({ "table_id": "sales" })).json();
    assert_eq!((&filtered["estimated_scan_bytes"], &filtered["bq_cost_estimate_usd"]), (&json!(null), &json!(null)));
    let jobs = warehouse.gate.jobs();
    assert!(jobs.len() >= 2);
    for job in &jobs {
        assert_eq!(job.pointer("/configuration/query/maximumBytesBilled"), Some(&json!("123456789")), "{job}");
        assert_eq!(job.pointer("/configuration/query/useLegacySql"), Some(&json!(false)));
    }
    let sent = jobs.last().unwrap().pointer("/configuration/query").unwrap();
    assert!(!sent["query"].as_str().unwrap().contains("it"), "{sent}");
    assert_eq!(sent.pointer("/queryParameters/0/parameterValue/value"), Some(&json!("it's")), "{sent}");
    // An error on a hidden row would tell of it.
    let ann = server.client("ann", "analyst");
    for filter in [
        "CAST(CASE WHEN region = 'EU' THEN '1' ELSE region END AS INT64) = 1",
        "1 / (CASE WHEN region = 'EU' THEN 1 ELSE 0 END) = 1",
    ] {
        let reply = scan(&ann, &json!({ "table_id": "sales", "select": ["id"], "where": filter, "order_by": ["id"] }));
        assert_eq!(reply.json(), json!([{ "id": 1 }, { "id": 2 }]), "{filter}: {}", reply.text());
    }
}

#[test]
fn who_asks_can_be_said_in_three_ways_and_is_patient() {
    let warehouse = Warehouse::new();
    let body = json!({ "table_id": "sales", "select": ["id"], "limit": 1, "order_by": ["id"] });
    for identity in [format!("metadata_url = '{}'", warehouse.gate.url), "token_env = 'WAREHOUSE_TOKEN'".to_owned()] {
        let reply = scan(&warehouse.server(&identity).client("root", "admin"), &body);
        assert_eq!(reply.json(), json!([{ "id": 1 }]), "{identity}: {}", reply.text());
    }
    // A token that is refused is told as what it is, and not shown.
    let reply = scan(&warehouse.server("token_env = 'STALE_TOKEN'").client("root", "admin"), &body);
    assert_eq!((reply.status, reply.json()["kind"].clone()), (503, json!("credentials")), "{}", reply.text());
    assert!(!reply.text().contains("token-0"));
    // One that is kept is used again; one that was taken back is fetched anew.
    let server = warehouse.by_key();
    let root = server.client("root", "admin");
    assert_eq!(scan(&root, &body).status, 200);
    let given = warehouse.gate.given();
    assert_eq!((scan(&root, &body).status, scan(&root, &body).status), (200, 200));
    assert_eq!(warehouse.gate.given(), given);
    warehouse.gate.shut(false);
    assert_eq!(scan(&root, &body).status, 200);
    assert_eq!(warehouse.gate.given(), given + 1);
    // What is only busy is asked again.
    warehouse.gate.busy(3);
    assert_eq!(scan(&root, &body).json(), json!([{ "id": 1 }]));
    warehouse.gate.busy(1_000);
    let reply = scan(&root, &body);
    assert_eq!(reply.status, 503, "{}", reply.text());
    warehouse.gate.busy(0);
    assert_eq!(scan(&root, &body).status, 200);
}

/// A part in GoogleSQL, under the filter of its own table, joined with a local file in DuckDB's SQL.
#[test]
fn results_are_joined_with_local_tables() {
    let warehouse = Warehouse::new();
    let prices = warehouse.dir.path().join("rates.csv");
    std::fs::write(&prices, "code,rate\nEU,2\nUS,3\n").unwrap();
    let local = format!("[sources.local]\nkind = 'files'\ntables = {{rates = '{}'}}\n", prices.display());
    let rates = "version: \"1\"\nresource: rates\nsource: local\ntable: rates\nfields:\n  \
        - {name: code, type: string}\n  - {name: rate, type: integer}\nroles:\n  analyst: {ops: [READ]}\n";
    let toml = format!("{}{local}", warehouse.section("token_env = 'WAREHOUSE_TOKEN'"));
    let server = crate::support::server().file("gatehouse.toml", &toml).env("WAREHOUSE_TOKEN", "token-1");
    let server = server.file("contracts/sales.yaml", CONTRACT).file("contracts/rates.yaml", rates).start();
    let part = "SELECT id, region, price, at, NULLIF(id, 2) AS odd FROM sales";
    let body = json!({
        "register": [{ "name": "s", "sql": part }],
        "sql": "SELECT s.id, s.price * r.rate AS cost, s.odd, s.at FROM s JOIN rates r ON r.code = s.region ORDER BY s.id",
    });
    let expected = json!([
        { "id": 1, "cost": 21.0, "odd": 1, "at": "2024-01-01T10:00:00Z" },
        { "id": 2, "cost": 198.0, "odd": null, "at": "2024-02-03T23:30:00Z" },
    ]);
    let ann = server.client("ann", "analyst");
    let reply = ann.post("/api/query/hybrid", &body);
    assert_eq!(reply.json(), expected, "{}", reply.text());
    assert_eq!(reply.header("x-gatehouse-filtered-by"), "sales");
    // What is hidden in the warehouse is hidden in the part: a count of everything counts two.
    let counted =
        json!({ "register": [{ "name": "s", "sql": "SELECT id FROM sales" }], "sql": "SELECT count(*) AS n FROM s" });
    assert_eq!(ann.post("/api/query/hybrid", &counted).json(), json!([{ "n": 2 }]));
    assert_eq!(server.client("root", "admin").post("/api/query/hybrid", &counted).json(), json!([{ "n": 3 }]));
    // A part has a cap on what it may cost, and says before what that would be.
    warehouse.gate.would_read(5_000_000);
    let estimate = json!({ "register": body["register"], "sql": body["sql"], "estimate": true });
    let parts = server.client("root", "admin").post("/api/query/hybrid", &estimate).json()["parts"].clone();
    assert_eq!(
        (&parts[0]["source"], &parts[0]["estimated_scan_bytes"]),
        (&json!("firm"), &json!(5_000_000)),
        "{parts}"
    );
    for job in warehouse.gate.jobs() {
        assert_eq!(job.pointer("/configuration/query/maximumBytesBilled"), Some(&json!("123456789")), "{job}");
    }
    // Neither side speaks the other's SQL.
    let wrong = json!({ "register": [{ "name": "s", "sql": "SELECT list_value(id) AS x FROM sales" }], "sql": "SELECT * FROM s" });
    assert_eq!(ann.post("/api/query/hybrid", &wrong).status, 400);
}

/// An account that could make tables is told of by the doctor; nothing is made to find out.
#[test]
fn the_doctor_tries_what_the_account_may_do() {
    let warehouse = Warehouse::new();
    let server = warehouse.by_key();
    let source = || {
        let said: Value = serde_json::from_slice(&server.command(&["doctor", "--json"]).stdout).unwrap();
        let found = said.as_array().unwrap().iter().find(|finding| finding["check"] == "source").cloned();
        found.unwrap_or_else(|| panic!("{said}"))
    };
    let writer = source();
    assert!(writer.to_string().contains("may create tables"), "{writer}");
    warehouse.gate.only_reads();
    let reader = source();
    assert!(reader.to_string().contains("read-only"), "{reader}");
    let tries = warehouse.gate.jobs().into_iter().filter(|job| job.to_string().contains("CREATE TABLE"));
    assert!(tries.clone().count() >= 2 && tries.into_iter().all(|job| job["configuration"]["dryRun"] == true));
    let tables = server.client("root", "admin").get("/api/v2/catalog").text();
    assert!(tables.contains("baskets") && !tables.contains("gatehouse_probe"), "{tables}");
}

#[test]
fn contracts_can_be_drafted_of_it() {
    let warehouse = Warehouse::new();
    warehouse
        .emulator
        .sql("CREATE TABLE people (id INT64, email STRING, joined DATE, at TIMESTAMP, tags ARRAY<STRING>)");
    let server = warehouse.by_key();
    let made = server.command(&["contracts", "init", "firm"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let people = std::fs::read_to_string(server.data().join("contracts/people.yaml")).unwrap();
    assert!(people.contains("pii: true") && people.contains("type: timestamp"), "{people}");
    let kept = std::fs::read_to_string(server.data().join("contracts/sales.yaml")).unwrap();
    assert_eq!(kept, CONTRACT, "what was there is left alone");
    let checked = server.command(&["contracts", "check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
