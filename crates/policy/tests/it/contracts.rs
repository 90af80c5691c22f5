//! Contract files: what is read, what is refused, what a role is told.

use crate::fixture::{cases, policy, source, text};
use crate::promise::{self, house};
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
            missed.push(format!(
                "{case}\n    {}",
                errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n    ")
            ));
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
fn predicates_are_read_whole_or_refused() {
    let (good, bad) = (cases("cases/predicate/accept/all.txt"), cases("cases/predicate/reject/all.txt"));
    for predicate in &good {
        house::with_rows(predicate).unwrap_or_else(|e| panic!("{predicate}\n{e:#?}"));
        promise::predicate(predicate);
    }
    let passed: Vec<&String> = bad.iter().filter(|predicate| house::with_rows(predicate).is_ok()).collect();
    bad.iter().for_each(|predicate| promise::predicate(predicate));
    testkit::tally("policy", "row predicates refused", bad.len(), "escapes", passed.len());
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn all_problems_of_all_files_come_at_once() {
    let bad = SMALL
        .replace("ops: [READ]", "ops: [READ], hide: [x], rows: 'secret = 1'")
        .replace("resource: t", "resource: T");
    let files = [("t.yaml".to_owned(), bad), ("u.yaml".to_owned(), "version: 1\nnonsense: true".to_owned())];
    let errors = Policy::load(files).unwrap_err();
    insta::assert_snapshot!(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @r#"
t.yaml: `resource`: `T` is not a name (hint: use lowercase letters, digits and `_`, at most 64, starting with a letter)
t.yaml: `resource`: the file is called `t.yaml`, and its resource is `T` (hint: call the file `T.yaml`)
t.yaml: `roles.analyst.hide`: unknown field `x` (hint: did you mean `a`?)
t.yaml: `roles.analyst.rows`: unknown column `secret` (hint: columns here: `a`, `b`)
u.yaml: `nonsense`: unknown field `nonsense`, expected one of version, resource, source, table, describe, synonyms, key, natural_key, fields, roles, public, grants, query_mode, where_examples, version_field, soft_delete, filters, order, limits, joins, rest at line 2, column 1 (hint: see docs/CONTRACTS.md for the keys)
"#);
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
        aliases.push_str(&format!(
            "{this}: &{this} [*{last}, *{last}, *{last}, *{last}, *{last}, *{last}, *{last}, *{last}]\n"
        ));
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
    insta::assert_json_snapshot!(policy.role_contract("cases", "agent").unwrap(), @r#"
{
  "version": "2",
  "resource": "cases",
  "ops_allowed": [
    "READ",
    "INSERT",
    "UPDATE"
  ],
  "fields": [
    {
      "name": "id",
      "type": "uuid",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "case_no",
      "type": "string",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": true
    },
    {
      "name": "client_id",
      "type": "integer",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "owner",
      "type": "string",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": true
    },
    {
      "name": "status",
      "type": "string",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": true
    },
    {
      "name": "priority",
      "type": "integer",
      "nullable": true,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "amount",
      "type": "number",
      "nullable": true,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "is_urgent",
      "type": "boolean",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "opened_on",
      "type": "date",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "created_at",
      "type": "timestamp",
      "nullable": false,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "payload",
      "type": "json",
      "nullable": true,
      "pii": false,
      "readable": true,
      "writable": false
    },
    {
      "name": "secret_note",
      "type": "text",
      "nullable": true,
      "pii": false,
      "readable": true,
      "writable": false
    }
  ],
  "filters_allowed": {
    "created_at": [
      ">=",
      "<=",
      "BETWEEN"
    ],
    "status": [
      "=",
      "!=",
      "IN"
    ]
  },
  "order_allowed": [
    "created_at"
  ],
  "limits": {
    "max_rows": 50,
    "max_predicates": 10,
    "max_update_fields": 10,
    "max_joins": 1
  },
  "joins_allowed": [
    {
      "target_resource": "clients",
      "on": [
        {
          "leftField": "client_id",
          "rightField": "id"
        }
      ],
      "type": "inner"
    }
  ]
}
"#);
    let clients = policy.role_contract("clients", "analyst").unwrap();
    insta::assert_json_snapshot!(clients.filters_allowed, @r#"
{
  "gone_column": [
    "=",
    "!=",
    "LIKE",
    "ILIKE",
    "IN"
  ],
  "id": [
    "=",
    "!=",
    ">",
    ">=",
    "<",
    "<=",
    "IN",
    "BETWEEN"
  ],
  "name": [
    "=",
    "!=",
    "LIKE",
    "ILIKE",
    "IN"
  ],
  "region": [
    "=",
    "!=",
    "LIKE",
    "ILIKE",
    "IN"
  ],
  "since": [
    "=",
    ">",
    ">=",
    "<",
    "<=",
    "BETWEEN"
  ]
}
"#);
    assert!(policy.role_contract("clients", "stranger").is_none());
    assert!(policy.role_contract("offices", "stranger").is_some());
}

#[test]
fn a_draft_is_safe_and_loads() {
    let source = source(Dialect::Sqlite);
    let yaml = policy::draft(&source, source.table("clients").unwrap());
    insta::assert_snapshot!(yaml, @r#"
version: "1"
resource: clients
source: crm
table: clients
describe: ""
fields:
  - {name: id, type: integer, nullable: true}
  - {name: name, type: string, nullable: true}
  - {name: email, type: string, nullable: true, pii: true}
  - {name: region, type: string, nullable: true}
  - {name: since, type: date, nullable: true}
roles:
  # These look personal or secret: show them only to roles that need them.
  analyst: {ops: [READ], hide: [email]}
public: false
"#);
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
