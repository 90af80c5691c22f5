//! Expressions that DuckDB could answer from the statistics of a file, which are of all its rows: what hidden rows hold
//! must not decide whether the rest of them is evaluated, and fails.

use super::opened;
use crate::protocol::{CopyOut, Done, Open, OpenEngine, OpenTable};
use std::path::Path;

/// Fail on every row that is seen, by a value or by a constant, said or implied.
const FALLIBLE: [&str; 10] = [
    "CAST(t AS INTEGER)",
    "CAST('x' AS INTEGER)",
    "nullif(n, 'x')",
    "nullif(n, t)",
    "length(substr(t, 5000000000))",
    "length(left(t, 5000000000))",
    "(n + 2147483647)",
    "(9223372036854775807 + 1)",
    "date_part(t, d)",
    "year(CAST('2024-13-45' AS DATE))",
];

/// The places that an expression can stand in.
const PLACES: [&str; 7] = [
    "SELECT ({}) AS x FROM probe ORDER BY id LIMIT 3",
    "SELECT count({}) AS x FROM probe",
    "SELECT id FROM probe WHERE CAST(({}) AS VARCHAR) <> 'y' ORDER BY id LIMIT 3",
    "SELECT id FROM probe ORDER BY ({}), id LIMIT 3",
    "SELECT ({}) AS x, count(*) AS c FROM probe GROUP BY 1 ORDER BY 1",
    "SELECT count(*) AS c FROM probe AS p JOIN (SELECT id AS other, ({}) AS x FROM probe) AS q ON q.other = p.id AND q.x IS NOT NULL",
    "SELECT count(*) AS c, max(CAST(x AS VARCHAR)) AS m FROM (SELECT id, ({}) AS x FROM probe) AS w",
];

/// Hidden rows hold the same as those that are seen, more than all of them, nothing.
const HIDDEN: [&str; 3] =
    ["10, 'S-1', DATE '2024-02-01'", "500000, 'S-1', DATE '2031-06-01'", "NULL, 'S-1', DATE '2024-02-01'"];

fn statements() -> Vec<String> {
    let lines = include_str!("folded.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let guarded = lines.flat_map(|guard| FALLIBLE.map(|fallible| guard.replace("{}", fallible)));
    // As policy writes it for a role with `rows: region = 'E'`.
    let seen = "WITH probe AS (SELECT id, n, t, d FROM main.everything WHERE region = 'E') ";
    let placed = guarded.flat_map(|expression| PLACES.map(|place| place.replace("{}", &expression)));
    // A third of all pairs: each guard and each failure still meets each place.
    placed.step_by(3).map(|statement| format!("{seen}{statement}")).collect()
}

fn write(path: &Path, hidden: &str) {
    let seen = "SELECT i AS id, 'E' AS region, (i % 20)::INTEGER AS n, 'S-' || i AS t, \
                DATE '2024-01-01' + (i % 300)::INTEGER AS d FROM range(300) AS r (i)";
    let rows = format!("{seen} UNION ALL SELECT 5000 + i, 'A', {hidden} FROM range(60) AS r (i)");
    let copy = format!("COPY (SELECT * FROM ({rows}) ORDER BY hash(id)) TO '{}' (FORMAT parquet)", path.display());
    duckdb::Connection::open_in_memory().unwrap().execute_batch(&copy).unwrap();
}

/// The replies to statements over a file with these hidden rows: how many rows, or the error.
fn replies(hidden: &str, hot: bool, hides_rows: bool, statements: &[&str]) -> Vec<Result<u64, String>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("everything.parquet");
    write(&path, hidden);
    let copy = hot.then(|| {
        let to = dir.path().join("copy.duckdb");
        let copy = CopyOut { path: path.clone(), to: to.clone(), memory_bytes: 512 << 20, threads: 1 };
        crate::worker::duck::copy(&copy).unwrap();
        to
    });
    let engine = OpenEngine::Files(vec![OpenTable { name: "everything".into(), path, copy }]);
    let replies = opened(Open { engine, memory_bytes: 512 << 20, threads: 1, hides_rows }, statements);
    let told = replies.into_iter().map(|reply| match reply {
        Ok(Done::Queried(queried)) => Ok(queried.row_count),
        other => Err(format!("{other:?}")),
    });
    told.collect()
}

fn leaks(hot: bool, hides_rows: bool) -> (usize, Vec<String>) {
    let statements = statements();
    let texts: Vec<&str> = statements.iter().map(String::as_str).collect();
    let [usual, beyond, without] = HIDDEN.map(|hidden| replies(hidden, hot, hides_rows, &texts));
    let failed = usual.iter().filter(|reply| reply.is_err()).count();
    assert!(3 * failed > texts.len(), "only {failed} of {} fail on rows that are seen", texts.len());
    let replies = usual.iter().zip(&beyond).zip(&without).zip(&texts);
    let differ = replies
        .filter(|(((usual, beyond), without), _)| usual.is_ok() != beyond.is_ok() || usual.is_ok() != without.is_ok());
    let told =
        differ.map(|(((usual, beyond), without), text)| format!("{text}\n  {usual:?}\n  {beyond:?}\n  {without:?}"));
    (texts.len(), told.collect())
}

#[test]
fn statistics_of_hidden_rows_answer_nothing() {
    for (hot, what) in [(false, "Parquet"), (true, "hot copy")] {
        let (tried, leaks) = leaks(hot, true);
        let what = format!("expressions that statistics of hidden rows could answer: {what}");
        testkit::tally("engine", &what, tried, "leaks", leaks.len());
        assert!(leaks.is_empty(), "{} of {tried} differ:\n{}", leaks.len(), leaks.join("\n"));
    }
}

/// The statements are those that tell: with statistics, as for who sees every row, they differ.
#[test]
fn statistics_answer_where_no_row_is_hidden() {
    assert!(leaks(false, false).1.len() > 30);
}
