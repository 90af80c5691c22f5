//! What must hold of any text: no crash, no escape, no rendering that reads back as something else.

use crate::fixture::{analyst, cases, path, sql_as};
use crate::{grammar, promise};
use domain::Dialect;
use proptest::prelude::*;

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
    prop::collection::vec(prop::sample::select(WORDS), 1..40).prop_map(|words| words.join(" "))
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
        promise::sql(&text);
        promise::sql(&format!("SELECT {text} FROM cases"));
        promise::plan(&text);
        promise::predicate(&text);
        promise::contract(&text);
    }

    #[test]
    fn any_bytes_in_quotes_stay_in_quotes(text in "[a'\"\\\\;\\-/*\u{0}\u{202e}é ]{0,30}") {
        let literal = format!("'{}'", text.replace('\'', "''"));
        promise::sql(&format!("SELECT {literal}, id FROM cases WHERE owner = {literal} AND status LIKE {literal}"));
        promise::sql(&format!("SELECT id AS \"{}\" FROM cases", text.replace('"', "\"\"")));
        promise::predicate(&format!("owner = {literal} OR status LIKE {literal}"));
    }

    #[test]
    fn words_in_any_order_reach_nothing_else(words in soup()) {
        promise::sql(&format!("SELECT {words}"));
        promise::predicate(&words);
    }

    #[test]
    fn changed_queries_reach_nothing_else(text in mutated()) {
        promise::sql(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_queries_pass(text in grammar::query()) {
        for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
            sql_as(&analyst(), dialect, &text).unwrap_or_else(|fault| panic!("{text}\n    {fault}"));
        }
        promise::sql(&text);
    }
}

/// What `fuzz/` starts from; what its fuzzers add on their own is not committed.
#[test]
fn the_committed_corpus_keeps_the_promises() {
    kept("sql", promise::sql);
    kept("plan", promise::plan);
    kept("predicate", promise::predicate);
    kept("scan", promise::scan);
    kept("contract", promise::contract);
}

fn kept(target: &str, keeps_promise: fn(&str)) {
    let files = std::fs::read_dir(path(&format!("../../../fuzz/corpus/{target}"))).unwrap().map(Result::unwrap);
    let seeds: Vec<_> = files.filter(|file| file.file_name().to_string_lossy().starts_with("seed-")).collect();
    assert!(!seeds.is_empty(), "{target} has nothing to start from");
    seeds.iter().for_each(|seed| keeps_promise(&std::fs::read_to_string(seed.path()).unwrap()));
}
