//! More than there is: small files that are large inside, and statements without an end.
//!
//! Each costs its own worker at most. It ends in time, this process does not grow, and meanwhile others are served.

use crate::cases::{self, is_bomb, lines, rejected, sql};
use crate::firm::{Firm, callers};
use crate::jail::{engines, sandbox};
use crate::secrets::engine;
use crate::talk::{Answer, Talk};
use domain::{Dialect, Fault, Limits, SourceSchema};
use engines::{Engines, Executed, FileTable, Settings, Source, SourceKind};
use policy::Policy;
use sandbox::JailLimits;
use std::path::Path;
use std::time::{Duration, Instant};

const SECONDS: u64 = 1;
const PATIENCE: u64 = 20;
/// Starting and ending a worker, on a machine that has other things to do.
const SLACK: Duration = Duration::from_secs(8);
/// What this process may grow by while bombs of 10 GB go off, with other tests beside it.
const GROWTH: u64 = 512 * 1024 * 1024;

/// The limits of the house, with a whole processor: a bomb should go off soon.
const JAIL: JailLimits = JailLimits {
    memory_bytes: 512 * 1024 * 1024,
    address_space_bytes: 768 * 1024 * 1024,
    processes: 64,
    cpus: 1.0,
    tmp_bytes: 64 * 1024 * 1024,
    tmp_files: 1024,
    open_files: 256,
};

/// Everybody may read everything: what is tried here is not what they see.
fn policy(schema: &SourceSchema) -> Policy {
    let mut files = Vec::new();
    for table in &schema.tables {
        let name = &table.name;
        let fields: Vec<String> = table.columns.iter().map(|c| format!("{{name: {}, type: string}}", c.name)).collect();
        let yaml = format!(
            "{{version: '1', resource: {name}, source: crm, table: {name}, fields: [{}], public: true}}",
            fields.join(", ")
        );
        files.push((format!("{name}.yaml"), yaml));
    }
    Policy::load(files).unwrap()
}

/// Two long words, a million times: a dictionary in the file, 10 GB when somebody builds on each.
fn parquet_bomb(dir: &Path) -> FileTable {
    let path = dir.join("bomb.parquet");
    let words = ["x", "y"].map(|letter| format!("'{}'", letter.repeat(10_000)));
    let connection = duckdb::Connection::open_in_memory().unwrap();
    let copy = format!(
        "CREATE TYPE word AS ENUM ({}); COPY (SELECT enum_range(NULL::word)[1 + i % 2]::word AS s, i AS id \
         FROM range(1000000) t(i)) TO '{}' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)",
        words.join(", "),
        path.display()
    );
    connection.execute_batch(&copy).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size <= 1_000_000, "{size} bytes are not small");
    FileTable::new("bomb", path)
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn must_not_have_grown(before: u64) {
    let grown = resident().saturating_sub(before);
    assert!(grown < GROWTH, "the supervisor grew by {grown} bytes");
}

async fn run(
    engines: &Engines,
    source: &Source,
    schema: &SourceSchema,
    role: usize,
    text: &str,
    seconds: u64,
) -> Result<Executed, Fault> {
    let limits = Limits { seconds, ..Limits::default() };
    let approved = policy(schema).check(&callers()[role], schema, &sql(text), &limits)?;
    engines.run(source, &approved, ()).await.map(|(executed, ())| executed)
}

fn word(outcome: &Result<Executed, Fault>) -> &'static str {
    match outcome {
        Ok(_) => "answered",
        Err(fault) => match fault.kind.chat_type() {
            "RUNNER_RESOURCE_EXCEEDED" => "exceeded",
            "RUNNER_TIMEOUT" => "timeout",
            _ => "otherwise",
        },
    }
}

/// What is wrong with what came of one case; nothing, if it is well.
async fn judge(engines: &Engines, source: &Source, schema: &SourceSchema, expected: &str, text: &str) -> Vec<String> {
    let start = Instant::now();
    // What is to be answered may take its time on a busy machine.
    let seconds = if expected == "answered" { PATIENCE } else { SECONDS };
    let (outcome, other) = tokio::join!(
        run(engines, source, schema, 0, text, seconds),
        run(engines, source, schema, 1, "SELECT count(*) FROM offices", PATIENCE),
    );
    let (word, mut wrong) = (word(&outcome), Vec::new());
    if word != expected && !(expected == "stopped" && ["exceeded", "timeout"].contains(&word)) {
        wrong.push(format!("{text}\n  {word}: {:?}", outcome.map(|e| e.rows.row_count)));
    }
    if start.elapsed() > Duration::from_secs(seconds) + SLACK {
        wrong.push(format!("{text}\n  took {:?}", start.elapsed()));
    }
    if let Err(fault) = other {
        wrong.push(format!("{text}\n  somebody else was not served: {fault}"));
    }
    wrong
}

async fn bombs(dialect: Dialect) {
    let dir = tempfile::tempdir().unwrap();
    let engines = engines(Settings { jail: JAIL, ..Settings::default() });
    let mut source = Firm::new().source(dialect, dir.path());
    if let SourceKind::Files(tables) = &mut source.kind {
        tables.push(parquet_bomb(dir.path()));
    }
    let before = resident();
    let schema = engines.describe(&source).await.unwrap();
    let (mut tried, mut wrong) = (0, Vec::new());
    for line in lines(include_str!("../cases/bombs.txt")) {
        let case: Vec<&str> = line.splitn(3, " | ").collect();
        if case[1] == cases::name(dialect) {
            tried += 1;
            wrong.extend(judge(&engines, &source, &schema, case[0], case[2]).await);
        }
    }
    must_not_have_grown(before);
    testkit::tally("engine", &format!("bombs that policy accepts: {dialect:?}"), tried, "escapes", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_cost_their_own_worker_of_duckdb() {
    bombs(Dialect::DuckDb).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_cost_their_own_worker_of_sqlite() {
    bombs(Dialect::Sqlite).await;
}

/// Files that nobody could have meant well: they are refused or read, in bounded time and memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_files_cost_their_own_worker() {
    let deep = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    let wide = |n: usize| (0..n).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    let files = [
        ("wide.csv", format!("{}\n{}\n", vec!["a"; 20_000].join(","), vec!["1"; 20_000].join(","))),
        ("line.csv", format!("a,b\n{}\n", "x".repeat(1_000_000))),
        ("quote.csv", format!("a,b\n\"{}\n", "1,2\n".repeat(200_000))),
        ("ragged.csv", (0..2_000).map(|i| ",".repeat(i % 500) + "\n").collect()),
        ("nul.csv", "a,b\n\0\0\0,\0\n".repeat(50_000)),
        ("deep.json", deep("[", "]", 500_000)),
        ("deeper.json", deep("{\"a\":", "}", 150_000)),
        ("wide.json", format!("{{{}}}", wide(20_000))),
        ("garbage.parquet", "PAR1".to_owned() + &"\u{7f}".repeat(100_000) + "PAR1"),
        ("empty.csv", String::new()),
        ("empty.parquet", String::new()),
    ];
    let dir = tempfile::tempdir().unwrap();
    let engines = engines(Settings { jail: JAIL, ..Settings::default() });
    let good = Firm::new().source(Dialect::Sqlite, dir.path());
    let (before, mut wrong) = (resident(), Vec::new());
    for (name, content) in &files {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        let kind = SourceKind::Files(vec![FileTable::new("t", path)]);
        let source = Source { name: "hostile".to_owned(), kind };
        let start = Instant::now();
        let outcome = engines.describe(&source).await.map(|schema| schema.tables.len());
        let told = format!("{outcome:?}");
        if told.contains("worker_lost") || told.contains(&*dir.path().to_string_lossy()) {
            wrong.push(format!("{name}: {told}"));
        }
        if start.elapsed() > Duration::from_secs(20) {
            wrong.push(format!("{name} took {:?}: {outcome:?}", start.elapsed()));
        }
        if let Err(fault) = engines.describe(&good).await {
            wrong.push(format!("after {name} nobody else was served: {fault}"));
        }
    }
    must_not_have_grown(before);
    testkit::tally("engine", "hostile files", files.len(), "escapes", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What policy refuses for its size, straight to the worker.
#[test]
fn bombs_that_policy_refuses_are_held_all_the_same() {
    let Some(sandbox) = sandbox("T1", "runner").or_else(|| sandbox("T2", "runner")) else { panic!("no sandbox") };
    let (before, mut tried) = (resident(), 0);
    for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
        let dir = tempfile::tempdir().unwrap();
        let source = Firm::new().source(dialect, dir.path());
        let start = || {
            let read = source.paths().into_iter().map(Into::into).collect();
            let mut talk = Talk::start(&sandbox, read, JAIL);
            let open = engine(&source, |path| talk.inside(path));
            talk.open(&open);
            talk
        };
        let mut talk = start();
        for (_, text) in rejected(dialect).into_iter().filter(|(code, text)| is_bomb(code, text)) {
            let answer = talk.query(&text, Duration::from_millis(500));
            tried += 1;
            if matches!(answer, Answer::Died | Answer::Late) {
                talk = start();
            }
        }
    }
    must_not_have_grown(before);
    testkit::tally("jail", "bombs that policy refuses", tried, "escapes", 0);
}
