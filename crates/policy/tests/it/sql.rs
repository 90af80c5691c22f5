//! SQL text: what must pass, what must not, and what comes out.

use crate::fixture::{admin, agent, analyst, cases, path, sql_as};
use crate::promise;
use domain::{Caller, Dialect, Kind, Value};
use std::collections::BTreeSet;

const BOTH: [(Dialect, &str); 2] = [(Dialect::DuckDb, "duckdb"), (Dialect::Sqlite, "sqlite")];

/// Case files that apply to a dialect.
fn files(kind: &str, dialect: &str) -> [String; 2] {
    ["both", dialect].map(|name| format!("cases/sql/{kind}/{name}.txt"))
}

#[test]
fn good_queries_pass() {
    let (mut tried, mut refused) = (0, Vec::new());
    for (dialect, name) in BOTH {
        for text in files("accept", name).iter().flat_map(|file| cases(file)) {
            tried += 1;
            if let Err(fault) = sql_as(&analyst(), dialect, &text) {
                refused.push(format!("{name}: {text}\n    {fault} (hint: {})", fault.hint));
            }
            promise::sql(&text);
        }
    }
    testkit::tally("policy", "good statements accepted", tried, "false refusals", refused.len());
    assert!(refused.is_empty(), "refused by mistake:\n{}", refused.join("\n"));
}

/// The rule, the offending part with its place, and what would be allowed.
#[test]
fn bad_queries_are_refused_with_their_code() {
    let (mut tried, mut escaped, mut wrong, mut told) = (0, 0, Vec::new(), BTreeSet::new());
    for (dialect, name) in BOTH {
        for case in files("reject", name).iter().flat_map(|file| cases(file)) {
            let (code, text) = case.split_once(" | ").unwrap();
            tried += 1;
            match sql_as(&analyst(), dialect, text) {
                Err(fault) if fault.code == code => {
                    let place = fault.span.map_or("-".to_owned(), |span| format!("{}:{}", span.line, span.column));
                    // Nothing has no place.
                    if place == "-" && code != "sql.empty" {
                        wrong.push(format!("{name}: {text}\n    {fault} does not say where"));
                    }
                    told.insert((text.to_owned(), format!("{place} {fault}\n    {}", fault.hint)));
                }
                Err(fault) => wrong.push(format!("{name}: {text}\n    {fault}, expected {code}")),
                Ok(approved) => {
                    escaped += 1;
                    wrong.push(format!("{name}: {text}\n    passed as {}", approved.sql()));
                }
            }
            promise::sql(text);
        }
    }
    testkit::tally("policy", "hostile statements refused", tried, "escapes", escaped);
    assert!(wrong.is_empty(), "not refused as expected:\n{}", wrong.join("\n"));
    let told: Vec<String> = told.iter().map(|(text, refusal)| format!("{text}\n    {refusal}")).collect();
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("refusals", told.join("\n"));
    });
}

fn compiled(caller: &Caller, text: &str) -> String {
    sql_as(caller, Dialect::DuckDb, text).unwrap().sql().to_owned()
}

#[test]
fn tables_become_their_readable_columns_and_rows() {
    insta::assert_snapshot!(compiled(&analyst(), "SELECT * FROM clients AS c"), @r#"SELECT * FROM (SELECT "id", "name", "region", "since" FROM "main"."clients") AS c LIMIT 1001"#);
    insta::assert_snapshot!(compiled(&agent(), "SELECT count(*) FROM cases"), @r#"SELECT count(*) FROM (SELECT "id", "case_no", "client_id", "owner", "status", "priority", "amount", "is_urgent", "opened_on", "created_at", "payload", "secret_note" FROM "main"."cases" WHERE (owner = $1)) AS cases LIMIT 1001"#);
    insta::assert_snapshot!(compiled(&admin(), "SELECT entry FROM audit_log"), @r#"SELECT entry FROM (SELECT "id", "entry" FROM "main"."audit_log") AS audit_log LIMIT 1001"#);
}

#[test]
fn a_cte_neither_reaches_nor_hides_a_table() {
    insta::assert_snapshot!(compiled(&analyst(), "WITH clients AS (SELECT id FROM clients) SELECT * FROM clients"), @r#"WITH "cte:clients" AS (SELECT id FROM (SELECT "id", "name", "region", "since" FROM "main"."clients") AS clients) SELECT * FROM "cte:clients" AS clients LIMIT 1001"#);
    insta::assert_snapshot!(
        compiled(&analyst(), "WITH RECURSIVE clients AS (SELECT id FROM clients UNION ALL SELECT id + 1 FROM clients WHERE id < 9) SELECT * FROM clients"),
        @r#"WITH RECURSIVE "cte:clients" AS (SELECT id FROM (SELECT "id", "name", "region", "since" FROM "main"."clients") AS clients UNION ALL SELECT id + 1 FROM "cte:clients" AS clients WHERE id < 9) SELECT * FROM "cte:clients" AS clients LIMIT 1001"#
    );
}

#[test]
fn the_outer_limit_is_the_lesser_of_both() {
    for (text, limit) in [
        ("SELECT id FROM clients", " LIMIT 1001"),
        ("SELECT id FROM clients ORDER BY id LIMIT 5", " ORDER BY id LIMIT 5"),
        ("SELECT id FROM clients LIMIT 5000", " LIMIT 1001"),
        ("SELECT id FROM clients LIMIT 5000 OFFSET 7", " LIMIT 1001 OFFSET 7"),
        ("SELECT id FROM clients OFFSET 7", " LIMIT 1001 OFFSET 7"),
        ("(SELECT id FROM clients LIMIT 2)", " LIMIT 2"),
        ("SELECT id FROM clients FETCH FIRST 3 ROWS ONLY", " LIMIT 3"),
        ("SELECT 1 UNION SELECT 2", "SELECT 1 UNION SELECT 2 LIMIT 1001"),
        ("VALUES (1), (2)", "SELECT * FROM (VALUES (1), (2)) AS \"rows\" LIMIT 1001"),
    ] {
        let sql = compiled(&analyst(), text);
        assert!(sql.ends_with(limit), "{text} became {sql}");
    }
}

#[test]
fn row_filters_bind_claims_once_and_are_told() {
    let approved = sql_as(&agent(), Dialect::Sqlite, "SELECT a.id FROM cases a JOIN cases b USING (id)").unwrap();
    assert_eq!(approved.params(), [Value::Text("bob@example.com".to_owned())]);
    assert_eq!(approved.sql().matches("owner = ?1").count(), 2, "{}", approved.sql());
    assert_eq!(approved.filtered_by(), ["cases"]);
    assert_eq!(approved.tables(), ["cases"]);
    assert_eq!(approved.contracts()[0].version, "2");
}

#[test]
fn a_missing_claim_is_refused() {
    let fault = sql_as(&Caller::new("dan", "lead"), Dialect::DuckDb, "SELECT id FROM cases").unwrap_err();
    assert_eq!((fault.kind, fault.code.as_str()), (Kind::Forbidden, "policy.claim_missing"));
    let mut lead = Caller::new("dan", "lead");
    lead.claims.insert("team".to_owned(), "x' OR '1'='1".to_owned());
    let approved = sql_as(&lead, Dialect::DuckDb, "SELECT id FROM cases").unwrap();
    assert!(approved.sql().contains("owner = $1") && !approved.sql().contains("OR"));
}

#[test]
fn what_is_hidden_is_refused_like_what_does_not_exist() {
    for (hidden, absent) in [
        ("SELECT secret_note FROM cases", "SELECT nothing_here FROM cases"),
        ("SELECT c.secret_note FROM cases c", "SELECT c.nothing_here FROM cases c"),
        ("SELECT id FROM payments", "SELECT id FROM nonesuch"),
        ("SELECT id FROM audit_log", "SELECT id FROM nothingxx"),
    ] {
        let name = |text: &str| {
            ["secret_note", "nothing_here", "payments", "nonesuch", "audit_log", "nothingxx"]
                .iter()
                .fold(text.to_owned(), |t, n| t.replace(n, "…"))
        };
        let (a, b) = (
            sql_as(&analyst(), Dialect::DuckDb, hidden).unwrap_err(),
            sql_as(&analyst(), Dialect::DuckDb, absent).unwrap_err(),
        );
        assert_eq!((a.kind, &a.code, name(&a.message), a.span), (b.kind, &b.code, name(&b.message), b.span));
        for secret in ["secret_note", "payments", "tbl_payments", "audit_log"] {
            assert!(!a.hint.contains(secret) && !b.hint.contains(secret), "{} / {}", a.hint, b.hint);
        }
    }
}

#[test]
fn refusals_say_where() {
    let fault = sql_as(&analyst(), Dialect::DuckDb, "SELECT id,\n  read_text('/etc/passwd')\nFROM cases").unwrap_err();
    insta::assert_json_snapshot!(fault, @r#"
{
  "kind": "sql_policy",
  "code": "sql.function_not_allowed",
  "message": "the function `read_text` is not allowed",
  "hint": "call functions of aggregation, windows, dates, text, numbers, JSON and lists; none that reads files, settings or state",
  "span": {
    "line": 2,
    "column": 3
  }
}
"#);
    let fault = sql_as(&analyst(), Dialect::DuckDb, "SELECT id FROM cases WHERE stauts = 'ACTIVE'").unwrap_err();
    insta::assert_json_snapshot!(fault, @r#"
{
  "kind": "invalid",
  "code": "sql.unknown_column",
  "message": "unknown column `stauts`",
  "hint": "did you mean `status`?",
  "span": {
    "line": 1,
    "column": 28
  }
}
"#);
}

#[test]
fn strings_cannot_end_their_own_quotes() {
    for literal in [r"'a\'' OR 1=1 --'", "'a''''b'", r"'\'", r"'it''s'", r"'a\''''b'"] {
        let text = format!("SELECT count(*) FROM cases WHERE owner = {literal}");
        let sql = compiled(&analyst(), &text);
        // Every piece of the value is still inside quotes: outside of them nothing of it is left.
        let outside: String = sql.split('\'').step_by(2).collect();
        assert!(!outside.contains("1=1") && !outside.contains("--"), "{text} became {sql}");
    }
}
