//! Contract files: what is read, what is refused, what a role is told.

use crate::fixture::{cases, policy, source, text};
use domain::Dialect;
use policy::Policy;

fn load(name: &str, yaml: &str) -> Result<Policy, Vec<policy::ContractError>> {
    Policy::load([(name.to_owned(), yaml.to_owned())])
}

const SMALL: &str = "{version: '1', resource: t, source: s, table: t, fields: [{name: a, type: integer}, {name: b, type: string}], roles: {analyst: {ops: [READ]}}}";

#[test]
fn each_problem_is_found_and_named() {
    let mut missed = Vec::new();
    for case in cases("cases/contract/reject/all.txt") {
        let (key, rest) = case.split_once(" | ").unwrap();
        let (from, to) = rest.split_once(" => ").unwrap();
        assert!(SMALL.contains(from), "{case}");
        let errors = load("t.yaml", &SMALL.replace(from, to)).unwrap_err();
        if !errors.iter().any(|e| e.key == key) {
            missed.push(format!("{case}\n    {}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n    ")));
        }
        assert!(errors.iter().all(|e| !e.hint.is_empty() && e.file == "t.yaml"));
    }
    assert!(missed.is_empty(), "named otherwise:\n{}", missed.join("\n"));
}

#[test]
fn whole_contracts_are_read() {
    for case in cases("cases/contract/accept/all.txt") {
        let (from, to) = case.split_once(" => ").unwrap();
        assert!(SMALL.contains(from), "{case}");
        load("t.yaml", &SMALL.replace(from, to)).unwrap_or_else(|e| panic!("{case}\n{e:#?}"));
    }
}

#[test]
fn all_problems_of_all_files_come_at_once() {
    let bad = SMALL.replace("ops: [READ]", "ops: [READ], hide: [x], rows: 'secret = 1'").replace("resource: t", "resource: T");
    let files = [("t.yaml".to_owned(), bad), ("u.yaml".to_owned(), "version: 1\nnonsense: true".to_owned())];
    let errors = Policy::load(files).unwrap_err();
    insta::assert_snapshot!(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @"");
}

#[test]
fn the_fingerprint_changes_with_a_contract_and_only_then() {
    let same = load("t.yaml", &format!("# a comment\n{}", SMALL.replace(", ", ",   "))).unwrap();
    let other = load("t.yaml", &SMALL.replace("type: string", "type: text")).unwrap();
    let small = load("t.yaml", SMALL).unwrap();
    assert_eq!(small.fingerprint(), same.fingerprint());
    assert_ne!(small.fingerprint(), other.fingerprint());
}

#[test]
fn bombs_are_refused() {
    let mut aliases = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (this, last) in ["b", "c", "d", "e", "f", "g"].iter().zip(["a", "b", "c", "d", "e", "f"]) {
        aliases.push_str(&format!("{this}: &{this} [*{last}, *{last}, *{last}, *{last}, *{last}, *{last}, *{last}, *{last}]\n"));
    }
    for yaml in [aliases, "[".repeat(10_000), "x".repeat(1_000_000), "{a: ".repeat(5_000)] {
        assert_eq!(load("t.yaml", &yaml).unwrap_err().len(), 1);
    }
}

#[test]
fn older_versions_are_kept_beside_the_current_one() {
    let policy = policy();
    assert_eq!(policy.contract("cases").unwrap().version, "2");
    assert_eq!(policy.older_contracts().map(|c| c.version.as_str()).collect::<Vec<_>>(), ["1"]);
    let clash = [("t.yaml".to_owned(), SMALL.to_owned()), ("t@1.yaml".to_owned(), SMALL.to_owned())];
    assert!(Policy::load(clash).unwrap_err().iter().any(|e| e.key == "version"));
}

#[test]
fn a_role_is_told_what_spec_002_says() {
    let policy = policy();
    insta::assert_json_snapshot!(policy.role_contract("cases", "agent").unwrap(), @"");
    let clients = policy.role_contract("clients", "analyst").unwrap();
    insta::assert_json_snapshot!(clients.filters_allowed, @"");
    assert!(policy.role_contract("clients", "stranger").is_none());
    assert!(policy.role_contract("offices", "stranger").is_some());
}

#[test]
fn a_draft_is_safe_and_loads() {
    let source = source(Dialect::Sqlite);
    let yaml = policy::draft(&source, source.table("clients").unwrap());
    insta::assert_snapshot!(yaml, @"");
    load("clients.yaml", &yaml).unwrap();
    let mut odd = source.table("clients").unwrap().clone();
    odd.name = "2024 Orders: éà".to_owned();
    odd.columns[0].name = "yes".to_owned();
    odd.columns[1].name = "Customer Phone".to_owned();
    let drafted = policy::draft(&source, &odd);
    let loaded = load("t_2024_orders____.yaml", &drafted).unwrap();
    assert!(loaded.contracts().next().unwrap().roles["analyst"].hide.contains(&"Customer Phone".to_owned()));
}

#[test]
fn the_published_schema_is_whole() {
    let schema = policy::contract_json_schema();
    let keys = schema["properties"].as_object().unwrap();
    for key in text("fixture/cases.yaml").lines().filter_map(|l| l.split_once(':')).map(|(key, _)| key) {
        assert!(key.starts_with([' ', '-']) || keys.contains_key(key), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
}
