//! Scans over HTTP against the same DuckDB in this process to a bare socket, and against a plain Python server.
//!
//! All of it in one run on one machine: ratios, never a pass mark in seconds. 1.00 is the in-process engine; more is faster.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that fails should say so at once"
)]

use arrow_ipc::writer::StreamWriter;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Server, ServerBuilder, workers_of};

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const ROWS: u64 = 10_000_000;
/// What is fetched, and how often.
const SCANS: [(&str, u64, usize); 3] = [("10M rows", ROWS, 5), ("250k rows", 250_000, 20), ("100 rows", 100, 100)];

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let file = data(dir.path());
    let plain = server(dir.path(), "0", "0");
    let baseline = in_process(&file);
    let python = Python::start(&file);
    println!("scans: ms p50, and speed against the same DuckDB in-process to a bare socket (= 1.00)");
    for (name, rows, rounds) in SCANS {
        let alone = p50(rounds, || read_all(&baseline, &rows.to_string()));
        println!("  {name:<10} in-process {alone:8.2} ms");
        let report = |who: &str, took: f64| println!("  {name:<10} {who:<22} {took:8.2} ms  {:.2}", alone / took);
        report("gatehouse", p50(rounds, || plain.fetch(rows)));
        match &python {
            Some(python) => {
                report("FastAPI, tuned", p50(rounds, || python.fetch("/tuned", rows)));
                report("FastAPI, as usual", p50(rounds, || python.fetch("/usual", rows)));
            }
            None => println!("  {name:<10} FastAPI: not measured, its packages cannot be had"),
        }
    }
    println!("memory: server {} MB, its workers {} MB", rss(plain.server.pid()), workers_rss(plain.server.pid()));
    if let Some(python) = &python {
        println!("memory: FastAPI {} MB", rss(python.child.id()));
    }
    let first = p50(10, || first_byte(&baseline, &ROWS.to_string()));
    let ours = p50(10, || plain.first_byte(ROWS));
    println!("first byte of 10M rows: in-process {first:.2} ms, gatehouse {ours:.2} ms, {:.2} times", ours / first);
    drop(plain);
    let hot = server(dir.path(), "0", "1024");
    hot.wait_for_copy(dir.path());
    for (name, rows, rounds) in SCANS {
        let alone = p50(rounds, || read_all(&baseline, &rows.to_string()));
        let took = p50(rounds, || hot.fetch(rows));
        println!("  {name:<10} {:<22} {took:8.2} ms  {:.2}", "gatehouse, hot copy", alone / took);
    }
    drop(hot);
    let cached = server(dir.path(), "256", "0");
    for (name, rows, rounds) in SCANS.into_iter().skip(1) {
        let alone = p50(rounds, || read_all(&baseline, &rows.to_string()));
        cached.fetch(rows);
        let took = p50(rounds, || cached.fetch(rows));
        println!("  {name:<10} {:<22} {took:8.2} ms  {:.2}", "gatehouse, repeated", alone / took);
        // No server can be faster than this.
        let bare = from_memory(cached.bytes(rows));
        let took = p50(rounds, || read_all(&bare, ""));
        println!("  {name:<10} {:<22} {took:8.2} ms  {:.2}", "the same bytes, bare", alone / took);
    }
}

const CONTRACT: &str = "\
version: \"1\"
resource: numbers
source: maths
table: numbers
fields:
  - {name: n, type: integer}
  - {name: share, type: number}
  - {name: name, type: string}
roles:
  analyst: {ops: [READ]}
";

fn data(dir: &Path) -> String {
    let file = dir.join("numbers.parquet").display().to_string();
    let duck = duckdb::Connection::open_in_memory().expect("DuckDB");
    let rows = format!(
        "SELECT range AS n, range % 1000 / 7.0::DOUBLE AS share, 'name ' || range % 5000 AS name FROM range({ROWS})"
    );
    duck.execute_batch(&format!("COPY ({rows}) TO '{file}'")).expect("a file");
    std::fs::create_dir_all(dir.join("contracts")).expect("a directory");
    std::fs::write(dir.join("contracts/numbers.yaml"), CONTRACT).expect("a contract");
    let toml = "[sources.maths]\nkind = \"files\"\ntables = { numbers = \"numbers.parquet\" }\nhot = [\"numbers\"]\n";
    std::fs::write(dir.join("gatehouse.toml"), toml).expect("a configuration");
    file
}

struct House {
    server: Server,
    token: String,
}

fn server(dir: &Path, cache_mb: &str, hot_mb: &str) -> House {
    let server = ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
        .data(dir)
        .env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1000000")
        .env("GATEHOUSE_LIMITS_BURST", "1000000")
        .env("GATEHOUSE_API_SCAN_RESULT_CACHE_MB", cache_mb)
        .env("GATEHOUSE_API_SCAN_HOT_COPY_MAX_MB", hot_mb)
        .env("GATEHOUSE_API_SCAN_MAX_DAILY_BYTES_PER_USER", "1000000000000")
        .start();
    let token = server.token("bench", "analyst");
    let house = House { server, token };
    house.fetch(1);
    house
}

impl House {
    fn ask(&self, rows: u64) -> TcpStream {
        let body = json!({ "table_id": "numbers", "where": format!("n < {rows}") });
        post(&self.server.url, "/api/v2/scan", Some(&self.token), &body)
    }

    fn fetch(&self, rows: u64) -> Duration {
        let start = Instant::now();
        drain(self.ask(rows));
        start.elapsed()
    }

    fn bytes(&self, rows: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.ask(rows).read_to_end(&mut bytes).expect("a whole answer");
        bytes
    }

    fn first_byte(&self, rows: u64) -> Duration {
        let start = Instant::now();
        let mut reader = BufReader::new(self.ask(rows));
        skip_head(&mut reader);
        reader.read_exact(&mut [0; 1]).expect("a byte");
        let took = start.elapsed();
        // Whoever goes away costs the house a worker, which is not what is measured.
        drain(reader.into_inner());
        took
    }

    /// The first worker finds no copy and has one made.
    fn wait_for_copy(&self, dir: &Path) {
        let is_made = || {
            std::fs::read_dir(dir.join("hot")).is_ok_and(|entries| {
                entries.flatten().any(|entry| entry.path().extension().is_some_and(|e| e == "duckdb"))
            })
        };
        let patience = Instant::now() + Duration::from_secs(300);
        while !is_made() {
            assert!(Instant::now() < patience, "no hot copy in time");
            std::thread::sleep(Duration::from_millis(50));
        }
        self.fetch(1);
    }
}

/// The plainest server there could be: DuckDB, a view over the same file, batches to a socket.
fn in_process(file: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let connection = duckdb::Connection::open_in_memory().expect("DuckDB");
    connection.execute_batch(&format!("CREATE VIEW numbers AS FROM read_parquet('{file}')")).expect("a view");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // Whoever only wants the first byte closes early.
            let _ = serve(&connection, stream.expect("a client"));
        }
    });
    address
}

fn serve(connection: &duckdb::Connection, stream: TcpStream) -> Result<(), Box<dyn std::error::Error>> {
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    let sql = format!("SELECT n, share, name FROM numbers WHERE n < {}", line.trim());
    let mut statement = connection.prepare(&sql)?;
    let batches = statement.stream_arrow([])?;
    let schema = batches.get_schema();
    let mut writer = StreamWriter::try_new(BufWriter::with_capacity(1 << 20, &stream), &schema)?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(writer.finish()?)
}

/// Bytes that are at hand, to a socket: nobody is asked who it is, and nothing is checked or recorded.
fn from_memory(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client");
            BufReader::new(&stream).read_line(&mut String::new()).expect("a request");
            stream.write_all(&bytes).expect("a reader");
        }
    });
    address
}

fn ask_socket(address: &str, rows: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the baseline");
    stream.write_all(format!("{rows}\n").as_bytes()).expect("a request");
    stream
}

fn read_all(address: &str, rows: &str) -> Duration {
    let start = Instant::now();
    drain(ask_socket(address, rows));
    start.elapsed()
}

fn first_byte(address: &str, rows: &str) -> Duration {
    let start = Instant::now();
    let mut stream = ask_socket(address, rows);
    stream.read_exact(&mut [0; 1]).expect("a byte");
    let took = start.elapsed();
    drain(stream);
    took
}

/// FastAPI, the same DuckDB and pyarrow, where they can be had (`scripts/python-deps bench`).
struct Python {
    child: Child,
    url: String,
}

impl Python {
    fn start(file: &str) -> Option<Self> {
        let made = Command::new(format!("{PROJECT}/scripts/python-deps")).arg("bench").output().ok()?;
        let python = String::from_utf8(made.stdout).ok().filter(|_| made.status.success())?;
        let mut command = Command::new(python.trim());
        command.arg(format!("{PROJECT}/tests/python/scan_server.py")).arg(file).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut url).ok()?;
        Some(Self { child, url: url.trim().to_owned() })
    }

    fn fetch(&self, path: &str, rows: u64) -> Duration {
        let start = Instant::now();
        drain(post(&self.url, path, None, &json!({ "rows": rows })));
        start.elapsed()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// By hand, so that no client takes part in what is measured.
fn post(url: &str, path: &str, token: Option<&str>, body: &Value) -> TcpStream {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("a server");
    let body = body.to_string();
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\n{token}content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("a request");
    stream
}

fn skip_head(reader: &mut impl BufRead) {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a status");
    assert!(line.contains(" 200 "), "{line}");
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).expect("a header");
    }
}

fn drain(mut stream: TcpStream) {
    let mut buffer = vec![0; 1 << 20];
    while stream.read(&mut buffer).expect("a whole answer") > 0 {}
}

fn p50(rounds: usize, mut fetch: impl FnMut() -> Duration) -> f64 {
    fetch();
    let mut took: Vec<f64> = (0..rounds).map(|_| fetch().as_secs_f64() * 1e3).collect();
    took.sort_by(f64::total_cmp);
    took[rounds / 2]
}

fn rss(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
}

fn workers_rss(server: u32) -> u64 {
    workers_of(server).into_iter().map(rss).sum()
}
