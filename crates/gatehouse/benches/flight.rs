//! Scans of a table on Sail through the house, against the bare Flight SQL client on the same table.
//!
//! Both in one run on one machine: ratios, never a pass mark in seconds. 1.00 is the bare client, which decodes every batch
//! and keeps them; more is faster.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that fails should say so at once"
)]

use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use testkit::{Mode, Sail, Server, ServerBuilder};

const ROWS: u64 = 5_000_000;
/// What is fetched, and how often.
const SCANS: [(&str, u64, usize); 3] = [("5M rows", ROWS, 5), ("250k rows", 250_000, 10), ("100 rows", 100, 50)];

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
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
        let house = House::start(&sail);
        println!("scans of Sail, {mode:?}: ms p50, and speed against the bare client (= 1.00)");
        for (name, rows, rounds) in SCANS {
            let bare = p50(rounds, || bare(&sail, rows));
            let ours = p50(rounds, || house.fetch(rows));
            println!("  {name:<10} bare {bare:8.2} ms, gatehouse {ours:8.2} ms  {:.2}", bare / ours);
        }
        println!("memory of the server after them: {} MB", rss(house.server.pid()));
    }
}

struct House {
    server: Server,
    token: String,
    _dir: tempfile::TempDir,
}

impl House {
    fn start(sail: &Sail) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let server = ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
            .data(dir.path())
            .file("gatehouse.toml", &format!("[sources.maths]\nkind = 'flight'\nurl = '{}'\n", sail.url()))
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
            "POST /api/v2/scan HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).expect("a request");
        let (mut buffer, mut total) = (vec![0; 1 << 20], 0);
        loop {
            match stream.read(&mut buffer).expect("a reply") {
                0 => break,
                read => total += read as u64,
            }
        }
        assert!(total > rows * 20, "{total} bytes of {rows} rows");
        start.elapsed()
    }
}

/// A connection of its own, as a request to the house has.
fn bare(sail: &Sail, rows: u64) -> Duration {
    let start = Instant::now();
    let batches = sail.sql(&format!("SELECT n, share, name, amount, day FROM numbers WHERE n < {rows}"));
    assert_eq!(batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>(), rows);
    start.elapsed()
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
