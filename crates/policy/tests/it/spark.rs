//! What Spark is sent: written and checked as DuckDB's SQL, then translated.

use crate::fixture::{analyst, cases, path, plan_as, sql_as};
use crate::plans::plans;
use crate::promise::events;
use domain::{Caller, Dialect, Flavour};
use proptest::prelude::*;

fn snapshot(name: &str, shown: &str) {
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, shown);
    });
}

/// Without what stands for the tables: their readable columns and rows are tested elsewhere.
fn outline(sql: &str) -> String {
    let mut rest = sql;
    let mut short = String::new();
    while let Some((before, after)) = rest.split_once("(SELECT `id`, ") {
        let (inside, behind) = after.split_once(')').unwrap();
        short.push_str(&format!("{before}⟨{}⟩", inside.split("`default`.").nth(1).unwrap().trim_matches('`')));
        rest = behind;
    }
    short + rest
}

#[test]
fn plans_compile_to_spark() {
    let mut shown = String::new();
    let all = plans("cases/plan/accept/both.txt");
    for (name, json) in &all {
        let approved = plan_as(&analyst(), Dialect::Spark, json).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(approved.params().is_empty(), "Sail binds no values: {name}");
        shown.push_str(&format!("# {name}\n{}\n", outline(approved.sql())));
    }
    testkit::tally("policy", "good plans in Spark's SQL", all.len(), "false refusals", 0);
    snapshot("spark_plans", &shown);
}

/// Each as it was written and as Spark runs it; what has no translation is told so.
#[test]
fn predicates_are_translated() {
    let policy = events::policy();
    for flavour in Flavour::ALL {
        let (mut shown, mut translated) = (String::new(), 0);
        let all = cases(&format!("cases/scan/accept/{}.txt", flavour.as_str()));
        for text in &all {
            let scan = events::filtered(flavour, text);
            let said = match events::check(&policy, &Caller::new("ann@example.com", "analyst"), Dialect::Spark, scan) {
                Ok(approved) => {
                    translated += 1;
                    let (_, filter) = approved.sql().split_once(" AS `events` WHERE ").unwrap();
                    filter.strip_suffix(" LIMIT 1001").unwrap().to_owned()
                }
                Err(fault) => {
                    assert!(fault.code.ends_with(".no_translation"), "{text}: {fault}");
                    fault.message
                }
            };
            shown.push_str(&format!("{text}\n    {said}\n"));
        }
        assert!(translated * 10 > all.len() * 7, "{translated} of {} in {flavour:?}", all.len());
        snapshot(&format!("spark_predicates_{}", flavour.as_str()), &shown);
    }
}

#[test]
fn statements_are_translated_or_refused() {
    let (mut shown, mut translated) = (String::new(), 0);
    let all: Vec<String> =
        ["both", "duckdb"].iter().flat_map(|file| cases(&format!("cases/sql/accept/{file}.txt"))).collect();
    for text in &all {
        let said = match sql_as(&analyst(), Dialect::Spark, text) {
            Ok(approved) => {
                translated += 1;
                outline(approved.sql())
            }
            Err(fault) => {
                assert_eq!(fault.code, "sql.no_translation", "{text}: {fault}");
                fault.message
            }
        };
        shown.push_str(&format!("{text}\n    {said}\n"));
    }
    snapshot("spark_statements", &shown);
    assert!(translated * 2 > all.len(), "{translated} of {}", all.len());
}

#[test]
fn hostile_statements_stay_refused() {
    let all: Vec<String> =
        ["both", "duckdb"].iter().flat_map(|file| cases(&format!("cases/sql/reject/{file}.txt"))).collect();
    let passed: Vec<&String> = all
        .iter()
        .filter(|case| sql_as(&analyst(), Dialect::Spark, case.split_once(" | ").unwrap().1).is_ok())
        .collect();
    testkit::tally("policy", "hostile statements refused for Spark", all.len(), "escapes", passed.len());
    assert!(passed.is_empty(), "{passed:?}");
}

/// Where a literal of Spark's ends: a backslash takes the next character along.
fn literal_end(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            '\'' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a value holds, it stays one literal, and the statement around it the same.
    #[test]
    fn values_stay_within_their_quotes(value in r#"[ -~'\\"`%$é\n\t;]{0,40}"#) {
        let json = serde_json::json!({
            "version": "1", "from": {"resource": "clients"}, "select": [{"expr": {"field": "name"}}],
            "where": {"test": {"left": {"field": "name"}, "op": "=", "right": {"value": value}}},
        });
        let approved = plan_as(&analyst(), Dialect::Spark, &json.to_string()).unwrap();
        let (_, from_literal) = approved.sql().split_once(" WHERE (`clients`.`name` = ").unwrap();
        let end = literal_end(from_literal).unwrap();
        prop_assert_eq!(&from_literal[end..], ") LIMIT 1001");
    }
}
