//! `da query` against DuckDB's own command line, and `da fetch` against `curl` of the same scan to nowhere.
//!
//! All of it in one run on one machine: ratios, never a pass mark in seconds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that fails should say so at once"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Server, ServerBuilder};

const DA: &str = env!("CARGO_BIN_EXE_da");
const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// About 300 MB of Arrow. `DA_BENCH_ROWS=175000000` makes it 5 GB.
const ROWS: u64 = 10_000_000;
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
query_mode: remote
";

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let rows = std::env::var("DA_BENCH_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(ROWS);
    let bench = Bench::new(rows);
    bench.queries();
    bench.fetches(rows);
}

struct Bench {
    // Removed after the server has ended.
    server: Server,
    token: String,
    home: tempfile::TempDir,
    _data: tempfile::TempDir,
}

impl Bench {
    fn new(rows: u64) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let duck = duckdb::Connection::open_in_memory().expect("DuckDB");
        let sql = format!(
            "SELECT range AS n, range % 1000 / 7.0::DOUBLE AS share, 'name ' || range % 5000 AS name FROM range({rows})"
        );
        let file = data.path().join("numbers.parquet");
        duck.execute_batch(&format!("COPY ({sql}) TO '{}'", file.display())).expect("a file");
        std::fs::create_dir(data.path().join("contracts")).expect("a directory");
        std::fs::write(data.path().join("contracts/numbers.yaml"), CONTRACT).expect("a contract");
        let toml = "[sources.maths]\nkind = \"files\"\ntables = { numbers = \"numbers.parquet\" }\n";
        std::fs::write(data.path().join("gatehouse.toml"), toml).expect("a configuration");
        let server = ServerBuilder::new(Path::new(DA).with_file_name("gatehouse"))
            .data(data.path())
            .env("GATEHOUSE_API_SCAN_MAX_LIMIT", "1000000000")
            .env("GATEHOUSE_API_SCAN_MAX_RESULT_BYTES", "20000000000")
            .env("GATEHOUSE_API_SCAN_MAX_DAILY_BYTES_PER_USER", "1000000000000")
            .env("GATEHOUSE_API_SCAN_RESULT_CACHE_MB", "0")
            .start();
        let token = server.token("bench", "analyst");
        Self { server, token, home: tempfile::tempdir().expect("a directory"), _data: data }
    }

    fn da(&self, args: &[&str]) -> Command {
        let mut command = Command::new(DA);
        command.args(args).env("HOME", self.home.path()).env("DA_SERVER", &self.server.url);
        command.env("DA_TOKEN", &self.token).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// From the start of the program to its end.
    fn queries(&self) {
        run(&mut self.da(&["fetch", "numbers", "--where", "n < 1000000", "--as", "million", "--quiet"]));
        let database = self.home.path().join("agnes-data/user/duckdb/analytics.duckdb");
        let stock = stock_duckdb();
        println!("da query against DuckDB's own command line: ms p50 from start to end, and times its time");
        for (what, sql) in [
            ("one number", "SELECT 42"),
            (
                "1M rows, grouped",
                "SELECT name, count(*), sum(share) FROM million GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10",
            ),
            ("100 rows of 1M", "SELECT * FROM million WHERE n BETWEEN 500000 AND 500099"),
        ] {
            let theirs = p50(20, || {
                run(Command::new(&stock)
                    .arg("-readonly")
                    .arg(&database)
                    .arg(sql)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null()))
            });
            let ours = p50(20, || run(&mut self.da(&["query", sql])));
            println!("  {what:<18} duckdb {theirs:7.2} ms   da {ours:7.2} ms   {:.2}", ours / theirs);
        }
    }

    /// The same scan to nowhere and into a snapshot.
    fn fetches(&self, rows: u64) {
        let rounds = if rows > ROWS { 1 } else { 5 };
        let url = format!("{}/api/v2/scan", self.server.url);
        let authorization = format!("authorization: Bearer {}", self.token);
        let mut bytes: u64 = 0;
        let curl = p50(rounds, || {
            let mut command = Command::new("curl");
            command.args(["-sS", "-o", "/dev/null", "-w", "%{size_download}", "-H", &authorization]);
            command.args(["-d", "{\"table_id\": \"numbers\"}", &url]);
            let start = Instant::now();
            let output = command.output().expect("curl");
            bytes = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a size");
            start.elapsed()
        });
        let mut peak = 0;
        let ours = p50(rounds, || {
            let start = Instant::now();
            peak = peak.max(peak_memory(self.da(&["fetch", "numbers", "--force", "--no-estimate", "--quiet"])));
            start.elapsed()
        });
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        let rate = |ms: f64| bytes as f64 / 1000.0 / ms;
        println!(
            "da fetch of {rows} rows, {} MB of Arrow, into Parquet with hash, against curl to /dev/null",
            bytes / 1_000_000
        );
        println!(
            "  curl {curl:.0} ms ({:.0} MB/s)   da {ours:.0} ms ({:.0} MB/s)   {:.2} of its rate; da's memory at most {} MB",
            rate(curl),
            rate(ours),
            curl / ours,
            peak / 1000
        );
    }
}

fn p50(rounds: usize, mut what: impl FnMut() -> Duration) -> f64 {
    let mut all: Vec<f64> = (0..rounds).map(|_| what().as_secs_f64() * 1000.0).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn run(command: &mut Command) -> Duration {
    let start = Instant::now();
    assert!(command.status().expect("a program").success(), "{command:?}");
    start.elapsed()
}

/// The most that a program had in memory, in kB, looked up while it runs.
fn peak_memory(mut command: Command) -> u64 {
    let mut child = command.spawn().expect("a program");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0));
        if let Some(ended) = child.try_wait().expect("a child") {
            assert!(ended.success());
            return peak;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The program itself, without the launcher that Python puts before it.
fn stock_duckdb() -> PathBuf {
    let output = Command::new(format!("{PROJECT}/scripts/python-deps")).arg("da").output().expect("python-deps");
    let python = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let lib = python.parent().and_then(Path::parent).expect("an environment").join("lib");
    let found = std::fs::read_dir(lib).expect("a library").map(|entry| entry.expect("an entry").path());
    found.map(|dir| dir.join("site-packages/duckdb_cli/duckdb")).find(|path| path.exists()).expect("duckdb")
}
