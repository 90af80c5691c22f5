//! Contracts in force: hidden fields, row filters, hot reload, drafts.

use crate::support::{demo, rows, server, sql};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{Client, Server};

#[test]
fn a_hidden_field_is_nowhere() {
    let analyst = demo().client("ann", "analyst");
    for text in ["SELECT * FROM customers LIMIT 5", "SELECT c.* FROM customers c LIMIT 5"] {
        let body = sql(&analyst, "shop", text);
        assert!(!body["result"].to_string().contains('@'), "{body}");
    }
    for text in [
        "SELECT email FROM customers",
        "SELECT name FROM customers ORDER BY email",
        "SELECT count(*) FROM customers WHERE email LIKE 'a%'",
        "SELECT max(customers.email) FROM customers",
    ] {
        let body = sql(&analyst, "shop", text);
        let unknown = sql(&analyst, "shop", &text.replace("email", "emall"));
        assert_eq!(body["status"], "refused", "{text}");
        assert_eq!(body["result"]["error"]["code"], unknown["result"]["error"]["code"], "as if it did not exist");
    }
    let admin = demo().client("root", "admin");
    assert!(sql(&admin, "shop", "SELECT email FROM customers LIMIT 1").to_string().contains('@'));
}

#[test]
fn a_row_filter_applies_everywhere_and_is_said() {
    let agent = demo().client("robo", "agent");
    let body = sql(&agent, "sales", "SELECT DISTINCT region FROM sales_orders");
    assert_eq!(rows(&body), &vec![json!(["EMEA"])]);
    assert_eq!(body["filtered_by"], json!(["sales_orders"]));
    let reply = agent.post("/datasets/sales/query", &json!({ "sql": "SELECT count(*) FROM sales_orders" }));
    assert_eq!(reply.header("x-gatehouse-filtered-by"), "sales_orders");
    let all = sql(&demo().client("ann", "analyst"), "sales", "SELECT count(*) FROM sales_orders");
    assert!(rows(&reply.json())[0][0].as_u64() < rows(&all)[0][0].as_u64());
    let counted = agent.get("/datasets/sales/schema").json();
    let orders = counted["tables"].as_array().unwrap().iter().find(|t| t["name"] == "sales_orders").unwrap();
    assert_eq!(orders["row_count"], rows(&reply.json())[0][0], "no count of rows that it may not see");
    // An answer about what it may not see does not claim that there is none.
    let asked = agent.ask("sales", "how many orders are in region APAC?");
    assert_eq!(asked["filtered_by"].as_array().map(Vec::len).unwrap_or(0), usize::from(asked["status"] == "succeeded"));
}

#[test]
fn a_role_without_a_contract_sees_nothing() {
    let device = demo().client("sensor", "device");
    assert_eq!(device.get("/datasets").json()["datasets"], json!([]));
    assert_eq!(device.post("/datasets/shop/query", &json!({ "sql": "SELECT 1" })).status, 404);
}

/// A server over one CSV with one contract, which tests then change.
fn small() -> Server {
    server()
        .file(
            "datasets/registry.json",
            r#"{"version":"1","datasets":[{"id":"cars","name":"Cars","files":[{"path":"cars.csv","table":"cars"}]}]}"#,
        )
        .file("datasets/cars.csv", "id,model,owner_email,price\n1,Astra,a@x.org,100\n2,Corsa,b@x.org,200\n")
        .file("contracts/cars.yaml", &contract("[READ]", "[owner_email]"))
        .start()
}

fn contract(ops: &str, hide: &str) -> String {
    format!(
        "version: \"1\"\nresource: cars\nsource: cars\ntable: cars\nkey: [id]\nfields:\n  - {{name: id, type: integer}}\n  \
         - {{name: model, type: string}}\n  - {{name: owner_email, type: string, pii: true}}\n  \
         - {{name: price, type: integer}}\nroles:\n  analyst: {{ops: {ops}, hide: {hide}}}\n"
    )
}

/// Asks until the answer is as wanted: a reload takes up to half a second.
fn until(client: &Client, text: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let body = sql(client, "cars", text);
        if wanted(&body) || start.elapsed() > Duration::from_secs(10) {
            return body;
        }
    }
}

#[test]
fn a_changed_contract_is_in_force_without_a_restart_and_a_broken_one_is_not() {
    let server = small();
    let analyst = server.client("ann", "analyst");
    let first = sql(&analyst, "cars", "SELECT * FROM cars ORDER BY id");
    assert_eq!(first["result"]["columns"], json!(["id", "model", "price"]));

    let path = server.data().join("contracts/cars.yaml");
    std::fs::write(&path, contract("[READ]", "[owner_email, price]")).unwrap();
    let body = until(&analyst, "SELECT * FROM cars", |b| b["result"]["columns"] == json!(["id", "model"]));
    assert_eq!(body["result"]["columns"], json!(["id", "model"]));

    // What was read before keeps nothing that is hidden now.
    let old = analyst.get(&format!("/runs/{}", first["run_id"].as_str().unwrap())).json();
    assert_eq!(old["result"]["rows"], json!([]), "{old}");

    // Two errors in one file: its last good text stays in force all the same.
    let broken = contract("[READ]", "[no_such_field]") + "  agent: {ops: [READ], hide: [nor_this]}\n";
    std::fs::write(&path, broken).unwrap();
    let start = Instant::now();
    let degraded = || server.stranger().get("/healthz").json()["dependencies"]["contracts"]["status"] == "degraded";
    while !degraded() && start.elapsed() < Duration::from_secs(10) {}
    assert!(degraded());
    assert_eq!(sql(&analyst, "cars", "SELECT * FROM cars")["result"]["columns"], json!(["id", "model"]), "last good");
}

#[test]
fn a_broken_contract_at_start_keeps_the_house_shut_and_all_problems_are_told() {
    let said = server()
        .file("contracts/a.yaml", "version: \"1\"\nresource: a\nbad_key: 1\n")
        .file("contracts/b.yaml", "version: \"9\"\nresource: b\n")
        .try_start()
        .err()
        .expect("a refusal");
    assert!(said.contains("a.yaml") && said.contains("b.yaml"), "{said}");
}

#[test]
fn contracts_can_be_drafted_checked_and_shown() {
    let server = small();
    std::fs::remove_file(server.data().join("contracts/cars.yaml")).unwrap();
    let admin = server.client("root", "admin");
    assert_eq!(sql(&admin, "cars", "SELECT count(*) FROM cars")["status"], "succeeded", "admins need no contract");

    assert!(server.command(&["contracts", "init", "cars"]).status.success());
    let draft = std::fs::read_to_string(server.data().join("contracts/cars.yaml")).unwrap();
    assert!(draft.contains("owner_email") && draft.contains("pii: true"), "{draft}");
    let checked = server.command(&["contracts", "check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let shown = server.command(&["contracts", "show", "cars", "--role", "analyst"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["ops_allowed"], json!(["READ"]));
    let email = shown["fields"].as_array().unwrap().iter().find(|f| f["name"] == "owner_email");
    assert!(email.is_none_or(|f| f["readable"] == false), "{shown}");
    assert_eq!(server.command(&["contracts", "show", "cars", "--role", "nobody"]).status.code(), Some(5));

    std::fs::write(server.data().join("datasets/cars.csv"), "id,model\n1,Astra\n").unwrap();
    let drift = server.command(&["contracts", "check"]);
    assert!(!drift.status.success() && String::from_utf8_lossy(&drift.stdout).contains("price"));
}

#[test]
fn contracts_can_be_drafted_of_a_database() {
    let postgres = testkit::Postgres::shared();
    let database = postgres.database();
    postgres.sql(
        &database,
        "CREATE TABLE clients (id bigint PRIMARY KEY, name text NOT NULL, email text, fee numeric(10,2), tags text[]);
         CREATE VIEW fees AS SELECT id, fee FROM clients;
         INSERT INTO clients VALUES (1, 'Ann', 'ann@example.com', 9.50, '{a}')",
    );
    let toml = "[sources.books]\nkind = 'postgres'\nurl_env = 'BOOKS_URL'\nsslmode = 'disable'\n";
    let server = server().file("gatehouse.toml", toml).env("BOOKS_URL", &postgres.url(&database)).start();
    let made = server.command(&["contracts", "init", "books"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let draft = std::fs::read_to_string(server.data().join("contracts/clients.yaml")).unwrap();
    for line in ["source: books", "key: [id]", "{name: fee, type: decimal, nullable: true}", "hide: [email]"] {
        assert!(draft.contains(line), "no `{line}` in\n{draft}");
    }
    assert!(server.data().join("contracts/fees.yaml").is_file(), "a view has one, too");
    let checked = server.command(&["contracts", "check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    // What is drafted is in force as it stands: an analyst reads, and sees no address.
    let (start, analyst) = (Instant::now(), server.client("ann", "analyst"));
    let answer = || sql(&analyst, "books", "SELECT * FROM clients");
    while answer()["status"] != "succeeded" && start.elapsed() < Duration::from_secs(10) {}
    assert_eq!(answer()["result"]["columns"], json!(["id", "name", "fee", "tags"]));
}

/// SQLite likes to evaluate conditions on an indexed column first. An error of a condition on a row
/// that policy hides would tell what stands in it.
#[test]
fn an_error_does_not_tell_of_a_hidden_row() {
    let contract = "version: \"1\"\nresource: staff\nsource: hr\ntable: staff\nkey: [id]\nfields:\n  \
        - {name: id, type: integer}\n  - {name: owner, type: string}\n  - {name: salary, type: integer}\n\
        roles:\n  analyst: {ops: [READ], rows: \"owner = $actor\"}\n";
    let server = server()
        .file(
            "datasets/registry.json",
            r#"{"version":"1","datasets":[{"id":"hr","name":"HR","files":[{"path":"hr.sqlite"}]}]}"#,
        )
        .file("contracts/staff.yaml", contract)
        .start();
    let hr = rusqlite::Connection::open(server.data().join("datasets/hr.sqlite")).unwrap();
    hr.execute_batch(
        "CREATE TABLE staff (id INTEGER PRIMARY KEY, owner TEXT, salary INTEGER);
         CREATE INDEX by_salary ON staff (salary);
         INSERT INTO staff VALUES (1, 'eve', 1000), (2, 'boss', 987654);",
    )
    .unwrap();
    let eve = server.client("eve", "analyst");
    for bound in [987_653, 987_654] {
        let text = format!(
            "SELECT count(*) FROM staff WHERE salary > 1100 \
             AND json_extract(CASE WHEN salary > {bound} THEN 'x' ELSE '{{}}' END, '$') IS NOT NULL"
        );
        let body = sql(&eve, "hr", &text);
        assert_eq!(body["result"]["rows"], json!([[0]]), "{body}");
    }
}
