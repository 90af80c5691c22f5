//! What reaches BigQuery: plans, predicates and statements in its SQL, and what never does.

use crate::fixture::{agent, analyst, cases, path, plan_as, sql_as, text};
use crate::plans::plans;
use crate::promise::{events, house};
use domain::{Caller, Dialect, Flavour, Limits, Proposal, Value};

const BIGQUERY: Dialect = Dialect::BigQuery;

fn snapshot(name: &str, shown: &str) {
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, shown);
    });
}

/// The statement with each table's subquery shortened to its name.
fn outline(sql: &str) -> String {
    let mut rest = sql;
    let mut short = String::new();
    while let Some((before, after)) = rest.split_once("(SELECT `id`, ") {
        let (inside, behind) = after.split_once(')').unwrap();
        short.push_str(&format!("{before}⟨{}⟩", inside.split("FROM ").nth(1).unwrap().replace('`', "")));
        rest = behind;
    }
    short + rest
}

#[test]
fn plans_compile_to_bigquery() {
    let mut shown = String::new();
    let all = plans("cases/plan/accept/both.txt");
    for (name, json) in &all {
        let approved = plan_as(&analyst(), BIGQUERY, json).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(!approved.sql().contains('"'), "double quotes are text there: {name}");
        shown.push_str(&format!("# {name}\n{}\n", outline(approved.sql())));
    }
    testkit::tally("policy", "good plans in BigQuery's SQL", all.len(), "false refusals", 0);
    snapshot("plans_bigquery", &shown);
}

#[test]
fn predicates_in_bigquery() {
    let policy = events::policy();
    let mut shown = Vec::new();
    for predicate in cases("cases/scan/accept/bigquery.txt") {
        let scan = events::filtered(Flavour::BigQuery, &predicate);
        let approved =
            events::check(&policy, &analyst(), BIGQUERY, scan).unwrap_or_else(|f| panic!("{predicate}: {f}"));
        let (_, filter) = approved.sql().split_once(" AS `events` WHERE ").unwrap();
        let bound = if approved.params().is_empty() { String::new() } else { format!("  {:?}", approved.params()) };
        shown.push(format!("{predicate}\n    {}{bound}", filter.strip_suffix(" LIMIT 1001").unwrap()));
    }
    snapshot("predicates_bigquery_own", &shown.join("\n"));
}

#[test]
fn good_statements_pass() {
    let good = cases("cases/sql/accept/bigquery.txt");
    let (mut shown, mut refused) = (String::new(), Vec::new());
    for text in &good {
        match sql_as(&analyst(), BIGQUERY, text) {
            Ok(approved) => {
                let bound =
                    if approved.params().is_empty() { String::new() } else { format!("  {:?}", approved.params()) };
                shown.push_str(&format!("{text}\n    {}{bound}\n", outline(approved.sql())));
            }
            Err(fault) => refused.push(format!("{text}\n    {fault}")),
        }
    }
    testkit::tally("policy", "good statements accepted: BigQuery", good.len(), "false refusals", refused.len());
    assert!(refused.is_empty(), "refused by mistake:\n{}", refused.join("\n"));
    snapshot("statements_bigquery", &shown);
}

#[test]
fn hostile_statements_are_refused() {
    let (mut tried, mut wrong) = (0, Vec::new());
    // A word in double quotes is text there, and nobody's column.
    let mut everywhere = cases("cases/sql/reject/both.txt");
    everywhere.retain(|case| !(case.contains('"') && case.starts_with("sql.unknown_column")));
    for case in cases("cases/sql/reject/bigquery.txt").iter().chain(&everywhere) {
        let (code, text) = case.split_once(" | ").unwrap();
        tried += 1;
        match sql_as(&analyst(), BIGQUERY, text) {
            Ok(approved) => wrong.push(format!("{text}\n    passed as {}", approved.sql())),
            // What its grammar takes in another way is refused by another rule.
            Err(fault) if fault.code != code && !everywhere.contains(case) => {
                wrong.push(format!("{text}\n    {fault}, expected {code}"));
            }
            Err(_) => {}
        }
    }
    testkit::tally("policy", "hostile statements refused: BigQuery", tried, "escapes", wrong.len());
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// No text is ever escaped: one that would have to be is bound.
#[test]
fn texts_with_quotes_are_bound() {
    let odd = r#"it's \ "x" `y`"#;
    let literal = odd.replace('\\', r"\\").replace('\'', r"\'");
    let sql = format!("SELECT id FROM cases WHERE owner = '{literal}' AND status = 'ACTIVE' AND priority = 1");
    let approved = sql_as(&analyst(), BIGQUERY, &sql).unwrap();
    assert_eq!(approved.params(), [Value::Text(odd.to_owned())]);
    assert!(approved.sql().contains("owner = @p1 AND status = 'ACTIVE'"), "{}", approved.sql());
    assert!(approved.sql_with_values().contains(&format!("owner = '{literal}'")), "{}", approved.sql_with_values());
}

/// A condition of the caller's must not be tried on rows that are filtered away.
#[test]
fn row_filters_stand_behind_a_fence() {
    let approved = sql_as(&agent(), BIGQUERY, "SELECT id FROM cases WHERE status = 'ACTIVE'").unwrap();
    assert!(
        approved.sql().contains("FROM `cases` WHERE (owner = @p1) LIMIT 9223372036854775807)"),
        "{}",
        approved.sql()
    );
    assert_eq!(approved.params(), [Value::Text("bob@example.com".to_owned())]);
}

#[test]
fn row_filters_are_said_in_its_words() {
    let mut shown = String::new();
    for rows in text("cases/contract/rows_bigquery.txt").lines().filter(|line| !line.starts_with('#')) {
        let policy = house::with_rows(rows).unwrap_or_else(|errors| panic!("{rows}: {errors:?}"));
        let proposal = Proposal::Sql { source: "crm".to_owned(), text: "SELECT id FROM cases".to_owned() };
        let said = match policy.check(&agent(), &house::source(BIGQUERY), &proposal, &Limits::default()) {
            Ok(approved) => {
                let (_, filter) = approved.sql().split_once(" FROM `cases` WHERE ").unwrap();
                format!("{}  {:?}", filter.split(" LIMIT").next().unwrap(), approved.params())
            }
            Err(fault) => fault.to_string(),
        };
        shown.push_str(&format!("{rows}\n    {said}\n"));
    }
    snapshot("rows_bigquery", &shown);
}

/// Its columns are asked in its own flavour only: another's functions may mean something else there.
#[test]
fn other_flavours_are_refused() {
    let scan = events::filtered(Flavour::DuckDb, "clicks = 1");
    let fault =
        events::check(&events::policy(), &Caller::new("ann@example.com", "analyst"), BIGQUERY, scan).unwrap_err();
    assert!(fault.code.ends_with(".flavour"), "{fault}");
}
