//! `POST /api/query/hybrid`: results of a distributed engine and of a database joined with local tables, each under its
//! own policy.

use crate::support::{server, verify};
use serde_json::{Value, json};
use std::path::Path;
use testkit::{Client, Mode, Postgres, Reply, Sail, Server};

/// Orders in Sail, refunds in Postgres, customers in a local file; an analyst does not see emails, of the orders only their
/// own, and no salaries.
struct House {
    _sail: Sail,
    server: Server,
    analyst: Client,
    admin: Client,
    dir: tempfile::TempDir,
}

const CONTRACTS: [(&str, &str); 3] = [
    (
        "orders",
        "version: \"1\"\nresource: orders\nsource: lake\ntable: orders\ndescribe: Orders\n\
         fields:\n  - {name: id, type: integer}\n  - {name: customer_id, type: integer}\n  \
         - {name: amount, type: decimal}\n  - {name: owner, type: string}\n\
         roles:\n  analyst: {ops: [READ], rows: \"owner = $actor\"}\n",
    ),
    (
        "customers",
        "version: \"1\"\nresource: customers\nsource: crm\ntable: customers\ndescribe: Customers\n\
         fields:\n  - {name: id, type: integer}\n  - {name: name, type: string}\n  \
         - {name: email, type: string, pii: true}\n\
         roles:\n  analyst: {ops: [READ], hide: [email]}\n",
    ),
    (
        "refunds",
        "version: \"1\"\nresource: refunds\nsource: books\ntable: refunds\ndescribe: Refunds\n\
         fields:\n  - {name: order_id, type: integer}\n  - {name: refunded, type: decimal}\n\
         roles:\n  analyst: {ops: [READ]}\n",
    ),
];

fn house() -> House {
    house_with("10000000")
}

/// A house in which one statement may give so many rows.
fn house_with(most_rows: &str) -> House {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let duck = duckdb::Connection::open_in_memory().unwrap();
    duck.execute_batch(&format!(
        "COPY (SELECT range::INTEGER AS id, (range % 10)::INTEGER AS customer_id,
            (range / 4.0)::DECIMAL(12,2) AS amount, ['ann', 'bob'][1 + range % 2] AS owner FROM range(1000)) TO '{}';
         COPY (SELECT range::INTEGER AS id, 'Customer ' || range AS name, range || '@example.com' AS email
            FROM range(10)) TO '{}'",
        file("orders.parquet"),
        file("customers.parquet"),
    ))
    .unwrap();
    let sail = Sail::start(Mode::Local);
    sail.sql(&format!("CREATE TABLE orders USING parquet LOCATION '{}'", file("orders.parquet")));
    let books = Postgres::shared();
    let database = books.database();
    books.sql(
        &database,
        "CREATE TABLE refunds AS SELECT n AS order_id, (n * 0.5)::NUMERIC(10,2) AS refunded FROM generate_series(0, 999, 5) n;
         CREATE TABLE salaries AS SELECT 'ann' AS who, 100000 AS salary",
    );
    let toml = format!(
        "[sources.lake]\nkind = 'flight'\nurl = '{}'\n[sources.crm]\nkind = 'files'\ntables = {{customers = '{}'}}\n\
         [sources.books]\nkind = 'postgres'\nurl_env = 'BOOKS_URL'\nsslmode = 'disable'\n",
        sail.url(),
        file("customers.parquet"),
    );
    let made = server().data(dir.path()).file("gatehouse.toml", &toml).env("BOOKS_URL", &books.url(&database));
    let made = made.env("GATEHOUSE_API_SCAN_MAX_LIMIT", most_rows);
    let made = CONTRACTS.iter().fold(made, |made, (name, text)| made.file(&format!("contracts/{name}.yaml"), text));
    let server = made.start();
    let (analyst, admin) = (server.client("ann", "analyst"), server.client("root", "admin"));
    House { _sail: sail, server, analyst, admin, dir }
}

fn hybrid(client: &Client, register: &[(&str, &str)], sql: &str) -> Reply {
    let register: Vec<Value> = register.iter().map(|(name, sql)| json!({ "name": name, "sql": sql })).collect();
    client.post("/api/query/hybrid", &json!({ "register": register, "sql": sql }))
}

const TOTALS: (&str, &str) =
    ("totals", "SELECT customer_id, sum(amount) AS total, count(*) AS n FROM orders GROUP BY customer_id");
const JOIN: &str = "SELECT c.name, t.total, t.n FROM customers c JOIN totals t ON t.customer_id = c.id ORDER BY c.id";

fn left_behind(dir: &Path) -> usize {
    std::fs::read_dir(dir.join("hybrid")).map_or(0, Iterator::count)
}

#[test]
fn results_of_two_sources_are_joined_under_the_policy_of_each() {
    let house = house();
    let all = hybrid(&house.admin, &[TOTALS], JOIN);
    assert_eq!(all.status, 200, "{}", all.text());
    let rows = all.json();
    assert_eq!(rows.as_array().unwrap().len(), 10, "{rows}");
    assert_eq!(rows[3], json!({ "name": "Customer 3", "total": 12450.0, "n": 100 }), "sum of 3, 13, … 993 over 4");

    // The row filter of the orders holds in the part, and the answer says so.
    let own = hybrid(&house.analyst, &[TOTALS], JOIN);
    assert_eq!(own.header("x-gatehouse-filtered-by"), "orders");
    let own = own.json();
    assert_eq!(own.as_array().unwrap().len(), 5, "only even customers have orders of ann's: {own}");
    for (register, sql, status) in [
        (TOTALS, "SELECT c.email FROM customers c, totals t", 400),
        (("o", "SELECT owner FROM orders WHERE owner = 'bob'"), "SELECT count(*) AS n FROM o", 200),
        (("o", "SELECT email FROM customers"), "SELECT * FROM o", 400),
        (("o", "SELECT * FROM salaries"), "SELECT * FROM o", 400),
        (("o", "SELECT 1 AS x"), "SELECT * FROM salaries, o", 400),
        (("o", "DELETE FROM orders"), "SELECT * FROM o", 400),
        (("o", "SELECT 1 AS x"), "SELECT * FROM read_text('/etc/passwd'), o", 400),
        (("o", "SELECT 1 AS x"), "SELECT * FROM 'o.parquet'", 400),
        (("o", "SELECT 1 AS x"), "DROP TABLE o", 400),
        (("o; DROP", "SELECT 1 AS x"), "SELECT 1", 400),
        (("O", "SELECT 1 AS x"), "SELECT 1", 400),
    ] {
        let reply = hybrid(&house.analyst, &[register], sql);
        assert_eq!(reply.status, status, "{register:?} {sql}: {}", reply.text());
        assert!(!reply.text().contains("@example.com") && !reply.text().contains("root:"), "{}", reply.text());
        if status == 200 {
            assert_eq!(reply.json(), json!([{ "n": 0 }]), "rows of bob's are not ann's to count");
        }
    }
    // The reply is there a moment before the task behind it has ended.
    let gone = (0..10_000).any(|_| left_behind(house.dir.path()) == 0);
    assert!(gone, "parts stay behind their statement");
    assert_eq!(verify(&house.server)["flaw"], Value::Null);
}

#[test]
fn three_sources_meet_and_each_part_is_on_record() {
    let house = house();
    let orders = ("o", "SELECT id, customer_id, amount FROM orders WHERE amount >= 10");
    let refunds = ("r", "SELECT order_id, refunded FROM refunds WHERE refunded > 1");
    let sql = "SELECT c.name, count(*) AS n, sum(r.refunded) AS back FROM o JOIN r ON r.order_id = o.id \
               JOIN customers c ON c.id = o.customer_id GROUP BY c.name ORDER BY c.name";
    let reply = hybrid(&house.admin, &[orders, refunds], sql);
    assert_eq!(reply.status, 200, "{}", reply.text());
    // Orders 40, 45 … 995 have refunds: 192 of them, of customers 0 and 5 in turn.
    let expected = json!([
        { "name": "Customer 0", "n": 96, "back": 24720.0 },
        { "name": "Customer 5", "n": 96, "back": 24960.0 },
    ]);
    assert_eq!(reply.json(), expected);
    // One session, in which each part and the join are runs of their own.
    let last = house.admin.get(&format!("/runs/{}", reply.header("x-gatehouse-run-id"))).json();
    let session = last["session_id"].as_str().unwrap_or_else(|| panic!("{last}"));
    let parts = house.admin.get(&format!("/runs?session_id={session}")).json();
    let mut sources: Vec<&str> =
        parts["runs"].as_array().unwrap().iter().map(|run| run["dataset_id"].as_str().unwrap()).collect();
    sources.sort_unstable();
    assert_eq!(sources, ["books", "crm", "lake"], "{parts}");
    // A part that is refused is on record as well, and nothing after it runs.
    let before = house.analyst.get("/runs").json()["runs"].as_array().unwrap().len();
    let refused = hybrid(&house.analyst, &[("s", "SELECT * FROM salaries"), orders], "SELECT * FROM s, o");
    assert_eq!(refused.status, 400, "{}", refused.text());
    let after = house.analyst.get("/runs").json();
    assert_eq!(after["runs"].as_array().unwrap().len(), before + 1);
    assert_eq!(after["runs"][0]["status"], "refused", "{after}");
}

#[test]
fn a_part_of_a_part_is_not_joined() {
    let house = house_with("500");
    let reply = hybrid(&house.admin, &[("o", "SELECT id FROM orders")], "SELECT count(*) AS n FROM o");
    assert_eq!((reply.status, reply.json()["kind"].clone()), (400, json!("part_too_large")), "{}", reply.text());
    assert!(reply.text().contains("more than the 500 rows that one statement may give"), "{}", reply.text());
    let fitting = hybrid(&house.admin, &[("o", "SELECT id FROM orders WHERE id < 500")], "SELECT count(*) AS n FROM o");
    assert_eq!(fitting.json(), json!([{ "n": 500 }]));
}

#[test]
fn a_part_is_nobody_elses_and_has_a_size() {
    let house = house();
    let reply = hybrid(&house.analyst, &[TOTALS], JOIN);
    assert_eq!(reply.status, 200);
    // The name means nothing after the statement, to nobody.
    for client in [&house.analyst, &house.admin] {
        assert_ne!(client.post("/api/query", &json!({ "sql": "SELECT * FROM totals" })).status, 200);
    }
    let parts: Vec<(String, String)> = (0..9).map(|n| (format!("p{n}"), "SELECT id FROM orders".to_owned())).collect();
    let parts: Vec<(&str, &str)> = parts.iter().map(|(name, sql)| (name.as_str(), sql.as_str())).collect();
    assert_eq!(hybrid(&house.admin, &parts, "SELECT 1").status, 400, "too many parts");
    assert_eq!(hybrid(&house.admin, &[TOTALS, TOTALS], JOIN).status, 400, "one name twice");
    assert_eq!(hybrid(&house.admin, &[], "SELECT 1").status, 400, "no parts");
}

#[test]
fn estimates_say_what_each_part_would_read() {
    let house = house();
    let body = json!({ "register": [{ "name": "o", "sql": "SELECT id FROM orders WHERE amount > 100" },
        { "name": "c", "sql": "SELECT name FROM customers" }], "sql": "SELECT 1", "estimate": true });
    let reply = house.admin.post("/api/query/hybrid", &body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let parts = reply.json()["parts"].clone();
    assert_eq!((&parts[0]["name"], &parts[0]["source"]), (&json!("o"), &json!("lake")));
    assert!(parts[0]["estimated_scan_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{parts}");
    assert!(parts[0]["estimated_result_rows"].as_u64().is_some_and(|rows| rows <= 1000), "{parts}");
    assert_eq!(parts[1]["source"], "crm");
    // Where a filter hides rows, statistics over all of them are not told.
    let own = house.analyst.post("/api/query/hybrid", &body).json()["parts"].clone();
    assert_eq!(own[0]["estimated_scan_bytes"], Value::Null, "{own}");
    assert!(own[0]["estimated_result_rows"].as_u64().is_some_and(|rows| rows < 500), "{own}");
}
