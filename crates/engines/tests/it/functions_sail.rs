//! Every function that policy allows over Sail, over rows of which a filter hides those that it fails on: hidden rows
//! must not decide whether a statement fails, nor with which words.
//!
//! Callers write DuckDB's SQL, which policy puts into Spark's words: what it has words for is tried.

use crate::cases::lines;
use crate::functions_support::{Column, Side, Trial, probe};
use crate::jail::quick_engines;
use domain::Dialect;
use engines::{FlightSource, Source, SourceKind};
use std::path::Path;
use testkit::{Mode, Sail};
use tokio::runtime::Runtime;

/// Types are DuckDB's, which writes the files that Sail reads.
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

/// Several files, as tables of a lake have: what Sail learns from one, it tries on the statistics of the next.
const FILES: usize = 4;

/// Functions that policy translates by one of the arguments, so that its list does not name them.
const BY_ARGUMENT: &str = "date_diff date_part date_trunc datediff datepart datetrunc strftime";

/// No function: the list says by it how an item of a list is had.
const ITEM: &[&str] = &["item"];

/// The functions that policy has words for: `abs`, `arg_max = max_by`, `trim/2 = …`. Operators and the like have a
/// space in their names.
fn names() -> String {
    let list = lines(include_str!("../../../policy/src/translate/functions/spark.txt"));
    let names = list.flat_map(|line| match line.split_once(" = ") {
        Some((call, _)) => vec![call.split('/').next().unwrap()],
        None => line.split_whitespace().collect(),
    });
    names.filter(|name| !name.contains(' ')).chain([BY_ARGUMENT]).collect::<Vec<_>>().join(" ")
}

fn source(sail: &Sail, dir: &Path, nasty: bool) -> Source {
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
        functions: &names(),
        expressions: include_str!("../cases/functions/sail.txt"),
        excepted: ITEM,
    };
    trial.run(&runtime, &sides);
}
