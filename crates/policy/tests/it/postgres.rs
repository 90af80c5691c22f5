//! What reaches Postgres: plans, predicates and statements in its SQL, and what never does.

use crate::fixture::{agent, analyst, cases, path, plan_as, sql_as, text};
use crate::promise::events;
use domain::{Dialect, Flavour};

const POSTGRES: Dialect = Dialect::Postgres;

fn snapshot(name: &str, shown: &str) {
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, shown);
    });
}

#[test]
fn plans_in_postgres() {
    let mut shown = String::new();
    let file = text("cases/plan/accept/both.txt");
    for case in file.split("\n# ").map(|case| case.trim_start_matches("# ")) {
        let Some((name, json)) = case.split_once('\n').filter(|(_, json)| json.contains('{')) else { continue };
        let approved = plan_as(&analyst(), POSTGRES, json).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        shown.push_str(&format!("# {name}\n{}\n", outline(approved.sql())));
    }
    snapshot("plans_postgres", &shown);
}

/// The statement with each table's subquery shortened to its name.
fn outline(sql: &str) -> String {
    let mut rest = sql;
    let mut short = String::new();
    while let Some((before, after)) = rest.split_once("(SELECT \"id\"") {
        let (inside, behind) = after.split_once("\"public\".").unwrap();
        assert!(!inside.contains("FROM \""), "{inside}");
        let (table, behind) = behind.split_once(')').unwrap();
        short.push_str(&format!("{before}⟨{}⟩", table.replace('"', "")));
        rest = behind;
    }
    short + rest
}

#[test]
fn predicates_in_postgres() {
    let policy = events::policy();
    let mut shown = Vec::new();
    for predicate in cases("cases/scan/accept/duckdb.txt") {
        let said = match events::check(&policy, &analyst(), POSTGRES, events::filtered(Flavour::DuckDb, &predicate)) {
            Ok(approved) => {
                let (_, filter) = approved.sql().split_once(r#" AS "events" WHERE "#).unwrap();
                filter.strip_suffix(" LIMIT 1001").unwrap().to_owned()
            }
            Err(fault) => format!("({})", fault.code),
        };
        shown.push(format!("{predicate}\n    {said}"));
    }
    snapshot("predicates_postgres", &shown.join("\n"));
}

#[test]
fn good_statements_pass() {
    let good = cases("cases/sql/accept/postgres.txt");
    let refused: Vec<String> = good
        .iter()
        .filter_map(|text| Some(format!("{text}\n    {}", sql_as(&analyst(), POSTGRES, text).err()?)))
        .collect();
    testkit::tally("policy", "good statements accepted: Postgres", good.len(), "false refusals", refused.len());
    assert!(refused.is_empty(), "refused by mistake:\n{}", refused.join("\n"));
}

#[test]
fn hostile_statements_are_refused() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for case in cases("cases/sql/reject/postgres.txt").iter().chain(&cases("cases/sql/reject/both.txt")) {
        let (code, text) = case.split_once(" | ").unwrap();
        tried += 1;
        match sql_as(&analyst(), POSTGRES, text) {
            Ok(approved) => wrong.push(format!("{text}\n    passed as {}", approved.sql())),
            // What only Postgres's grammar takes in another way is refused by another rule.
            Err(fault) if fault.code != code && !cases("cases/sql/reject/both.txt").contains(case) => {
                wrong.push(format!("{text}\n    {fault}, expected {code}"));
            }
            Err(_) => {}
        }
    }
    testkit::tally("policy", "hostile statements refused: Postgres", tried, "escapes", wrong.len());
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A condition of the caller's must not be tried on rows that are filtered away.
#[test]
fn row_filters_stand_behind_a_fence() {
    let approved = sql_as(&agent(), POSTGRES, "SELECT id FROM cases WHERE status = 'ACTIVE'").unwrap();
    assert!(approved.sql().contains("OFFSET 0)"), "{}", approved.sql());
    assert!(!approved.params().is_empty());
}
