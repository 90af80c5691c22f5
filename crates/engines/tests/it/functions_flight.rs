//! Every function that policy allows over engines behind Flight SQL, over rows of which a filter hides those that it fails
//! on: hidden rows must not decide whether a statement fails, nor with which words.
//!
//! Callers write DuckDB's SQL, which policy puts into the words of Spark for Sail and of DataFusion for Ballista: what it
//! has words for is tried. Ballista takes a quarter of an hour to build; its statements are tried on DataFusion itself, of
//! the same version, from PyPI.

use crate::cases::{check, lines};
use crate::functions_support::{Column, Engine, Side, Trial, contracts, probe, statements};
use crate::jail::quick_engines;
use domain::{Caller, Dialect, Proposal, SourceSchema};
use engines::{FileTable, FlightSource, Source, SourceKind};
use policy::Approved;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use testkit::{Mode, Sail};
use tokio::runtime::Runtime;

/// Types are DuckDB's, which writes the files that the engines read.
#[rustfmt::skip]
const COLUMNS: &[Column] = &[
    Column("t", "TEXT", "'ab'", &["'('", "'['", "''", "'*'", "'a\\'", "'zz secret'", "'é'", "repeat('z', 2000)", "chr(1)"]),
    Column("n", "BIGINT", "3", &["0", "-1", "9223372036854775807", "-9223372036854775808", "400"]),
    Column("i", "INTEGER", "3", &["0", "-1", "2147483647", "-2147483648"]),
    Column("r", "DOUBLE", "0.5", &["0", "-1", "'Infinity'", "'-Infinity'", "'NaN'", "1e308", "-1e308", "1e-308"]),
    Column("m", "DECIMAL(18,3)", "3.5", &["0", "-1", "999999999999999.999", "-999999999999999.999"]),
    Column("h", "DECIMAL(38,0)", "3", &["0", "-1", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"]),
    Column("d", "DATE", "'2024-01-02'", &["'infinity'", "'-infinity'", "'5881580-07-10'", "'0001-01-01'"]),
    Column("ts", "TIMESTAMP", "'2024-01-02 03:04:05'", &["'infinity'", "'-infinity'", "'294247-01-10 04:00:54'"]),
    Column("tz", "TIMESTAMPTZ", "'2024-01-02 03:04:05+00'", &["'infinity'", "'-infinity'", "'294247-01-10 04:00:54+00'"]),
    Column("f", "BOOLEAN", "true", &["false", "NULL"]),
    Column("b", "BLOB", "'ab'", &["'\\xFF\\xFE'", "'\\x00'", "''", "'zz secret'"]),
    Column("ns", "BIGINT[]", "[1, 2]", &["[]", "[NULL]", "[9223372036854775807, 1]", "[0]"]),
    Column("tx", "TEXT[]", "['a', 'b']", &["[]", "['(']", "[NULL, 'x']"]),
    Column("num", "TEXT", "'12'", &["'abc'", "''", "'1e400'", "'99999999999999999999'"]),
    Column("dt", "TEXT", "'2024-01-02'", &["'bad'", "'2024-13-45'", "''", "'zz secret'"]),
    Column("js", "TEXT", r#"'{"a":1,"b":[1,2]}'"#, &["'{broken'", "''", "'['", r#"'{"a":"zz secret"}'"#]),
    Column("path", "TEXT", "'$.a'", &["'a['", "'$.'", "'$['", "''"]),
];

/// Several files, as tables of a lake have: what an engine learns from one, it tries on the statistics of the next.
const FILES: usize = 4;

/// Functions that policy translates by one of the arguments, so that its lists do not name them.
const BY_ARGUMENT: &str = "date_diff date_part date_trunc datediff datepart datetrunc strftime";

/// No function: the lists say by it how an item of a list is had.
const ITEM: &[&str] = &["item"];

const EXPRESSIONS: &str = include_str!("../cases/functions/flight.txt");

/// The functions that policy has words for: `abs`, `arg_max = max_by`, `trim/2 = …`. Operators and the like have a
/// space in their names.
fn names(list: &str) -> String {
    let names = lines(list).flat_map(|line| match line.split_once(" = ") {
        Some((call, _)) => vec![call.split('/').next().unwrap()],
        None => line.split_whitespace().collect(),
    });
    names.filter(|name| !name.contains(' ')).chain([BY_ARGUMENT]).collect::<Vec<_>>().join(" ")
}

/// Writes `probe` as files of a directory of its own.
fn files(dir: &Path, nasty: bool) -> PathBuf {
    let dir = dir.join(if nasty { "nasty" } else { "harmless" });
    std::fs::create_dir(&dir).unwrap();
    let duck = duckdb::Connection::open_in_memory().unwrap();
    duck.execute_batch(&probe(COLUMNS, nasty)).unwrap();
    // Each file has a hidden row of NULLs: a column without any is declared so there, and on one side alone.
    let nulls = format!("INSERT INTO probe (id, region) SELECT 1000 + 2 * k, 'A' FROM range({FILES}) AS r (k)");
    duck.execute_batch(&nulls).unwrap();
    for file in 0..FILES {
        let rows = format!("SELECT * FROM probe WHERE id // 2 % {FILES} = {file} ORDER BY id");
        let path = dir.join(format!("{file}.parquet"));
        duck.execute_batch(&format!("COPY ({rows}) TO '{}'", path.display())).unwrap();
    }
    dir
}

fn source(sail: &Sail, dir: &Path, nasty: bool) -> Source {
    let dir = files(dir, nasty);
    sail.sql(&format!("CREATE TABLE probe USING parquet LOCATION '{}'", dir.display()));
    let settings = FlightSource {
        url: sail.url(),
        token: None,
        ca: None,
        dialect: Dialect::Spark,
        databases: vec!["default".to_owned()],
        connections: 2,
    };
    Source { name: "crm".to_owned(), kind: SourceKind::Flight(Box::new(settings)) }
}

#[test]
fn no_function_tells_of_hidden_rows_of_sail() {
    let dir = tempfile::tempdir().unwrap();
    let sails = [Sail::start(Mode::Local), Sail::start(Mode::Local)];
    let sources = [source(&sails[0], dir.path(), true), source(&sails[1], dir.path(), false)];
    let runtime = Runtime::new().unwrap();
    let sides = runtime.block_on(async { sources.map(|source| Side { engines: quick_engines(), source }) });
    let trial = Trial {
        engine: "Sail",
        columns: COLUMNS,
        functions: &names(include_str!("../../../policy/src/translate/functions/spark.txt")),
        expressions: EXPRESSIONS,
        excepted: ITEM,
    };
    trial.run(&runtime, &sides);
}

/// DataFusion in a process of its own, which answers a statement a line.
struct DataFusion {
    child: Child,
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    schema: SourceSchema,
}

impl DataFusion {
    fn start(dir: &Path, schema: SourceSchema) -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python/datafusion_probe.py");
        let mut command = Command::new(testkit::environment(Some("datafusion")));
        command.arg(program).arg(dir).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pipes = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, pipes: Mutex::new(pipes), schema }
    }
}

impl Drop for DataFusion {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Engine for DataFusion {
    async fn describe(&self) -> SourceSchema {
        self.schema.clone()
    }

    /// Without the engine's words, which callers under a filter do not get.
    async fn run(&self, approved: &Approved) -> Result<String, String> {
        assert!(approved.params().is_empty(), "values are literals: {}", approved.sql());
        let mut pipes = self.pipes.lock().unwrap();
        writeln!(pipes.0, "{}", serde_json::to_string(approved.sql()).unwrap()).unwrap();
        let mut reply = String::new();
        pipes.1.read_line(&mut reply).unwrap();
        serde_json::from_str::<Result<String, String>>(&reply).unwrap().map_err(|_| "failed".to_owned())
    }
}

/// The schema as Flight SQL tells it, where types go by DuckDB's names.
fn schema(runtime: &Runtime, dir: &Path) -> SourceSchema {
    let file = FileTable::new("probe", dir.join("0.parquet"));
    let source = Source { name: "crm".to_owned(), kind: SourceKind::Files(vec![file]) };
    let described = runtime.block_on(async { quick_engines().describe(&source).await.unwrap() });
    SourceSchema { dialect: Dialect::DataFusion, ..described }
}

#[test]
fn no_function_tells_of_hidden_rows_of_datafusion() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = [true, false].map(|nasty| files(dir.path(), nasty));
    let runtime = Runtime::new().unwrap();
    let schema = schema(&runtime, &dirs[1]);
    let policy = contracts(COLUMNS, "region = 'E'");
    let has_words = |expression: &&str| {
        statements(expression).into_iter().all(|text| {
            let proposal = Proposal::Sql { source: "crm".to_owned(), text };
            check(&policy, &Caller::new("bob", "agent"), &schema, &proposal).is_ok()
        })
    };
    let expressions: Vec<&str> = lines(EXPRESSIONS).filter(has_words).collect();
    let sides = dirs.each_ref().map(|dir| DataFusion::start(dir, schema.clone()));
    let trial = Trial {
        engine: "DataFusion",
        columns: COLUMNS,
        functions: &names(include_str!("../../../policy/src/translate/functions/datafusion.txt")),
        expressions: &expressions.join("\n"),
        excepted: ITEM,
    };
    trial.run(&runtime, &sides);
}
