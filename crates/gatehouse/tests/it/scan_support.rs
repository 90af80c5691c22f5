//! What the tests of the Scan door share: a table with a column of every kind, a large one, and readers of results.

use crate::support::server;
use arrow_array::RecordBatch;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::{Client, Reply, Server, ServerBuilder};
use ureq::http::Method;

pub const ARROW: &str = "application/vnd.apache.arrow.stream";

/// A data directory with `events` (500 rows, every kind of column) and `numbers` (as many rows as wanted).
pub fn data(rows: u64) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["datasets", "contracts"] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("contracts/events.yaml", include_str!("../../../policy/tests/scan/events.yaml"));
    write("contracts/numbers.yaml", NUMBERS);
    write(
        "datasets/registry.json",
        r#"{"version":"1","datasets":[
            {"id":"web","name":"Web","files":[{"path":"events.parquet","table":"events"}]},
            {"id":"maths","name":"Maths","files":[{"path":"numbers.parquet","table":"numbers"}]}]}"#,
    );
    let duck = duckdb::Connection::open_in_memory().unwrap();
    let path = |name: &str| dir.path().join("datasets").join(name).display().to_string();
    duck.execute_batch(&format!("COPY ({EVENTS}) TO '{}'", path("events.parquet"))).unwrap();
    let numbers = format!("SELECT range AS n, 'row ' || range AS name, range % 97 / 7.0 AS share FROM range({rows})");
    duck.execute_batch(&format!("COPY ({numbers}) TO '{}' (ROW_GROUP_SIZE 65536)", path("numbers.parquet"))).unwrap();
    dir
}

const NUMBERS: &str = "\
version: \"1\"
resource: numbers
source: maths
table: numbers
describe: Numbers and their names
fields:
  - {name: n, type: integer}
  - {name: name, type: string}
  - {name: share, type: number}
roles:
  analyst: {ops: [READ]}
where_examples: [\"n < 10\"]
query_mode: remote
";

const EVENTS: &str = "
    SELECT range AS id, DATE '2026-01-01' + CAST(range % 300 AS INTEGER) AS event_date,
        TIMESTAMP '2026-01-01 00:00:00' + INTERVAL (range) HOUR AS created_at, TIME '10:00:00' AS at_time,
        CASE WHEN range % 10 = 0 THEN NULL ELSE ['CZ', 'DE', 'FR'][1 + range % 3] END AS country_code,
        ['web', 'ios'][1 + range % 2] AS platform, 'session ' || range AS session_id,
        ['ann', 'bot'][1 + range % 2] AS owner, CAST(range / 4.0 AS DECIMAL(12,2)) AS amount,
        range / 3.0::DOUBLE AS score, CAST(range % 20 AS INTEGER) AS clicks, range % 5 = 0 AS is_bot,
        CAST('raw' AS BLOB) AS raw,
        {'os': 'linux', 'version': CAST(range % 4 AS INTEGER), 'screen': {'w': 1920, 'h': 1080}} AS device,
        ['a', 'b'] AS tags,
        [{'sku': 'x', 'price': 1.5::DOUBLE, 'seen': TIMESTAMP '2026-01-01 00:00:00'}] AS items,
        'hidden ' || range AS secret, 'no contract' AS not_in_contract
    FROM range(500)";

/// A server over such a directory.
pub fn over(dir: &TempDir) -> ServerBuilder {
    server().data(dir.path())
}

pub fn scan(client: &Client, body: &Value) -> Reply {
    client.post("/api/v2/scan", body)
}

/// Batches of an Arrow reply. Empty results have a schema, and one empty batch of it here.
pub fn batches(reply: &Reply) -> Vec<RecordBatch> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let reader = arrow_ipc::reader::StreamReader::try_new(reply.body.as_slice(), None).unwrap();
    let empty = RecordBatch::new_empty(reader.schema());
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    if batches.is_empty() { vec![empty] } else { batches }
}

pub fn row_count(reply: &Reply) -> usize {
    batches(reply).iter().map(RecordBatch::num_rows).sum()
}

/// The rows of a scan, as JSON.
pub fn rows(client: &Client, body: &Value) -> Value {
    let reply = scan(&client.clone().header("accept", "application/json"), body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

/// The details of all audit entries of a kind, the newest first.
pub fn audited(server: &Server, kind: &str) -> Vec<Value> {
    let ledger = rusqlite::Connection::open(server.data().join("ledger.sqlite")).unwrap();
    let mut entries =
        ledger.prepare("SELECT entry_json ->> '$.detail' FROM audit WHERE kind = ?1 ORDER BY seq DESC").unwrap();
    let details = entries.query_map([kind], |row| row.get::<_, String>(0)).unwrap();
    details.map(|detail| serde_json::from_str(&detail.unwrap()).unwrap()).collect()
}

/// A request of which only as much is read as a test wants.
pub struct Slow {
    stream: TcpStream,
}

impl Slow {
    /// Sends a scan that says that it knows trailers.
    pub fn scan(server: &Server, token: &str, body: &Value) -> Self {
        let address = server.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        let body = body.to_string();
        let head = format!(
            "{} /api/v2/scan HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nte: trailers\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            Method::POST,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        Self { stream }
    }

    /// Reads at least so many bytes.
    pub fn read(&mut self, least: usize) -> Vec<u8> {
        let mut bytes = vec![0; least];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Everything that is left.
    pub fn rest(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).unwrap();
        bytes
    }
}

/// Asks again until it is so. The server is at work meanwhile.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    // By time, not by count: how often a server can be asked depends on how busy the machine is.
    let patience = Instant::now() + Duration::from_secs(60);
    while Instant::now() < patience {
        if let Some(found) = ask() {
            return found;
        }
        std::thread::yield_now();
    }
    panic!("{what} did not happen");
}

/// The scans on record of one actor, the newest first.
pub fn runs(server: &Server, actor: &str) -> Vec<Value> {
    let admin = server.client("auditor", "admin");
    let list = admin.get(&format!("/runs?actor={actor}")).json();
    let ids = list["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned());
    ids.map(|id| admin.get(&format!("/runs/{id}")).json()).collect()
}

pub fn all(table: &str) -> Value {
    json!({ "table_id": table })
}
