//! Two tenants in one database with row-level security: nothing of one's shows to the other, through any door, from any
//! cache, in any estimate, sample, statistic or error.

use serde_json::{Value, json};
use testkit::{Client, Postgres, Server};

/// Each tenant's rows hold a word that stands nowhere else.
const TENANTS: [(&str, &str, u32); 2] = [("acme", "Aardvark", 40), ("globex", "Zebra", 70)];

/// Policies as people write them for PostgREST: by a claim of the token. Gatehouse signs in as a role that may do nothing
/// but take the readers' role.
const DATABASE: &str = "
    CREATE TABLE invoices (id int PRIMARY KEY, tenant text NOT NULL, customer text, amount numeric(10,2), code text, due date);
    ALTER TABLE invoices ENABLE ROW LEVEL SECURITY;
    ALTER TABLE invoices FORCE ROW LEVEL SECURITY;
    CREATE POLICY own ON invoices USING (tenant = current_setting('request.jwt.claims', true)::json ->> 'tenant');
    CREATE VIEW open_invoices WITH (security_invoker = true) AS SELECT id, customer, amount FROM invoices WHERE amount > 10;
    CREATE ROLE gatehouse LOGIN NOINHERIT PASSWORD 'g';
    CREATE ROLE reader NOLOGIN;
    GRANT reader TO gatehouse;
    GRANT SELECT ON invoices, open_invoices TO reader;";

const CONTRACT: &str = "version: \"1\"
resource: RESOURCE
source: crm
table: RESOURCE
fields:
  - {name: id, type: integer}
  - {name: customer, type: string}
  - {name: amount, type: decimal}
MORE
roles:
  analyst: {ops: [READ]}
  clerk: {ops: [READ]}
";

struct Crm {
    server: Server,
    _dir: tempfile::TempDir,
    cluster: Postgres,
    database: String,
}

fn crm() -> Crm {
    let cluster = Postgres::start();
    let database = cluster.database();
    cluster.sql(&database, DATABASE);
    for (n, (tenant, word, rows)) in TENANTS.iter().enumerate() {
        let first = (n + 1) * 1000;
        cluster.sql(
            &database,
            &format!(
                "INSERT INTO invoices SELECT {first} + i, '{tenant}', '{word} ' || i, {first} + i + 0.25, '{word}', \
             DATE '2024-01-01' + i FROM generate_series(1, {rows}) AS i; ANALYZE invoices"
            ),
        );
    }
    let dir = tempfile::tempdir().unwrap();
    let contract = |resource: &str, more: &str| CONTRACT.replace("RESOURCE", resource).replace("MORE", more);
    let more = "  - {name: tenant, type: string}\n  - {name: code, type: string}\n  - {name: due, type: date}";
    let server = crate::support::server()
        .data(dir.path())
        .file("gatehouse.toml", "[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\nsslmode = 'disable'\nroles = {analyst = 'reader'}\n")
        .file("contracts/invoices.yaml", &contract("invoices", more))
        .file("contracts/open_invoices.yaml", &contract("open_invoices", ""))
        .env("CRM_URL", &cluster.url_as("gatehouse", "g", &database))
        .start();
    Crm { server, _dir: dir, cluster, database }
}

fn client(server: &Server, tenant: &str, role: &str) -> Client {
    let claim = format!("tenant={tenant}");
    let args = ["tokens", "create", "--actor", &format!("ann@{tenant}"), "--role", role, "--claim", &claim];
    let output = server.command(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Client::new(&server.url).bearer(String::from_utf8_lossy(&output.stdout).trim())
}

/// Everything that a caller can ask of the source, the same for both.
fn asked() -> Vec<(&'static str, &'static str, Value)> {
    let mut asked = vec![
        ("GET", "/api/v2/catalog", Value::Null),
        ("GET", "/api/v2/schema/invoices", Value::Null),
        ("GET", "/api/v2/schema/invoices?statistics=true", Value::Null),
        ("GET", "/api/v2/sample/invoices?n=100", Value::Null),
        ("GET", "/api/v2/sample/open_invoices", Value::Null),
        ("GET", "/api/sync/manifest", Value::Null),
        ("GET", "/datasets", Value::Null),
        ("GET", "/datasets/crm/schema?sample=5", Value::Null),
        ("GET", "/runs", Value::Null),
    ];
    let scans = [
        json!({ "table_id": "invoices" }),
        json!({ "table_id": "open_invoices" }),
        json!({ "table_id": "invoices", "where": "amount > 0", "order_by": ["customer"] }),
        json!({ "table_id": "invoices", "where": "tenant = 'globex'" }),
        json!({ "table_id": "invoices", "where": "tenant = 'acme'" }),
        json!({ "table_id": "invoices", "where": "customer LIKE 'Zebra%'" }),
        json!({ "table_id": "invoices", "where": "CAST(code AS INTEGER) > 0" }),
    ];
    for scan in scans {
        asked.push(("POST", "/api/v2/scan", scan.clone()));
        asked.push(("POST", "/api/v2/scan/estimate", scan));
    }
    let statements = [
        "SELECT * FROM invoices",
        "SELECT count(*), max(customer), min(amount) FROM invoices",
        "SELECT tenant, count(*) FROM invoices GROUP BY tenant",
        "SELECT CAST(customer AS integer) FROM invoices",
        "SELECT 1 / (amount - 2001.25) FROM invoices WHERE tenant = 'globex'",
        "SELECT string_agg(customer, ',') FROM open_invoices",
        "SELECT current_setting('request.jwt.claims')",
        "SELECT set_config('request.jwt.claims', '{\"tenant\": \"globex\"}', true), customer FROM invoices",
        "SELECT * FROM pg_stats",
        "SELECT most_common_vals FROM pg_catalog.pg_stats",
    ];
    for sql in statements {
        asked.push(("POST", "/api/query", json!({ "sql": sql })));
        asked.push(("POST", "/datasets/crm/query", json!({ "sql": sql })));
        asked.push(("POST", "/chat", json!({ "dataset_id": "crm", "message": sql })));
        asked.push((
            "POST",
            "/mcp/crm",
            json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": "read_query", "arguments": { "sql": sql } },
            }),
        ));
    }
    let questions = [
        "How many invoices are there?",
        "Total amount by customer",
        "invoices of customer Zebra 7",
        "invoices of customer Aardvark 7",
        "Total amount by code",
    ];
    asked.extend(questions.map(|message| ("POST", "/chat", json!({ "dataset_id": "crm", "message": message }))));
    asked
}

fn send(client: &Client, method: &str, path: &str, body: &Value) -> testkit::Reply {
    let client = client
        .clone()
        .header("accept", if path == "/mcp/crm" { "application/json, text/event-stream" } else { "application/json" });
    if method == "GET" { client.get(path) } else { client.post(path, body) }
}

#[test]
fn nothing_of_one_tenant_shows_to_the_other() {
    let crm = crm();
    let (mut tried, mut seen) = (0, Vec::new());
    // Twice, so that whatever is kept is asked for by the other as well.
    for (tenant, word, _) in [TENANTS, TENANTS].concat() {
        let client = client(&crm.server, tenant, "analyst");
        let (_, others, _) = TENANTS.iter().find(|(other, ..)| *other != tenant).unwrap();
        let mut own = 0;
        for (method, path, body) in asked() {
            let reply = send(&client, method, path, &body);
            tried += 1;
            let text = reply.text();
            own += usize::from(text.contains(word));
            // What the caller wrote comes back in errors and records: it is no secret.
            let said = body.to_string();
            if text.replace("Zebra 7", "").replace("Zebra%", "").replace("Aardvark 7", "").contains(others)
                && !said.contains(others)
            {
                seen.push(format!("{tenant}: {path} {body}\n    {}", text.chars().take(300).collect::<String>()));
            }
            assert_ne!(reply.status, 500, "{path} {body}: {text}");
        }
        assert!(own > 15, "{tenant} saw too little of its own to tell anything: {own}");
    }
    testkit::tally(
        "source",
        "requests of two tenants under row-level security",
        tried,
        "of the other's rows",
        seen.len(),
    );
    assert!(seen.is_empty(), "{} of {tried}:\n{}", seen.len(), seen.join("\n"));
}

#[test]
fn counts_and_estimates_are_the_tenants_own() {
    let crm = crm();
    for (tenant, _, rows) in [TENANTS, TENANTS].concat() {
        let client = client(&crm.server, tenant, "analyst");
        let all = json!({ "table_id": "invoices" });
        let estimate = client.post("/api/v2/scan/estimate", &all).json();
        assert_eq!(estimate["estimated_result_rows"], rows, "{estimate}");
        assert_eq!(estimate["estimated_scan_bytes"], Value::Null, "the size of the table is both tenants'");
        let theirs = json!({ "table_id": "invoices", "where": "code IN ('Zebra', 'Aardvark')" });
        assert_eq!(client.post("/api/v2/scan/estimate", &theirs).json()["estimated_result_rows"], rows);
        let counted = client.post("/api/query", &json!({ "sql": "SELECT count(*) AS n FROM invoices" })).json();
        assert_eq!(counted, json!([{ "n": rows }]));
        let catalog = client.get("/api/v2/catalog").text();
        assert!(!catalog.contains("110"), "{catalog}");
    }
}

#[test]
fn a_role_without_one_in_the_database_may_not_read() {
    let crm = crm();
    let clerk = client(&crm.server, "acme", "clerk");
    let reply = clerk.post("/api/v2/scan", &json!({ "table_id": "invoices" }));
    assert_eq!(reply.status, 403, "{}", reply.text());
    assert!(reply.text().contains("no_role"), "{}", reply.text());
}

#[test]
fn the_doctor_names_a_role_or_an_owner_whom_row_level_security_does_not_bind() {
    let crm = crm();
    let finding = |change: &str| {
        crm.cluster.sql(&crm.database, change);
        let findings: Value = serde_json::from_slice(&crm.server.command(&["doctor", "--json"]).stdout).unwrap();
        findings.as_array().unwrap().iter().find(|f| f["check"] == "source").cloned().unwrap_or_default()
    };
    assert_eq!(finding("SELECT 1")["verdict"], "ok");
    let cases = [
        ("ALTER ROLE reader BYPASSRLS", "`reader`: a role above row-level security"),
        (
            "ALTER ROLE reader NOBYPASSRLS; ALTER ROLE gatehouse BYPASSRLS",
            "`gatehouse`: a role above row-level security",
        ),
        (
            "ALTER ROLE gatehouse NOBYPASSRLS; ALTER TABLE invoices OWNER TO reader; \
             ALTER TABLE invoices NO FORCE ROW LEVEL SECURITY",
            "the owner of `invoices`",
        ),
    ];
    for (change, told) in cases {
        let finding = finding(change);
        assert_eq!(finding["verdict"], "fail", "{change}: {finding}");
        assert!(finding.to_string().contains(told), "{change}: {finding}");
    }
    assert_eq!(finding("ALTER TABLE invoices FORCE ROW LEVEL SECURITY")["verdict"], "ok");
}
