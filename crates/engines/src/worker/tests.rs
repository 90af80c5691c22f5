//! The engines' own lockdown, alone: no check before it, no sandbox around it.

mod folded;

use super::serve;
use crate::protocol::{
    CopyOut, Done, Failed, Open, OpenEngine, OpenTable, Query, Request, TAG_ARROW, TAG_DONE, TAG_FAILED, TAG_REQUEST,
    read_frame, write_frame,
};
use std::path::Path;

/// Opens a source and runs statements in it, one after the other.
fn run(engine: OpenEngine, statements: &[&str]) -> Vec<Result<Done, Failed>> {
    opened(Open { engine, memory_bytes: 512 * 1024 * 1024, threads: 1, hides_rows: false }, statements)
}

fn opened(open: Open, statements: &[&str]) -> Vec<Result<Done, Failed>> {
    let (mut input, open) = (Vec::new(), Request::Open(open));
    let queries = statements
        .iter()
        .map(|sql| Request::Query(Query { sql: (*sql).to_owned(), rows: 100, bytes: 1_000_000, ..Query::default() }));
    for request in std::iter::once(open).chain(queries) {
        write_frame(&mut input, TAG_REQUEST, &serde_json::to_vec(&request).unwrap()).unwrap();
    }
    let mut output = Vec::new();
    serve(input.as_slice(), &mut output, None).unwrap();
    let mut output = output.as_slice();
    let mut answers = Vec::new();
    while let Some((tag, payload)) = read_frame(&mut output).unwrap() {
        match tag {
            TAG_DONE => answers.push(Ok(serde_json::from_slice(&payload).unwrap())),
            TAG_FAILED => answers.push(Err(serde_json::from_slice(&payload).unwrap())),
            tag => assert_eq!(tag, TAG_ARROW),
        }
    }
    assert!(matches!(answers.remove(0), Ok(Done::Opened)), "the source opens");
    answers
}

fn all_refused(engine: OpenEngine, statements: &str) {
    let statements: Vec<&str> = statements.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let answers = run(engine, &statements);
    for (statement, answer) in statements.iter().zip(answers) {
        assert!(answer.is_err(), "the engine ran it: {statement}");
    }
}

fn csv(dir: &Path) -> OpenEngine {
    let file = dir.join("cars.csv");
    std::fs::write(&file, "id,model\n1,Astra\n2,Corsa\n").unwrap();
    std::fs::write(dir.join("secret.csv"), "password\nhunter2\n").unwrap();
    OpenEngine::Files(vec![OpenTable { name: "cars".into(), path: file, copy: None }])
}

fn sqlite(dir: &Path) -> OpenEngine {
    let file = dir.join("cars.sqlite");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch("CREATE TABLE cars (id INTEGER, model TEXT); INSERT INTO cars VALUES (1, 'Astra')")
        .unwrap();
    OpenEngine::Sqlite(file)
}

#[test]
fn good_statements_run() {
    let dir = tempfile::tempdir().unwrap();
    for engine in [csv(dir.path()), sqlite(dir.path())] {
        let answers = run(engine, &["SELECT count(*) AS n FROM cars", "WITH a AS (SELECT 1 AS x) SELECT x FROM a"]);
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    }
}

/// The same table, read from a hot copy.
fn hot(dir: &Path) -> OpenEngine {
    let OpenEngine::Files(mut tables) = csv(dir) else { unreachable!() };
    for table in &mut tables {
        let (path, to) = (table.path.clone(), dir.join("copy.duckdb"));
        super::duck::copy(&CopyOut { path, to: to.clone(), memory_bytes: 512 << 20, threads: 1 }).unwrap();
        table.copy = Some(to);
    }
    OpenEngine::Files(tables)
}

#[test]
fn duckdb_alone_refuses_to_reach_out() {
    for (engine, files) in [(csv as fn(&Path) -> OpenEngine, 2), (hot, 3)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().display();
        let statements = include_str!("tests/duckdb.sql").replace("$DIR", &path.to_string());
        all_refused(engine(dir.path()), &statements);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), files, "nothing was written");
    }
}

#[test]
fn sqlite_alone_refuses_to_reach_out() {
    let dir = tempfile::tempdir().unwrap();
    let engine = sqlite(dir.path());
    let before = std::fs::read(dir.path().join("cars.sqlite")).unwrap();
    let statements = include_str!("tests/sqlite.sql").replace("$DIR", &dir.path().display().to_string());
    all_refused(engine, &statements);
    assert_eq!(std::fs::read(dir.path().join("cars.sqlite")).unwrap(), before, "nothing was changed");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was written");
}

/// Syntax more than functions (`position(x IN y)`), and what DuckDB has from 2.0 on.
const EXCUSED: &[&str] = &[
    "array",
    "overlay",
    "position",
    "json_deep_merge",
    "json_insert",
    "json_remove",
    "json_replace",
    "json_set",
    "json_strip_nulls",
    "width_bucket",
];

/// What policy lets through by name, the engine must know by that name, in one of the ways to call it.
fn all_known(engine: OpenEngine, list: &str, missing: &str) {
    let words = list.lines().filter(|l| !l.starts_with('#')).flat_map(str::split_whitespace);
    let names: Vec<&str> = words.map(|word| word.split(':').next().unwrap()).collect();
    let forms =
        ["", "()", "() OVER ()", "(0.5) WITHIN GROUP (ORDER BY 1)", "(NULL)", "(NULL, NULL)", "(NULL, NULL, 1)"];
    let calls: Vec<String> = names.iter().flat_map(|n| forms.map(|form| format!("SELECT {n}{form}"))).collect();
    let answers = run(engine, &calls.iter().map(String::as_str).collect::<Vec<_>>());
    let other = ["no such column", "not found", "syntax error", "not one SELECT"];
    let is_unknown = |f: &Failed| other.iter().chain([&missing]).any(|m| f.message.contains(m));
    let unknown = names
        .iter()
        .zip(answers.chunks(forms.len()))
        .filter(|(_, answers)| answers.iter().all(|a| a.as_ref().is_err_and(is_unknown)));
    let unknown: Vec<_> = unknown.map(|(name, _)| name).filter(|name| !EXCUSED.contains(name)).collect();
    assert!(unknown.is_empty(), "policy allows functions that the engine does not have: {unknown:?}");
}

#[test]
fn every_function_that_policy_allows_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let policys = |name: &str| {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/src/sql/functions");
        std::fs::read_to_string(dir.join(name)).unwrap()
    };
    all_known(csv(dir.path()), &policys("duckdb.txt"), "does not exist");
    all_known(sqlite(dir.path()), &policys("sqlite.txt"), "no such function");
}

/// Only what the lockdown refuses is an alarm. What an engine cannot read, or does not know, is the statement's own fault.
#[test]
fn a_statement_is_denied_only_by_the_lockdown() {
    use crate::protocol::Cause;
    const CASES: [(&str, Cause); 9] = [
        ("SELECT 1 +", Cause::Syntax),
        ("SELECT FROM WHERE", Cause::Syntax),
        ("SELECT count(*) FROM cars GROUP BY model HAVING", Cause::Syntax),
        ("SELECT 'unclosed", Cause::Syntax),
        ("SELECT nowhere FROM cars", Cause::Statement),
        ("SELECT * FROM no_such_table", Cause::Statement),
        ("SELECT no_such_function(1)", Cause::Statement),
        ("DROP TABLE cars", Cause::Denied),
        ("UPDATE cars SET model = 'x'", Cause::Denied),
    ];
    let duck = [
        ("SELECT 1; SELECT 2", Cause::Denied),
        ("SET threads = 4", Cause::Denied),
        ("SELECT * FROM read_csv('/etc/passwd')", Cause::Denied),
        ("SELECT CAST(1 AS NO_SUCH_TYPE)", Cause::Statement),
        // What data says of itself is no refusal.
        ("SELECT CAST(concat('it has been locked ', model) AS INTEGER) FROM cars", Cause::Data),
        ("SELECT CAST(concat('Permission Error ', model) AS INTEGER) FROM cars", Cause::Data),
    ];
    let sqlite = [("PRAGMA journal_mode", Cause::Denied), ("ATTACH 'other.db' AS other", Cause::Denied)];
    let dir = tempfile::tempdir().unwrap();
    for (engine, own) in [(csv(dir.path()), duck.as_slice()), (self::sqlite(dir.path()), sqlite.as_slice())] {
        let cases: Vec<_> = CASES.iter().chain(own).collect();
        let statements: Vec<&str> = cases.iter().map(|(sql, _)| *sql).collect();
        for ((sql, cause), answer) in cases.iter().zip(run(engine, &statements)) {
            let failed = answer.expect_err(sql);
            assert_eq!(failed.cause, *cause, "{sql}: {}", failed.message);
            assert!(*cause != Cause::Data || !failed.message.contains("Astra"), "{}", failed.message);
        }
    }
}
