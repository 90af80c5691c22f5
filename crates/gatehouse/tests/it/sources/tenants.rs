//! Two tenants in one database with row-level security: nothing of one's shows to the other, through any door, from any
//! cache, in any estimate, sample, statistic or error.

mod asked;

use crate::said::said;
use asked::{Asked, Words, naming, plain};
use serde_json::{Value, json};
use std::collections::BTreeSet;
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

fn client(server: &Server, name: &str, tenant: &str, role: &str) -> Client {
    let claim = format!("tenant={tenant}");
    let args = ["tokens", "create", "--actor", &format!("{name}@{tenant}"), "--role", role, "--claim", &claim];
    let output = server.command(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Client::new(&server.url).bearer(String::from_utf8_lossy(&output.stdout).trim())
}

/// What two tenants tried of each other, and what came of it.
#[derive(Default)]
struct Tried {
    requests: usize,
    /// Of them, those of which a reply told something of the other's.
    seen: Vec<String>,
}

impl Tried {
    fn told(&mut self, who: &str, asked: &Asked, how: &str, text: &str) {
        let text: String = text.chars().take(3_000).collect();
        self.seen.push(format!("{who}: {} {} {how}\n    {text}", asked.path, asked.body));
    }
}

#[test]
fn nothing_of_one_tenant_shows_to_the_other() {
    let crm = crm();
    let mut tried = Tried::default();
    // Twice, so that whatever is kept is asked for by the other as well; by another person of the tenant's each time, whose
    // runs are their own.
    for (round, (tenant, word, _)) in [TENANTS, TENANTS].concat().into_iter().enumerate() {
        let client = client(&crm.server, &format!("ann{round}"), tenant, "analyst");
        let words = Words::of(tenant);
        let (_, others, _) = TENANTS.iter().find(|(other, ..)| *other != tenant).unwrap();
        let (mut own, mut doors) = (0, BTreeSet::new());
        for asked in plain() {
            let reply = asked.send(&client, &[]);
            let text = reply.text();
            tried.requests += 1;
            if text.contains(word) {
                own += 1;
                doors.insert(asked.path);
            }
            if text.contains(others) {
                tried.told(tenant, &asked, "shows the other's", &text);
            }
            assert_ne!(reply.status, 500, "{} {}: {text}", asked.path, asked.body);
        }
        assert!(own > 20, "{tenant} saw too little of its own to tell anything: {own}");
        for door in ["/api/query", "/api/query/hybrid", "/chat", "/v1/chat/completions", "/mcp/crm", "/api/v2/scan"] {
            assert!(doors.contains(door), "{tenant} saw nothing of its own by {door}");
        }
        for asked in naming() {
            // What the caller wrote comes back in errors and records, and is no secret. Theirs twice: what a first try left
            // behind must not show either. Nobody's before and after: the planner reads a database's values anew every five
            // minutes, for 15 s at most, so that one question may find fewer of them than the next.
            let nobodys = || said(&asked.send(&client, &words.nobodys), &words.nobodys);
            let before = nobodys();
            let theirs = [(); 2].map(|()| asked.send(&client, &words.theirs));
            let after = nobodys();
            for reply in theirs {
                let theirs = said(&reply, &words.theirs);
                tried.requests += 1;
                if theirs != before && theirs != after {
                    tried.told(
                        tenant,
                        &asked,
                        "tells them apart",
                        &format!("{theirs:?}\n    {before:?}\n    {after:?}"),
                    );
                }
                assert_ne!(reply.status, 500, "{} {}: {}", asked.path, asked.body, reply.text());
            }
        }
    }
    testkit::tally(
        "source",
        "requests of two tenants under row-level security",
        tried.requests,
        "of the other's rows",
        tried.seen.len(),
    );
    assert!(tried.seen.is_empty(), "{} of {}:\n{}", tried.seen.len(), tried.requests, tried.seen.join("\n"));
}

/// The requests that name something tell it apart where they may: of a tenant's own rows.
#[test]
fn what_is_a_tenants_own_is_told_apart() {
    let crm = crm();
    let client = client(&crm.server, "ann", "acme", "analyst");
    let own = Words::of("globex").theirs;
    let nobodys = Words::of("globex").nobodys;
    let all = naming();
    let alike: Vec<String> = all
        .iter()
        .filter(|asked| said(&asked.send(&client, &own), &own) == said(&asked.send(&client, &nobodys), &nobodys))
        .map(|asked| format!("{} {}", asked.path, asked.body))
        .collect();
    assert!(alike.len() * 2 < all.len(), "{} of {}:\n{}", alike.len(), all.len(), alike.join("\n"));
}

#[test]
fn counts_and_estimates_are_the_tenants_own() {
    let crm = crm();
    for (tenant, _, rows) in [TENANTS, TENANTS].concat() {
        let client = client(&crm.server, "ann", tenant, "analyst");
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
    let clerk = client(&crm.server, "ann", "acme", "clerk");
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
    // Now it binds the owner, who may still write.
    let owner = finding("ALTER TABLE invoices FORCE ROW LEVEL SECURITY").to_string();
    assert!(owner.contains("may write to `invoices`") && !owner.contains("row-level security"), "{owner}");
    let change = "ALTER TABLE invoices OWNER TO CURRENT_USER; GRANT SELECT ON invoices TO reader";
    assert_eq!(finding(change)["verdict"], "ok");
}
