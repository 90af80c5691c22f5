//! The second layer alone: what policy would refuse goes straight to the locked engine, and no sandbox is around it.
//!
//! Policy answers alone for what a role may see: here every table and column of the source is there to be read. The
//! engine answers for everything beyond the source: nothing is written, changed, loaded or read elsewhere. Statements
//! that are refused for their size are left to the third layer (`bombs.rs`).

use crate::cases::{is_bomb, lines, rejected};
use crate::firm::Firm;
use crate::secrets::{Place, engine};
use domain::Dialect;
use serde_json::{Value, json};

/// Whether an engine is as it was: what it shows of itself and of the data.
const STATE: [(Dialect, &str); 2] = [
    (
        Dialect::DuckDb,
        "SELECT (SELECT list((name, value) ORDER BY name) FROM duckdb_settings())::VARCHAR, \
         (SELECT list(database_name ORDER BY database_name) FROM duckdb_databases())::VARCHAR, \
         (SELECT list(schema_name ORDER BY schema_name) FROM duckdb_schemas())::VARCHAR, \
         (SELECT list((view_name, sql) ORDER BY view_name) FROM duckdb_views())::VARCHAR, \
         (SELECT list(table_name ORDER BY table_name) FROM duckdb_tables())::VARCHAR, \
         (SELECT count(*) FROM duckdb_sequences()), \
         (SELECT sum(hash(case_no, status, amount)) FROM cases)",
    ),
    (Dialect::Sqlite, "SELECT count(*), group_concat(case_no), group_concat(status), sum(amount) FROM cases"),
];

/// What came of one statement: what it was told, and the Arrow that came with it.
struct Came {
    ran: bool,
    bytes: Vec<u8>,
}

/// Runs statements in one engine, in this process, one after the other.
fn run(open: &Value, statements: &[&str]) -> Vec<Came> {
    let mut input = Vec::new();
    let query = |sql: &&str| json!({"Query": {"sql": sql, "params": [], "rows": 1000, "bytes": 1_000_000}});
    for request in std::iter::once(json!({ "Open": open })).chain(statements.iter().map(query)) {
        let payload = request.to_string();
        input.push(b'Q');
        input.extend((payload.len() as u32).to_le_bytes());
        input.extend(payload.as_bytes());
    }
    let mut output = Vec::new();
    engines::worker::serve(input.as_slice(), &mut output, None).unwrap();
    let (mut rest, mut came, mut bytes) = (output.as_slice(), Vec::new(), Vec::new());
    while let [tag, a, b, c, d, more @ ..] = rest {
        let (payload, next) = more.split_at(u32::from_le_bytes([*a, *b, *c, *d]) as usize);
        bytes.extend(payload);
        if *tag != b'A' {
            came.push(Came { ran: *tag == b'D', bytes: std::mem::take(&mut bytes) });
        }
        rest = next;
    }
    assert!(came.remove(0).ran, "the source opens");
    came
}

#[test]
fn the_engine_alone_lets_nothing_out() {
    let (mut tried, mut escapes) = (0, Vec::new());
    for (dialect, state) in STATE {
        let place = Place::new();
        let source = Firm::new().source(dialect, place.path());
        let before = place.fingerprint();
        let own = match dialect {
            Dialect::DuckDb => include_str!("../cases/unlocked/duckdb.txt"),
            Dialect::Sqlite => include_str!("../cases/unlocked/sqlite.txt"),
            other => panic!("no worker reads {other:?}"),
        };
        let own = lines(own).filter_map(|line| line.split_once(" | ")).filter(|(word, _)| !word.contains("stopped"));
        let statements: Vec<(String, String)> = rejected(dialect)
            .into_iter()
            .filter(|(code, text)| !is_bomb(code, text))
            .chain(own.map(|(word, text)| (word.to_owned(), place.fill(text, place.path()))))
            .collect();
        let each: Vec<&str> = statements.iter().flat_map(|(_, text)| [text.as_str(), state]).collect();
        let came = run(&engine(&source, |path| path.to_owned()), &[&[state], each.as_slice()].concat());
        let (first, came) = came.split_first().unwrap();
        assert!(first.ran, "the state can be asked for: {}", String::from_utf8_lossy(&first.bytes));
        let mut last = &first.bytes;
        for ((word, text), pair) in statements.iter().zip(came.chunks(2)) {
            let [of_it, after] = pair else { panic!("an answer is missing") };
            tried += 1;
            if of_it.ran && must_be_refused(word, text) {
                escapes.push(format!("{dialect:?}: ran what is not a read: {text}"));
            }
            if pure_bytes(&after.bytes) != pure_bytes(last) {
                escapes.push(format!("{dialect:?}: changed the engine: {text}"));
            }
            last = &after.bytes;
            if place.shows_a_secret(&of_it.bytes) {
                escapes.push(format!("{dialect:?}: read what is not its own: {text}"));
            }
        }
        if place.fingerprint() != before {
            escapes.push(format!("{dialect:?}: a file was changed or made"));
        }
    }
    testkit::tally("engine", "hostile statements, no policy check, no jail", tried, "escapes", escapes.len());
    assert!(escapes.is_empty(), "{}", escapes.join("\n"));
}

/// Whether policy refuses it for what it does; and it is no other word for reading.
fn must_be_refused(word: &str, text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let reads = ["DESCRIBE", "FROM", "PIVOT", "SELECT", "SHOW", "SUMMARIZE", "TABLE", "UNPIVOT", "VALUES"];
    match word {
        "sql.several_statements" | "fails" => true,
        "sql.not_a_query" | "harmless" => !reads.contains(&first),
        _ => false,
    }
}

/// Without the time that the statement took, which ends every answer.
fn pure_bytes(bytes: &[u8]) -> &[u8] {
    let end = bytes.windows(9).rposition(|w| w == b"\"exec_ms\"").unwrap_or(bytes.len());
    &bytes[..end]
}
