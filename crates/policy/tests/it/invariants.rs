//! What must hold of any text: no crash, no escape, no rendering that reads back as something else.

use crate::fixture::{agent, analyst, cases, policy, source, sql_as};
use domain::{Caller, Dialect, Fault, Limits, Proposal, SourceSchema};
use policy::Policy;
use proptest::prelude::*;

struct House {
    policy: Policy,
    sources: [SourceSchema; 2],
    callers: [Caller; 2],
}

thread_local! {
    static HOUSE: House = House {
        policy: policy(),
        sources: [source(Dialect::DuckDb), source(Dialect::Sqlite)],
        callers: [analyst(), agent()],
    };
}

/// Checks a text as everybody over everything, and looks at what was accepted.
fn holds(text: &str) {
    HOUSE.with(|house| {
        for source in &house.sources {
            for caller in &house.callers {
                let proposal = Proposal::Sql { source: "crm".to_owned(), text: text.to_owned() };
                match house.policy.check(caller, source, &proposal, &Limits::default()) {
                    Ok(approved) => reads_only_what_is_granted(&approved, caller),
                    Err(fault) => assert_ne!(fault.code, "sql.roundtrip", "{text}"),
                }
            }
        }
    });
}

fn reads_only_what_is_granted(approved: &policy::Approved, caller: &Caller) {
    let sql = approved.sql();
    assert!(approved.tables().iter().all(|t| ["cases", "clients", "offices"].contains(&t.as_str())), "{sql}");
    // Every table is read by its full name, and only inside the subquery that we made of it.
    let reads = sql.matches("FROM \"main\".\"").count();
    assert_eq!(reads, sql.matches("\"main\".").count(), "{sql}");
    for table in ["tbl_payments", "audit_log"] {
        assert!(!sql.contains(&format!("\"main\".\"{table}\"")), "{sql}");
    }
    if caller.role == "agent" {
        let cases = sql.matches("\"main\".\"cases\"").count();
        assert_eq!(cases, sql.matches("\"main\".\"cases\" WHERE (owner = ").count(), "{sql}");
    }
}

/// Words that queries are made of, hidden and forbidden ones among them.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "WITH",
    "RECURSIVE",
    "AS",
    "UNION",
    "UNION ALL",
    "EXCEPT",
    "JOIN",
    "LEFT JOIN",
    "ON",
    "USING",
    "LATERAL",
    "IN",
    "EXISTS",
    "NOT",
    "AND",
    "OR",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "BETWEEN",
    "LIKE",
    "IS NULL",
    "CAST",
    "OVER",
    "PARTITION BY",
    "FILTER",
    "VALUES",
    "DISTINCT",
    "(",
    ")",
    "(",
    ")",
    ",",
    ",",
    ".",
    "*",
    "=",
    "<",
    "+",
    "-",
    "||",
    "->>",
    "::",
    ";",
    "--",
    "/*",
    "*/",
    "'",
    "\"",
    "'x'",
    "'\\'",
    "''",
    "1",
    "2",
    "NULL",
    "$1",
    "?1",
    "cases",
    "clients",
    "offices",
    "payments",
    "tbl_payments",
    "audit_log",
    "main",
    "id",
    "owner",
    "status",
    "amount",
    "email",
    "secret_note",
    "x",
    "y",
    "\"cases\"",
    "\"x\"",
    "[id]",
    "count",
    "sum",
    "max",
    "read_text",
    "unnest",
    "range",
    "repeat",
    "lower",
    "query",
    "INSERT INTO",
    "DELETE FROM",
    "INTO",
    "TABLE",
    "PIVOT",
    "INTERVAL",
    "DATE",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 1..40).prop_map(|words| format!("SELECT {}", words.join(" ")))
}

/// An accepted query with one to four of its words dropped, doubled, moved or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let seeds: Vec<String> =
        ["both", "duckdb", "sqlite"].iter().flat_map(|f| cases(&format!("cases/sql/accept/{f}.txt"))).collect();
    let edit = (any::<prop::sample::Index>(), 0..4, prop::sample::select(WORDS), any::<prop::sample::Index>());
    (prop::sample::select(seeds), prop::collection::vec(edit, 1..5)).prop_map(|(seed, edits)| {
        let mut words: Vec<String> = seed.split_inclusive([' ', '(', ')', ',', '.']).map(str::to_owned).collect();
        for (at, kind, word, other) in edits {
            if words.is_empty() {
                break;
            }
            let (i, j) = (at.index(words.len()), other.index(words.len()));
            match kind {
                0 => drop(words.remove(i)),
                1 => words.insert(i, words[j].clone()),
                2 => words.swap(i, j),
                _ => words[i] = format!(" {word} "),
            }
        }
        words.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        holds(&text);
        holds(&format!("SELECT {text} FROM cases"));
        let _ = policy::parse_plan(&text);
        let _ = Policy::load([("t.yaml".to_owned(), text)]);
    }

    #[test]
    fn any_bytes_in_quotes_stay_in_quotes(text in "[a'\"\\\\;\\-/*\u{0}\u{202e}é ]{0,30}") {
        let literal = format!("'{}'", text.replace('\'', "''"));
        holds(&format!("SELECT {literal}, id FROM cases WHERE owner = {literal} AND status LIKE {literal}"));
        holds(&format!("SELECT id AS \"{}\" FROM cases", text.replace('"', "\"\"")));
    }

    #[test]
    fn words_in_any_order_reach_nothing_else(text in soup()) {
        holds(&text);
    }

    #[test]
    fn changed_queries_reach_nothing_else(text in mutated()) {
        holds(&text);
    }
}

#[test]
fn hostile_sizes_are_refused() {
    let nested = |open: &str, close: &str, n: usize| format!("SELECT {}1{}", open.repeat(n), close.repeat(n));
    for text in [
        nested("(", ")", 50_000),
        nested("(", ")", 5_000),
        nested("[", "]", 5_000),
        nested("(SELECT ", ")", 2_000),
        nested("CASE WHEN 1 THEN ", " END", 1_000),
        nested("abs(", ")", 3_000),
        nested("NOT ", "", 10_000),
        nested("- ", "", 10_000),
        nested("INTERVAL ", "", 5_000),
        nested("1+", "", 30_000),
        nested("", "::int", 10_000),
        nested("", " IS DISTINCT FROM 1", 3_000),
        nested("", " UNION SELECT 1", 4_000),
        nested("", " UNION SELECT id FROM cases WHERE is_urgent", 1_200),
        nested("", " OR 1 = 1", 5_000),
        format!("SELECT * FROM {}clients", "(".repeat(20_000)),
        format!("SELECT * FROM {}clients", "(".repeat(45)),
        "CASE ".repeat(12_000),
        "(".repeat(60_000),
        format!("SELECT '{}'", "x".repeat(100_000)),
        "SELECT 1\0".to_owned(),
    ] {
        let fault = sql_as(&analyst(), Dialect::DuckDb, &text).map(drop).unwrap_err();
        let codes = ["sql.too_deep", "sql.too_long", "sql.too_many_tables", "sql.syntax", "sql.not_a_query"];
        assert!(codes.contains(&fault.code.as_str()), "{fault}");
        assert!(fault.message.len() < 400, "the refusal repeats the attack");
    }
}

#[test]
fn long_but_flat_queries_pass() {
    for text in [
        format!("SELECT {} FROM clients", vec!["id"; 10_000].join(", ")),
        format!(
            "SELECT id FROM cases WHERE client_id IN ({})",
            (0..5_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
        ),
        format!("SELECT id FROM cases WHERE {}", vec!["status = 'x'"; 400].join(" OR ")),
        format!("SELECT {}1", "1 + ".repeat(1_500)),
    ] {
        sql_as(&analyst(), Dialect::DuckDb, &text).unwrap();
    }
}

#[test]
fn look_alikes_are_other_names() {
    for name in ["саses", "clients\u{200b}", "\u{202e}clients", "ｃlients"] {
        let refused: Fault = sql_as(&analyst(), Dialect::DuckDb, &format!("SELECT id FROM \"{name}\"")).unwrap_err();
        assert_eq!(refused.code, "sql.unknown_table");
    }
}
