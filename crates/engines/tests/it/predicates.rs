//! Predicates of scans against the engines themselves: what policy makes of a predicate must mean what DuckDB takes the
//! caller's own text for, be one boolean over that one table, and mean the same in SQLite.

use crate::cases::lines;
use crate::pure::{Duck, Witness};
use domain::{Caller, Dialect, Flavour, Scan};
use policy::{Approved, Policy};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::fs;

#[path = "../../../policy/tests/promise/events.rs"]
mod events;

/// Two engines with the same rows in them.
struct Twins {
    duck: Duck,
    sqlite: rusqlite::Connection,
    policy: Policy,
    caller: Caller,
}

impl Twins {
    fn new() -> Self {
        let duck = duckdb::Connection::open_in_memory().unwrap();
        duck.execute_batch(&format!("SET TimeZone = 'UTC'; {}", table(Dialect::DuckDb))).unwrap();
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        sqlite.execute_batch(&table(Dialect::Sqlite)).unwrap();
        let caller = Caller::new("ann@example.com", "analyst");
        Self { duck: Duck(duck), sqlite, policy: events::policy(), caller }
    }

    /// The scan of ids by this predicate, if policy lets it through.
    fn approved(&self, flavour: Flavour, dialect: Dialect, predicate: &str) -> Option<Approved> {
        let scan = Scan { select: vec!["id".to_owned()], ..events::filtered(flavour, predicate) };
        events::check(&self.policy, &self.caller, dialect, scan).ok()
    }

    fn duck_ids(&self, sql: &str) -> Result<Vec<i64>, String> {
        let mut statement = self.duck.0.prepare(sql).map_err(|e| e.to_string())?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(|e| e.to_string())?;
        let ids: Result<Vec<i64>, String> = rows.map(|id| id.map_err(|e| e.to_string())).collect();
        ids.map(sorted)
    }

    fn sqlite_ids(&self, sql: &str) -> Result<Vec<i64>, String> {
        let mut statement = self.sqlite.prepare(sql).map_err(|e| e.to_string())?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(|e| e.to_string())?;
        rows.map(|id| id.map_err(|e| e.to_string())).collect::<Result<_, _>>().map(sorted)
    }

    /// What our text means, unless the data is not what the predicate needs it to be.
    fn ours(&self, approved: &Approved) -> Result<Option<Vec<i64>>, String> {
        match self.duck_ids(approved.sql()) {
            Ok(ids) => Ok(Some(ids)),
            Err(error) if is_about_data(&error) => Ok(None),
            Err(error) => Err(format!("DuckDB does not take it: {error}\n    {}", approved.sql())),
        }
    }

    /// One boolean over the granted columns of one table.
    fn is_one_boolean(&self, approved: &Approved) -> Result<(), String> {
        let may = self.policy.view(&self.caller, &events::source(Dialect::DuckDb));
        if !self.duck.is_pure(approved, &may)? {
            // Constants may be wrong as well, and be found out before anything runs.
            return self.ours(approved).map(drop);
        }
        let (table, filter) = approved.sql().split_once(r#" AS "events" WHERE "#).unwrap();
        let (_, table) = table.split_once(" FROM ").unwrap();
        let filter = filter.strip_suffix(" LIMIT 1001").unwrap();
        let described = format!("DESCRIBE SELECT ({filter}) FROM {table} AS \"events\"");
        let kind: String = self.duck.0.query_row(&described, [], |row| row.get(1)).map_err(|e| e.to_string())?;
        let fits = kind == "BOOLEAN" || (kind == "\"NULL\"" || kind == "INTEGER") && filter == "NULL";
        if fits { Ok(()) } else { Err(format!("a {kind}, not a boolean\n    {filter}")) }
    }
}

/// The same rows in Postgres, and a way to ask for them.
struct Postgres {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
    _cluster: testkit::Postgres,
}

impl Postgres {
    fn new() -> Self {
        let cluster = testkit::Postgres::start();
        let database = cluster.database();
        cluster.sql(&database, &table(Dialect::Postgres));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let url = cluster.url(&database);
        let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls);
        let (client, connection) = runtime.block_on(connected).unwrap();
        runtime.spawn(connection);
        runtime.block_on(client.batch_execute("SET TimeZone = 'UTC'")).unwrap();
        Self { runtime, client, _cluster: cluster }
    }

    fn ids(&self, sql: &str) -> Result<Vec<i64>, String> {
        let rows = self.runtime.block_on(self.client.query(sql, &[]));
        let rows = rows.map_err(|e| e.as_db_error().map_or_else(|| e.to_string(), ToString::to_string))?;
        Ok(sorted(rows.iter().map(|row| row.get(0)).collect()))
    }
}

fn sorted(mut ids: Vec<i64>) -> Vec<i64> {
    ids.sort_unstable();
    ids
}

/// A value that cannot be cast or a number out of range, as opposed to a statement that makes no sense.
fn is_about_data(error: &str) -> bool {
    ["Conversion Error", "Out of Range Error", "Invalid Input Error"].iter().any(|kind| error.contains(kind))
}

fn table(dialect: Dialect) -> String {
    let kept: Vec<_> =
        events::COLUMNS.iter().filter(|(.., everywhere)| *everywhere || dialect == Dialect::DuckDb).collect();
    let native = |native: &str| match dialect {
        Dialect::Postgres => events::in_postgres(native),
        _ => native.to_owned(),
    };
    let columns: Vec<String> = kept.iter().map(|(name, _, of, _)| format!("{name} {}", native(of))).collect();
    let rows: Vec<String> = (0..48).map(|i| row(i, dialect)).collect();
    format!("CREATE TABLE events ({}); INSERT INTO events VALUES {};", columns.join(", "), rows.join(",\n"))
}

fn row(i: usize, dialect: Dialect) -> String {
    let or_null = |every: usize, value: String| if i % every == every - 1 { "NULL".to_owned() } else { value };
    let (month, day) = (1 + i / 20, 1 + (i * 3) % 28);
    let nested = [
        format!(
            "{{'os': '{}', 'version': {i}, 'screen': {{'w': {}, 'h': 600}}}}",
            ["linux", "mac"][i % 2],
            900 + i * 10
        ),
        or_null(6, format!("['a', '{}']", ["b", "c"][i % 2])),
        or_null(8, format!("[{{'sku': 'x', 'price': {i}.5, 'seen': '2026-01-01 10:00:00'}}]")),
    ];
    let mut values = vec![
        i.to_string(),
        format!("'2026-{month:02}-{day:02}'"),
        format!("'2026-{month:02}-{day:02} {:02}:30:15.250'", i % 24),
        or_null(9, format!("'{:02}:30:00'", i % 24)),
        or_null(5, format!("'{}'", ["CZ", "DE", "SK"][i % 3])),
        format!("'{}'", ["web", "ios", "Web", "it''s", "back\\slash", "a\\''", ""][i % 7]),
        format!("'{}-{i}'", ["ab", "Ab", "yz", "a_x"][i % 4]),
        format!("'{}@example.com'", ["ann", "bob"][i % 2]),
        or_null(7, format!("{}.25", i % 5)),
        or_null(11, format!("{}.5", i % 4)),
        or_null(10, (i % 8).to_string()),
        if i.is_multiple_of(3) { "TRUE".to_owned() } else { "FALSE".to_owned() },
        match dialect {
            Dialect::DuckDb => "'ab-0'::BLOB".to_owned(),
            Dialect::Postgres => "'ab-0'".to_owned(),
            _ => "x'61622d30'".to_owned(),
        },
    ];
    if dialect == Dialect::DuckDb {
        values.extend(nested);
    }
    values.extend(["'secret'".to_owned(), "'internal'".to_owned()]);
    format!("({})", values.join(", "))
}

fn accepted(flavour: Flavour) -> Vec<String> {
    let file = format!("{}/../policy/tests/cases/scan/accept/{}.txt", env!("CARGO_MANIFEST_DIR"), flavour.as_str());
    lines(&fs::read_to_string(file).unwrap()).map(str::to_owned).collect()
}

/// The caller's own words, as DuckDB takes them. A trailing semicolon is no part of the expression.
fn by_own_text(predicate: &str) -> String {
    format!("SELECT id FROM events WHERE ({})", predicate.trim_end_matches(';'))
}

#[test]
fn accepted_predicates_mean_what_the_engine_takes_them_for() {
    let twins = Twins::new();
    let (mut tried, mut wrong) = (0, Vec::new());
    for flavour in Flavour::ALL {
        for text in accepted(flavour) {
            let Some(approved) = twins.approved(flavour, Dialect::DuckDb, &text) else { continue };
            tried += 1;
            let ours = twins.is_one_boolean(&approved).and_then(|()| twins.ours(&approved));
            let compared = ours.and_then(|ours| match (flavour, twins.duck_ids(&by_own_text(&text))) {
                (Flavour::DuckDb, Ok(theirs)) if ours.as_ref() == Some(&theirs) => Ok(()),
                (Flavour::DuckDb, Err(error)) if ours.is_none() && is_about_data(&error) => Ok(()),
                (Flavour::DuckDb, theirs) => Err(format!("{ours:?}, by the caller's own text {theirs:?}")),
                (Flavour::BigQuery, _) => Ok(()),
            });
            wrong.extend(compared.err().map(|why| format!("{flavour:?}: {text}\n    {why}")));
        }
    }
    for text in fresh() {
        let Some(approved) = twins.approved(Flavour::DuckDb, Dialect::DuckDb, &text) else { continue };
        tried += 1;
        let ours = twins.is_one_boolean(&approved).and_then(|()| twins.ours(&approved));
        let theirs = twins.duck_ids(&by_own_text(&text));
        match (ours, theirs) {
            (Ok(Some(ours)), Ok(theirs)) if ours == theirs => {}
            (Ok(None), Err(error)) if is_about_data(&error) => {}
            (ours, theirs) => wrong.push(format!("{text}\n    {ours:?}, by the caller's own text {theirs:?}")),
        }
    }
    let what = "accepted predicates, by our text and by the caller's own";
    testkit::tally("engine", what, tried, "differences", wrong.len());
    assert!(tried > 800, "only {tried} were looked at");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_predicate_means_the_same_in_sqlite() {
    let twins = Twins::new();
    let (mut tried, mut wrong) = (0, Vec::new());
    for flavour in Flavour::ALL {
        for text in accepted(flavour) {
            let both = [Dialect::DuckDb, Dialect::Sqlite].map(|dialect| twins.approved(flavour, dialect, &text));
            let [Some(duck), Some(sqlite)] = both else { continue };
            let Ok(Some(expected)) = twins.ours(&duck) else { continue };
            tried += 1;
            let found = twins.sqlite_ids(sqlite.sql());
            if found.as_ref() != Ok(&expected) {
                wrong.push(format!("{flavour:?}: {text}\n    {}\n    {found:?}, in DuckDB {expected:?}", sqlite.sql()));
            }
        }
    }
    testkit::tally("engine", "predicates in DuckDB and in SQLite", tried, "differences", wrong.len());
    assert!(tried > 120, "only {tried} were looked at");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Postgres also reports, as an error of the data, what DuckDB makes NULL of; nothing else may differ.
#[test]
fn a_predicate_means_the_same_in_postgres() {
    let (twins, postgres) = (Twins::new(), Postgres::new());
    let (mut tried, mut wrong) = (0, Vec::new());
    for text in accepted(Flavour::DuckDb) {
        let both = [Dialect::DuckDb, Dialect::Postgres].map(|dialect| twins.approved(Flavour::DuckDb, dialect, &text));
        let [Some(duck), Some(here)] = both else { continue };
        let Ok(Some(expected)) = twins.ours(&duck) else { continue };
        tried += 1;
        let found = postgres.ids(here.sql());
        if found.as_ref() != Ok(&expected) {
            wrong.push(format!("{text}\n    {}\n    {found:?}, in DuckDB {expected:?}", here.sql()));
        }
    }
    testkit::tally("engine", "predicates in DuckDB and in Postgres", tried, "differences", wrong.len());
    assert!(tried > 80, "only {tried} were looked at");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Predicates that nobody has written before: made by rules, and accepted ones with words dropped, doubled or swapped.
fn fresh() -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let (made, changed) = (condition(), mutated());
    let made = (0..500).map(|_| made.new_tree(&mut runner).unwrap().current()).collect::<Vec<_>>();
    let changed = (0..1_200).map(|_| changed.new_tree(&mut runner).unwrap().current());
    made.into_iter().chain(changed).collect()
}

fn number() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(&["clicks", "score", "amount", "id", "device.version", "items[1].price"][..])
            .prop_map(str::to_owned),
        (0_u8..9).prop_map(|n| n.to_string()),
        Just("1.5".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let operator = prop::sample::select(&["+", "-", "*", "/", "%"][..]);
        let call = prop::sample::select(&["abs", "round", "floor", "ceil", "sign"][..]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} - {b})")),
            (call, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            inner.clone().prop_map(|a| format!("-({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("coalesce({a}, {b})")),
            (text(), inner.clone()).prop_map(|(t, n)| format!("CASE WHEN {t} = 'a' THEN {n} ELSE length({t}) END")),
            inner.prop_map(|a| format!("nullif({a}, 3)")),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(&["platform", "session_id", "country_code", "device.os", "tags[2]"][..])
            .prop_map(str::to_owned),
        "[a-zA-Z'\\\\%_ -]{0,4}".prop_map(|t| format!("'{}'", t.replace('\'', "''"))),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let call = prop::sample::select(&["lower", "upper", "trim", "reverse"][..]);
        prop_oneof![
            (call, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} || {b}")),
            inner.clone().prop_map(|a| format!("substr({a}, 2, 2)")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("replace({a}, {b}, 'x')")),
        ]
    })
}

fn condition() -> impl Strategy<Value = String> {
    let compare = || prop::sample::select(&["=", "<>", "<", ">=", "IS DISTINCT FROM"][..]);
    let leaf = prop_oneof![
        (number(), compare(), number()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        (text(), compare(), text()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        (text(), text()).prop_map(|(a, b)| format!("{a} LIKE {b}")),
        (number(), number(), number()).prop_map(|(a, b, c)| format!("{a} BETWEEN {b} AND {c}")),
        (number(), number(), number()).prop_map(|(a, b, c)| format!("{a} NOT IN ({b}, {c})")),
        text().prop_map(|a| format!("{a} IS NULL")),
        Just("is_bot".to_owned()),
        (0_u8..40).prop_map(|n| format!("event_date + {n} > DATE '2026-02-01'")),
        (0_u8..40).prop_map(|n| format!("created_at - INTERVAL {n} HOUR < TIMESTAMP '2026-01-20 10:00:00'")),
        prop::sample::select(&["month", "week", "day", "year"][..])
            .prop_map(|part| format!("date_trunc('{part}', created_at) = date_trunc('{part}', event_date)")),
    ];
    leaf.prop_recursive(3, 10, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} AND {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} OR {b}")),
            inner.clone().prop_map(|a| format!("NOT {a}")),
            inner.clone().prop_map(|a| format!("NOT ({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) = ({b})")),
            inner.prop_map(|a| format!("({a}) IS NOT TRUE")),
        ]
    })
}

fn mutated() -> impl Strategy<Value = String> {
    let seeds = accepted(Flavour::DuckDb);
    let words: Vec<String> = seeds.iter().flat_map(|seed| split(seed)).collect();
    let edit = (any::<prop::sample::Index>(), 0..4, prop::sample::select(words), any::<prop::sample::Index>());
    (prop::sample::select(seeds), prop::collection::vec(edit, 1..3)).prop_map(|(seed, edits)| {
        let mut parts = split(&seed);
        for (at, kind, word, other) in edits {
            if parts.is_empty() {
                break;
            }
            let (i, j) = (at.index(parts.len()), other.index(parts.len()));
            match kind {
                0 => drop(parts.remove(i)),
                1 => parts.insert(i, parts[j].clone()),
                2 => parts.swap(i, j),
                _ => parts[i] = word,
            }
        }
        parts.concat()
    })
}

fn split(text: &str) -> Vec<String> {
    text.split_inclusive([' ', '(', ')', ',', '.', '[', ']']).map(str::to_owned).collect()
}
