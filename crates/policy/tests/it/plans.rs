//! Plans: what they compile to in each dialect, and how wrong ones are refused.

use crate::fixture::{agent, analyst, path, plan_as, text};
use crate::promise;
use domain::{Dialect, Kind};

/// A file of plans: a line `# name` (in reject files `# name: code`), then JSON up to the next such line.
pub fn plans(relative: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text(relative).lines() {
        match (line.strip_prefix("# "), found.last_mut()) {
            (Some(name), _) => found.push((name.to_owned(), String::new())),
            (None, Some((_, json))) => json.push_str(line),
            (None, None) => {}
        }
    }
    found
}

#[test]
fn plans_compile_to_both_dialects() {
    let (mut shown, mut tried) = (String::new(), 0);
    for (name, json) in plans("cases/plan/accept/both.txt") {
        promise::plan(&json);
        tried += 1;
        shown.push_str(&format!("# {name}\n"));
        for (dialect, label) in [(Dialect::DuckDb, "duckdb"), (Dialect::Sqlite, "sqlite")] {
            let approved =
                plan_as(&analyst(), dialect, &json).unwrap_or_else(|fault| panic!("{name}: {fault} ({})", fault.hint));
            shown.push_str(&format!("{label}: {}\n", outline(approved.sql())));
            if !approved.params().is_empty() {
                shown.push_str(&format!("  params: {}\n", serde_json::to_string(approved.params()).unwrap()));
            }
        }
        shown.push('\n');
    }
    testkit::tally("policy", "good plans accepted", tried, "false refusals", 0);
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("plans", shown);
    });
}

/// The statement with each table's subquery shortened to its name: what it holds is tested elsewhere.
fn outline(sql: &str) -> String {
    let mut rest = sql;
    let mut short = String::new();
    while let Some((before, after)) = rest.split_once("(SELECT \"id\", ") {
        let (inside, behind) = after.split_once(')').unwrap();
        let table = inside.split("\"main\".").nth(1).unwrap();
        short.push_str(&format!("{before}⟨{}⟩", table.trim_matches('"')));
        rest = behind;
    }
    short + rest
}

/// The rule, the offending part with its path, and what would be allowed.
#[test]
fn wrong_plans_are_refused_with_their_code() {
    let (mut told, mut tried) = (String::new(), 0);
    for (name, json) in plans("cases/plan/reject/both.txt") {
        promise::plan(&json);
        tried += 1;
        let (name, code) = name.split_once(": ").unwrap();
        for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
            let fault =
                plan_as(&analyst(), dialect, &json).map(|a| panic!("{name} passed as {}", a.sql())).unwrap_err();
            assert_eq!((fault.code.as_str(), fault.kind), (code, Kind::Invalid), "{name}: {fault}");
            assert!(fault.message.starts_with("`plan"), "{name} does not say where: {fault}");
            if dialect == Dialect::DuckDb {
                told.push_str(&format!("{name}\n    {fault}\n    {}\n", fault.hint));
            }
        }
    }
    testkit::tally("policy", "wrong plans refused", tried, "escapes", 0);
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("plan_refusals", told);
    });
}

#[test]
fn the_same_plan_is_the_same_statement() {
    let json = &plans("cases/plan/accept/both.txt")[0].1;
    let (a, b) =
        (plan_as(&analyst(), Dialect::DuckDb, json).unwrap(), plan_as(&analyst(), Dialect::DuckDb, json).unwrap());
    assert_eq!((a.sql(), a.fingerprint(), a.proposal_hash()), (b.sql(), b.fingerprint(), b.proposal_hash()));
}

#[test]
fn row_filters_bind_after_the_values_of_the_plan() {
    let json = r#"{"version":"1","from":{"resource":"cases"},"select":[{"expr":{"field":"id"}}],
        "where":{"test":{"left":{"field":"status"},"op":"=","right":{"value":"ACTIVE"}}}}"#;
    let (a, b) =
        (plan_as(&agent(), Dialect::DuckDb, json).unwrap(), plan_as(&analyst(), Dialect::DuckDb, json).unwrap());
    assert_eq!(serde_json::to_string(a.params()).unwrap(), r#"["ACTIVE","bob@example.com"]"#);
    assert!(a.sql().contains("owner = $2"), "{}", a.sql());
    assert_eq!((a.filtered_by().len(), b.filtered_by().len()), (1, 0));
    assert_ne!(a.fingerprint(), b.fingerprint());
}

#[test]
fn the_place_of_a_mistake_is_named() {
    let json = r#"{"version":"1","from":{"resource":"cases"},"select":[{"expr":{"feild":"id"}}]}"#;
    insta::assert_json_snapshot!(policy::parse_plan(json).unwrap_err(), @r#"
{
  "kind": "invalid",
  "code": "plan.shape",
  "message": "`plan.select[0].expr`: unknown variant  feild , expected one of  field ,  value ,  aggregate ,  arithme…",
  "hint": "see the published JSON Schema of a plan"
}
"#);
    let json = r#"{"version":"1","from":{"resource":"cases"},"select":[{"expr":{"field":"ownr"}}]}"#;
    insta::assert_json_snapshot!(plan_as(&analyst(), Dialect::DuckDb, json).unwrap_err(), @r#"
{
  "kind": "invalid",
  "code": "plan.unknown_column",
  "message": "`plan.select[0].expr`: unknown column `ownr`",
  "hint": "did you mean `owner`?"
}
"#);
}

#[test]
fn deep_json_is_refused_before_it_is_read() {
    let deep = format!(r#"{{"version":"1","where":{}1{}}}"#, r#"{"not":"#.repeat(5_000), "}".repeat(5_000));
    assert_eq!(policy::parse_plan(&deep).unwrap_err().code, "plan.too_deep");
    assert_eq!(policy::parse_plan(&" ".repeat(300_000)).unwrap_err().code, "plan.too_long");
}

#[test]
fn the_published_schema_accepts_what_we_accept() {
    let schema = policy::query_plan_json_schema();
    assert_eq!(schema["title"], "QueryPlan");
    assert_eq!(schema["additionalProperties"], false);
}
