//! Figures of the house, each as a ratio or a difference against a baseline of the same run.
//!
//! `make bench` prints them. There is no pass mark in seconds: machines differ.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that fails should say so at once"
)]

use domain::{Caller, Limits, Proposal};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::{Client, Server, ServerBuilder};

const WARM_UP: usize = 50;
const ROUNDS: usize = 400;
const CALLERS: usize = 8;

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let server = ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
        .demo()
        .env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1000000")
        .env("GATEHOUSE_LIMITS_BURST", "1000000")
        .start();
    let client = server.client("bench", "analyst");
    sandbox_cost(&server, &client);
    path_cost(&client);
    check_cost(&server, &client);
    throughput(&server);
    memory(&server, &client);
}

/// The same statement on the same file: in a warm jailed worker, and in this process.
fn sandbox_cost(server: &Server, client: &Client) {
    println!("warm sandboxed query against the same query in-process (ms, p50 of {ROUNDS})");
    let duckdb = in_process(server.data());
    for (name, sql) in [
        ("one row", "SELECT 1 AS one"),
        ("group of 25k rows", "SELECT region, sum(amount) AS total FROM sales_orders GROUP BY region"),
        ("1,000 rows", "SELECT order_id, order_date, amount FROM sales_orders LIMIT 1000"),
    ] {
        let mut compiled = String::new();
        let jailed = p50((0..WARM_UP + ROUNDS).map(|_| {
            let body = query(client, sql);
            compiled = body["details"]["compiled_sql"].as_str().expect("SQL").to_owned();
            body["details"]["timings"]["run_ms"].as_f64().expect("a time")
        }));
        let alone = p50((0..WARM_UP + ROUNDS).map(|_| {
            let start = Instant::now();
            let mut statement = duckdb.prepare(&compiled).expect("a statement");
            let rows: usize = statement.query_arrow([]).expect("rows").map(|batch| batch.num_rows()).sum();
            assert!(rows > 0);
            milliseconds(start.elapsed())
        }));
        println!("  {name:<20} jailed {jailed:7.3}  in-process {alone:7.3}  added {:+.3} ms", jailed - alone);
    }
}

fn in_process(data: &Path) -> duckdb::Connection {
    let connection = duckdb::Connection::open_in_memory().expect("DuckDB");
    let file = data.join("datasets/sales/sales_orders.parquet");
    connection
        .execute_batch(&format!("SET threads = 1; CREATE VIEW sales_orders AS FROM read_parquet('{}')", file.display()))
        .expect("a view");
    connection
}

/// Everything but planner and engine: connection, identify, check, record, reply.
fn path_cost(client: &Client) {
    let cost = p50((0..WARM_UP + ROUNDS).map(|_| {
        let start = Instant::now();
        let body = query(client, "SELECT 1 AS one");
        milliseconds(start.elapsed()) - body["details"]["timings"]["run_ms"].as_f64().expect("a time")
    }));
    let bare = p50((0..WARM_UP + ROUNDS).map(|_| {
        let start = Instant::now();
        assert_eq!(client.get("/livez").status, 200);
        milliseconds(start.elapsed())
    }));
    println!(
        "path cost without planner and engine (ms, p50): {cost:.3}, a bare request {bare:.3}, so {:+.3}",
        cost - bare
    );
}

/// `Policy::check`, in this process, on the demo's contracts.
fn check_cost(server: &Server, client: &Client) {
    println!("check per statement (µs, p50)");
    let files = std::fs::read_dir(server.data().join("contracts")).expect("contracts").map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).expect("a contract"))
    });
    let policy = policy::Policy::load(files).expect("the demo's contracts");
    let schema = schema_of(&policy);
    let caller = Caller::new("bench", "analyst");
    let limits = Limits::default();
    let plan = client.ask("sales", "Total revenue by region")["details"]["plan_json"].clone();
    let plan = policy::parse_plan_value(&plan).expect("a plan");
    let sql = |text: &str| Proposal::Sql { source: "sales".into(), text: text.into() };
    let cases = [
        ("plan", Proposal::Query { source: "sales".into(), plan: Box::new(plan) }),
        ("small SQL", sql("SELECT region, amount FROM sales_orders WHERE status = 'shipped' AND amount > 100")),
        (
            "typical SQL",
            sql("WITH m AS (SELECT date_trunc('month', order_date) AS month, region, sum(amount) AS revenue \
                 FROM sales_orders WHERE order_date >= DATE '2026-01-01' GROUP BY 1, 2) \
                 SELECT month, region, revenue, lag(revenue) OVER (PARTITION BY region ORDER BY month) AS before \
                 FROM m ORDER BY month, region"),
        ),
        ("10 KB of parentheses", sql(&format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000)))),
    ];
    for (name, proposal) in cases {
        let cost = p50((0..WARM_UP + ROUNDS).map(|_| {
            let start = Instant::now();
            let _ = std::hint::black_box(policy.check(&caller, &schema, &proposal, &limits));
            milliseconds(start.elapsed()) * 1e3
        }));
        println!("  {name:<20} {cost:9.1}");
    }
}

/// The source as its contracts describe it.
fn schema_of(policy: &policy::Policy) -> domain::SourceSchema {
    let tables = policy.contracts().filter(|c| c.source == "sales").map(|contract| domain::Table {
        name: contract.table.clone(),
        columns: contract.fields.iter().map(|f| domain::Column::new(&f.name, f.kind)).collect(),
        ..domain::Table::default()
    });
    domain::SourceSchema {
        source: "sales".into(),
        dialect: domain::Dialect::DuckDb,
        tables: tables.collect(),
        data_version: String::new(),
    }
}

fn throughput(server: &Server) {
    let asked = |callers: usize| {
        let clients: Vec<Client> = (0..callers).map(|i| server.client(&format!("caller{i}"), "analyst")).collect();
        let start = Instant::now();
        std::thread::scope(|scope| {
            for client in &clients {
                scope.spawn(|| {
                    (0..ROUNDS / 4)
                        .for_each(|_| assert_eq!(client.ask("shop", "customers per tier")["status"], "succeeded"))
                });
            }
        });
        (callers * (ROUNDS / 4)) as f64 / start.elapsed().as_secs_f64()
    };
    let (one, eight) = (asked(1), asked(CALLERS));
    println!("chat throughput: {eight:.0} answers/s at {CALLERS} callers, {one:.0} at one, {:.2} ×", eight / one);
}

/// What the server itself holds after many requests, against after few.
fn memory(server: &Server, client: &Client) {
    let requests = |count: usize| {
        (0..count).for_each(|_| {
            query(client, "SELECT 1 AS one");
        })
    };
    requests(100);
    let few = resident_mb(server.pid());
    requests(9_900);
    let many = resident_mb(server.pid());
    println!(
        "memory of the server: {few:.1} MB after 100 more requests, {many:.1} MB after 10,000, {:.2} ×",
        many / few
    );
}

fn resident_mb(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).expect("a number") / 1024.0
}

fn query(client: &Client, sql: &str) -> Value {
    client.post("/datasets/sales/query", &json!({ "sql": sql })).json()
}

/// The middle, after a warm-up.
fn p50(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.skip(WARM_UP).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
