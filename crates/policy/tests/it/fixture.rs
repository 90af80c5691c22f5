//! One source with contracts, and people who may see different parts of it.

use domain::{Caller, Column, Dialect, Fault, FieldType, ForeignKey, Limits, Proposal, QueryPlan, SourceSchema, Table};
use policy::{Approved, Policy};
use std::path::{Path, PathBuf};

pub fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(relative)
}

pub fn text(relative: &str) -> String {
    std::fs::read_to_string(path(relative)).unwrap()
}

/// The lines of a case file, without comments and blank lines.
pub fn cases(relative: &str) -> Vec<String> {
    text(relative).lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(str::to_owned).collect()
}

pub fn policy() -> Policy {
    let files = std::fs::read_dir(path("fixture")).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
    });
    Policy::load(files).unwrap()
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

pub fn analyst() -> Caller {
    Caller::new("ann@example.com", "analyst")
}

pub fn agent() -> Caller {
    Caller::new("bob@example.com", "agent")
}

pub fn admin() -> Caller {
    Caller::new("root@example.com", "admin")
}

pub fn sql_as(caller: &Caller, dialect: Dialect, text: &str) -> Result<Approved, Fault> {
    let proposal = Proposal::Sql { source: "crm".to_owned(), text: text.to_owned() };
    policy().check(caller, &source(dialect), &proposal, &Limits::default())
}

pub fn plan_as(caller: &Caller, dialect: Dialect, json: &str) -> Result<Approved, Fault> {
    let plan: QueryPlan = policy::parse_plan(json)?;
    let proposal = Proposal::Query { source: "crm".to_owned(), plan: Box::new(plan) };
    policy().check(caller, &source(dialect), &proposal, &Limits::default())
}
