//! Scans of a table in a database or a distributed engine through the house, against that engine's bare client.
//!
//! Both in one run on one machine: ratios, never a pass mark in seconds. 1.00 is the bare client, which keeps its connection,
//! takes rows as they come and reads every value (or decodes every batch); more is faster. Both count their rows.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that fails should say so at once"
)]

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use futures_util::TryStreamExt;
use serde_json::json;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::pin::pin;
use std::time::{Duration, Instant};
use testkit::{Mode, Postgres, Sail, Server, ServerBuilder};
use tokio::runtime::Runtime;
use tokio_postgres::NoTls;
use tonic::transport::{Channel, Endpoint};

const ROWS: u64 = 5_000_000;
/// As much of a reply's end is kept as its trailer may take.
const LAST: usize = 64 * 1024;
/// What is fetched, and how often.
const SCANS: [(&str, u64, usize); 3] = [("5M rows", ROWS, 3), ("250k rows", 250_000, 10), ("100 rows", 100, 50)];

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    postgres();
    sail();
}

fn postgres() {
    let cluster = Postgres::start();
    let database = cluster.database();
    cluster.sql(&database, &format!(
        "CREATE TABLE numbers AS SELECT n::bigint AS n, (n % 1000) / 7.0::double precision AS share, 'name ' || n % 5000 AS name, \
         (n % 100000)::numeric(12, 2) AS amount, DATE '2020-01-01' + (n % 2000)::int AS day \
         FROM generate_series(0, {ROWS} - 1) AS n; CREATE INDEX ON numbers (n); ANALYZE numbers"
    ));
    let url = cluster.url(&database);
    let source = "kind = 'postgres'\nurl_env = 'MATHS_URL'\nsslmode = 'disable'";
    let bare = BarePostgres::connect(&url);
    compare("Postgres", &House::start(source, &url), |rows| bare.fetch(rows));
}

fn sail() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("numbers.parquet");
    let duck = duckdb::Connection::open_in_memory().expect("DuckDB");
    duck.execute_batch(&format!(
        "COPY (SELECT range AS n, range % 1000 / 7.0 AS share, 'name ' || range % 5000 AS name,
            (range % 100000)::DECIMAL(12,2) AS amount, DATE '2020-01-01' + (range % 2000)::INTEGER AS day
         FROM range({ROWS})) TO '{}'",
        file.display()
    ))
    .expect("a table");
    for mode in Mode::BOTH {
        let sail = Sail::start(mode);
        sail.sql(&format!("CREATE TABLE numbers USING parquet LOCATION '{}'", file.display()));
        let source = format!("kind = 'flight'\nurl = '{}'", sail.url());
        let bare = BareFlight::connect(&sail.url());
        compare(&format!("Sail, {mode:?}"), &House::start(&source, ""), |rows| bare.fetch(rows));
    }
}

fn compare(engine: &str, house: &House, bare: impl Fn(u64) -> Duration) {
    println!("scans of {engine}: ms p50, and speed against the bare client (= 1.00)");
    for (name, rows, rounds) in SCANS {
        let bare = p50(rounds, || bare(rows));
        let ours = p50(rounds, || house.fetch(rows));
        println!("  {name:<10} bare {bare:8.2} ms, gatehouse {ours:8.2} ms  {:.2}", bare / ours);
    }
    println!("  memory of the server after them: {} MB", rss(house.server.pid()));
}

struct House {
    server: Server,
    token: String,
    _dir: tempfile::TempDir,
}

impl House {
    fn start(source: &str, url: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let server = ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
            .data(dir.path())
            .file("gatehouse.toml", &format!("[sources.maths]\n{source}\n"))
            .env("MATHS_URL", url)
            .env("GATEHOUSE_API_SCAN_MAX_DAILY_BYTES_PER_USER", "1000000000000")
            .start();
        let token = server.token("bench", "admin");
        let house = Self { server, token, _dir: dir };
        house.fetch(1);
        house
    }

    fn fetch(&self, rows: u64) -> Duration {
        let start = Instant::now();
        let body = json!({ "table_id": "numbers", "where": format!("n < {rows}") }).to_string();
        let address = self.server.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("a connection");
        let (token, length) = (&self.token, body.len());
        let head = format!(
            "POST /api/v2/scan HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nte: trailers\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).expect("a request");
        let (mut buffer, mut last) = (vec![0; 1 << 20], Vec::new());
        loop {
            match stream.read(&mut buffer).expect("a reply") {
                0 => break,
                read => {
                    // Of what is small the head tells how many rows there are; else the end.
                    last.extend_from_slice(&buffer[read.saturating_sub(LAST)..read]);
                    last.drain(..last.len().saturating_sub(LAST));
                }
            }
        }
        let took = start.elapsed();
        let told = String::from_utf8_lossy(&last).contains(&format!("x-gatehouse-rows: {rows}\r\n"));
        assert!(told, "not {rows} rows: {}", String::from_utf8_lossy(&last));
        took
    }
}

struct BarePostgres {
    runtime: Runtime,
    client: tokio_postgres::Client,
}

impl BarePostgres {
    fn connect(url: &str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls)).expect("a connection");
        runtime.spawn(connection);
        Self { runtime, client }
    }

    /// Every value is read. Decimals and dates have no reader in the bare client: they come, and are passed over.
    fn fetch(&self, rows: u64) -> Duration {
        let start = Instant::now();
        let sql = format!("SELECT n, share, name, amount, day FROM numbers WHERE n < {rows}");
        let count = self.runtime.block_on(async {
            let mut stream = pin!(self.client.query_raw(&sql, no_params()).await.expect("rows"));
            let mut count = 0;
            while let Some(row) = stream.try_next().await.expect("a row") {
                black_box((row.get::<_, i64>(0), row.get::<_, f64>(1), row.get::<_, &str>(2)));
                count += 1;
            }
            count
        });
        assert_eq!(count, rows);
        start.elapsed()
    }
}

struct BareFlight {
    runtime: Runtime,
    client: FlightSqlServiceClient<Channel>,
}

impl BareFlight {
    fn connect(url: &str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let endpoint = Endpoint::from_shared(url.to_owned()).expect("an address");
        let channel = runtime.block_on(endpoint.connect()).expect("a connection");
        let inner = FlightServiceClient::new(channel).max_decoding_message_size(64 << 20);
        Self { runtime, client: FlightSqlServiceClient::new_from_inner(inner) }
    }

    /// Every batch is decoded, and let go.
    fn fetch(&self, rows: u64) -> Duration {
        let start = Instant::now();
        let sql = format!("SELECT n, share, name, amount, day FROM numbers WHERE n < {rows}");
        let count = self.runtime.block_on(async {
            let mut client = self.client.clone();
            let info = client.execute(sql, None).await.expect("a plan");
            let mut count = 0;
            for ticket in info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket) {
                let mut batches = client.do_get(ticket).await.expect("rows");
                while let Some(batch) = batches.try_next().await.expect("a batch") {
                    count += black_box(batch).num_rows() as u64;
                }
            }
            count
        });
        assert_eq!(count, rows);
        start.elapsed()
    }
}

fn no_params() -> std::iter::Empty<&'static (dyn tokio_postgres::types::ToSql + Sync)> {
    std::iter::empty()
}

fn p50(rounds: usize, mut run: impl FnMut() -> Duration) -> f64 {
    let mut times: Vec<f64> = (0..rounds).map(|_| run().as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn rss(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("a number") / 1024
}
