//! A READ of Records with a warm intent, against the bare call of the same statement on the same database.
//!
//! Both in one run on one machine: what the house adds, never a pass mark in seconds. `plan` is the same READ without words
//! (`POST /agent/db/plan`), so that what understanding costs can be told from what the path costs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that fails should say so at once"
)]

use serde_json::{Value, json};
use std::time::Instant;
use testkit::{Client, Postgres, Server, ServerBuilder};

const WARM_UP: usize = 50;
const CALLS: usize = 1_600;
const CALLERS: [usize; 2] = [1, 16];
/// The demo's law firm has so many clients.
const CLIENTS: usize = 80;

/// A call of one caller, for one client of the firm; how many rows it gave.
type Call = Box<dyn FnMut(usize) -> usize + Send>;

/// A database under the house: how one caller reaches it without.
struct Database {
    name: &'static str,
    server: Server,
    bare: Box<dyn Fn() -> Call>,
}

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    for database in [sqlite(), postgres()] {
        println!("a READ of Records on {}, and what it adds to the bare call (ms)", database.name);
        agree(&database);
        CALLERS.into_iter().for_each(|callers| compare(&database, callers));
    }
}

fn house() -> ServerBuilder {
    ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
        .env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1000000")
        .env("GATEHOUSE_LIMITS_BURST", "1000000")
}

/// The bare call is the same statement in this process, prepared once.
fn sqlite() -> Database {
    let server = house().demo().start();
    let file = server.data().join("datasets/crm/crm.sqlite");
    let bare = move || -> Call {
        let firm = rusqlite::Connection::open(&file).expect("the database");
        Box::new(move |client| {
            let sql = "SELECT id, client_id, status, created_at FROM cases WHERE client_id = ?1 AND status = 'ACTIVE' \
                       AND deleted_at IS NULL LIMIT 100";
            let mut statement = firm.prepare_cached(sql).expect("a statement");
            let row = |row: &rusqlite::Row<'_>| (0..4).map(|i| row.get::<_, String>(i)).collect::<Result<Vec<_>, _>>();
            let rows = statement.query_map([client.to_string()], row).expect("rows");
            rows.collect::<Result<Vec<_>, _>>().expect("rows").len()
        })
    };
    Database { name: "SQLite", server, bare: Box::new(bare) }
}

/// The bare call is what PostgREST sends: a transaction that takes the caller's role and claims, and the rows as JSON.
fn postgres() -> Database {
    let cluster = Postgres::shared();
    cluster.sql(
        "postgres",
        "CREATE ROLE crm_agent; CREATE ROLE crm_reader; CREATE ROLE crm LOGIN NOINHERIT PASSWORD 'g' IN ROLE crm_agent",
    );
    let database = cluster.database();
    cluster.sql(&database, include_str!("../tests/it/records/crm.sql"));
    let url = cluster.url_as("crm", "g", &database);
    let source = "[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\nsslmode = 'disable'\nwritable = true\n\
                  roles = {agent = 'crm_agent'}\n";
    let server = house()
        .env("CRM_URL", &url)
        .file("gatehouse.toml", source)
        .file("contracts/cases.yaml", include_str!("../../../demo/contracts/cases.yaml"))
        .start();
    let bare = move || -> Call {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (client, connection) =
            runtime.block_on(tokio_postgres::connect(&url, tokio_postgres::NoTls)).expect("a connection");
        runtime.spawn(connection);
        let rows = "SELECT coalesce(json_agg(rows), '[]')::text FROM (SELECT id, client_id, status, created_at FROM cases \
                    WHERE client_id = $1 AND status = 'ACTIVE' AND deleted_at IS NULL LIMIT 100) AS rows";
        let rows = runtime.block_on(client.prepare(rows)).expect("a statement");
        Box::new(move |of| {
            let claims = "BEGIN READ ONLY; SELECT set_config('role', 'crm_agent', true), \
                          set_config('request.jwt.claims', '{\"sub\": \"bench\"}', true)";
            runtime.block_on(async {
                client.batch_execute(claims).await.expect("a transaction");
                let row = client.query_one(&rows, &[&of.to_string()]).await.expect("rows");
                client.batch_execute("COMMIT").await.expect("its end");
                serde_json::from_str::<Vec<Value>>(row.get(0)).expect("JSON").len()
            })
        })
    };
    Database { name: "Postgres", server, bare: Box::new(bare) }
}

fn plan(client: Client) -> Call {
    Box::new(move |of| {
        let filter = json!([{ "field": "client_id", "op": "=", "value": of.to_string() },
                            { "field": "status", "op": "=", "value": "ACTIVE" }]);
        let step = json!({ "op": "READ", "resource": "cases", "where": filter, "limit": 100,
                           "select": ["id", "client_id", "status", "created_at"] });
        rows(&client.post("/agent/db/plan", &json!({ "version": "1", "steps": [step] })).json())
    })
}

fn words(client: Client) -> Call {
    Box::new(move |of| {
        let text = format!("Find id, client_id, status and created_at of all active cases for client {of}");
        rows(&client.post("/agent/db", &json!({ "natural_language": text })).json())
    })
}

fn rows(body: &Value) -> usize {
    assert_eq!(body["ok"], true, "{body}");
    body["data"].as_array().map_or(0, Vec::len)
}

/// All three give the same rows, or there is nothing to compare.
fn agree(Database { server, bare, .. }: &Database) {
    let (mut bare, mut plan) = (bare(), plan(server.client("bench", "agent")));
    let mut words = words(server.client("bench", "agent"));
    for client in 1..=CLIENTS {
        let counts = [bare(client), plan(client), words(client)];
        assert!(counts.iter().all(|count| *count == counts[0]), "client {client}: {counts:?}");
    }
}

fn compare(Database { server, bare, .. }: &Database, callers: usize) {
    let client = |i: usize| server.client(&format!("caller{i}"), "agent");
    let base = timed((0..callers).map(|_| bare()).collect());
    println!("  {callers:>2} at once      p50      p95      p99");
    println!("    bare    {:8.3} {:8.3} {:8.3}", base[0], base[1], base[2]);
    for (name, calls) in [
        ("plan", (0..callers).map(|i| plan(client(i))).collect::<Vec<_>>()),
        ("words", (0..callers).map(|i| words(client(i))).collect()),
    ] {
        let times = timed(calls);
        let added: Vec<f64> = times.iter().zip(&base).map(|(time, base)| time - base).collect();
        println!("    {name:<7} {:8.3} {:8.3} {:8.3}", times[0], times[1], times[2]);
        println!("      added {:8.3} {:8.3} {:8.3}", added[0], added[1], added[2]);
    }
}

/// p50, p95 and p99 of calls by so many callers at once, after a warm-up.
fn timed(calls: Vec<Call>) -> [f64; 3] {
    let each = CALLS / calls.len();
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let callers: Vec<_> = calls
            .into_iter()
            .map(|mut call| {
                scope.spawn(move || {
                    let mut time = |at: usize| {
                        let start = Instant::now();
                        call(1 + at % CLIENTS);
                        start.elapsed().as_secs_f64() * 1e3
                    };
                    (0..WARM_UP).for_each(|at| {
                        time(at);
                    });
                    (0..each).map(time).collect::<Vec<f64>>()
                })
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().expect("a caller")).collect()
    });
    times.sort_by(f64::total_cmp);
    [0.50, 0.95, 0.99].map(|share| times[((times.len() - 1) as f64 * share) as usize])
}
