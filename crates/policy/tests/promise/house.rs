//! One source with contracts, and people who may see different parts of it.

use domain::{Caller, Column, Dialect, FieldType, ForeignKey, SourceSchema, Table};
use policy::{ContractError, Policy};

/// Everything that a check needs.
pub struct House {
    pub policy: Policy,
    pub sources: [SourceSchema; 2],
}

impl House {
    pub fn new() -> Self {
        Self { policy: policy(), sources: [source(Dialect::DuckDb), source(Dialect::Sqlite)] }
    }
}

/// What a role can reach at most, written out by hand.
pub struct Reader {
    pub role: &'static str,
    /// Table → its readable columns, as they are rendered.
    pub tables: [(&'static str, &'static str); 3],
}

pub const READERS: [Reader; 2] = [
    Reader {
        role: "analyst",
        tables: [
            (
                "cases",
                r#""id", "case_no", "client_id", "owner", "status", "priority", "amount", "is_urgent", "opened_on", "created_at", "payload""#,
            ),
            ("clients", r#""id", "name", "region", "since""#),
            ("offices", r#""id", "city""#),
        ],
    },
    Reader {
        role: "agent",
        tables: [
            (
                "cases",
                r#""id", "case_no", "client_id", "owner", "status", "priority", "amount", "is_urgent", "opened_on", "created_at", "payload", "secret_note""#,
            ),
            ("clients", r#""id", "name", "email", "region", "since""#),
            ("offices", r#""id", "city""#),
        ],
    },
];

impl Reader {
    pub fn caller(&self) -> Caller {
        caller(self.role)
    }
}

pub fn hidden_from(role: &str) -> &'static [&'static str] {
    match role {
        "analyst" => &["not_in_contract", "payments", "audit_log", "secret_note", "email"],
        _ => &["not_in_contract", "payments", "audit_log"],
    }
}

/// Somebody with that role: `agent@example.com`.
pub fn caller(role: &str) -> Caller {
    Caller::new(format!("{role}@example.com"), role)
}

const CONTRACTS: [(&str, &str); 5] = [
    ("cases.yaml", include_str!("../fixture/cases.yaml")),
    ("cases@1.yaml", include_str!("../fixture/cases@1.yaml")),
    ("clients.yaml", include_str!("../fixture/clients.yaml")),
    ("offices.yaml", include_str!("../fixture/offices.yaml")),
    ("payments.yaml", include_str!("../fixture/payments.yaml")),
];

pub fn policy() -> Policy {
    Policy::load(CONTRACTS.map(|(file, yaml)| (file.to_owned(), yaml.to_owned()))).expect("the fixture loads")
}

/// A contract that shows an agent those rows of `cases` for which the predicate holds.
pub fn with_rows(predicate: &str) -> Result<Policy, Vec<ContractError>> {
    let rows = serde_json::to_string(predicate).expect("text is JSON");
    let yaml = format!(
        "{{version: '1', resource: cases, source: crm, table: cases, fields: [{{name: id, type: uuid}}, \
         {{name: owner, type: string}}, {{name: status, type: string}}, {{name: amount, type: decimal}}, \
         {{name: opened_on, type: date}}], roles: {{agent: {{ops: [READ], rows: {rows}}}}}}}"
    );
    Policy::load([("cases.yaml".to_owned(), yaml)])
}

pub fn source(dialect: Dialect) -> SourceSchema {
    let table = |name: &str, columns: &[(&str, FieldType)]| Table {
        name: name.to_owned(),
        columns: columns.iter().map(|(n, k)| Column::new(*n, *k)).collect(),
        row_count: Some(100),
        ..Table::default()
    };
    use FieldType::*;
    let clients =
        table("clients", &[("id", Integer), ("name", String), ("email", String), ("region", String), ("since", Date)]);
    let mut cases = table(
        "cases",
        &[
            ("id", Uuid),
            ("case_no", String),
            ("client_id", Integer),
            ("owner", String),
            ("status", String),
            ("priority", Integer),
            ("amount", Decimal),
            ("is_urgent", Boolean),
            ("opened_on", Date),
            ("created_at", Timestamp),
            ("payload", Json),
            ("secret_note", Text),
            ("not_in_contract", Text),
        ],
    );
    if dialect == Dialect::BigQuery {
        // It has two types of moments, and compares none with the other.
        cases.columns.iter_mut().filter(|c| c.name == "created_at").for_each(|c| c.native = "TIMESTAMP".to_owned());
    }
    let key = |columns: &str, target: &str, targets: &str| ForeignKey {
        columns: vec![columns.to_owned()],
        target: target.to_owned(),
        target_columns: vec![targets.to_owned()],
    };
    cases.foreign_keys = vec![key("client_id", "clients", "id")];
    let mut payments = table("tbl_payments", &[("id", Integer), ("case_id", Uuid), ("paid", Decimal)]);
    payments.foreign_keys = vec![key("case_id", "cases", "id")];
    let offices = table("offices", &[("id", Integer), ("city", String), ("head", String)]);
    let audit_log = table("audit_log", &[("id", Integer), ("entry", Text)]);
    SourceSchema {
        source: "crm".to_owned(),
        dialect,
        tables: vec![clients, cases, payments, offices, audit_log],
        data_version: "v1".to_owned(),
    }
}
