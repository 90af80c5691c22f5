//! One table with a column of every kind, for scans.

use domain::{Caller, Column, Dialect, Fault, FieldType, Flavour, Limits, Proposal, Scan, SourceSchema, Table};
use policy::{Approved, Policy};

/// Columns with their types as DuckDB calls them, and whether SQLite has them.
#[rustfmt::skip]
pub const COLUMNS: [(&str, FieldType, &str, bool); 18] = [
    ("id", FieldType::Integer, "BIGINT", true),
    ("event_date", FieldType::Date, "DATE", true),
    ("created_at", FieldType::Timestamp, "TIMESTAMP", true),
    ("at_time", FieldType::Time, "TIME", true),
    ("country_code", FieldType::String, "VARCHAR", true),
    ("platform", FieldType::String, "VARCHAR", true),
    ("session_id", FieldType::String, "VARCHAR", true),
    ("owner", FieldType::String, "VARCHAR", true),
    ("amount", FieldType::Decimal, "DECIMAL(12,2)", true),
    ("score", FieldType::Number, "DOUBLE", true),
    ("clicks", FieldType::Integer, "INTEGER", true),
    ("is_bot", FieldType::Boolean, "BOOLEAN", true),
    ("raw", FieldType::Bytes, "BLOB", true),
    ("device", FieldType::Struct, "STRUCT(os VARCHAR, version INTEGER, screen STRUCT(w INTEGER, h INTEGER))", false),
    ("tags", FieldType::List, "VARCHAR[]", false),
    ("items", FieldType::List, "STRUCT(sku VARCHAR, price DOUBLE, seen TIMESTAMP)[]", false),
    ("secret", FieldType::String, "VARCHAR", true),
    ("not_in_contract", FieldType::String, "VARCHAR", true),
];

pub fn policy() -> Policy {
    let file = ("events.yaml".to_owned(), include_str!("../scan/events.yaml").to_owned());
    Policy::load([file]).unwrap()
}

pub fn source(dialect: Dialect) -> SourceSchema {
    let kept = COLUMNS
        .iter()
        .filter(|(.., everywhere)| *everywhere || matches!(dialect.written(), Dialect::DuckDb | Dialect::BigQuery));
    let column = |(name, kind, native, _): &(&str, FieldType, &str, bool)| Column {
        native: if dialect == Dialect::Postgres { in_postgres(native) } else { (*native).to_owned() },
        ..Column::new(*name, *kind)
    };
    let events = Table { name: "events".to_owned(), columns: kept.map(column).collect(), ..Table::default() };
    SourceSchema { source: "web".to_owned(), dialect, tables: vec![events], data_version: "v1".to_owned() }
}

/// A type by the name that Postgres has for it.
pub fn in_postgres(native: &str) -> String {
    match native {
        "VARCHAR" => "CHARACTER VARYING".to_owned(),
        "DOUBLE" => "DOUBLE PRECISION".to_owned(),
        "BLOB" => "BYTEA".to_owned(),
        "TIMESTAMP" | "TIME" => format!("{native} WITHOUT TIME ZONE"),
        other => other.replace("DECIMAL", "NUMERIC"),
    }
}

pub fn filtered(flavour: Flavour, predicate: &str) -> Scan {
    Scan { table: "events".to_owned(), filter: Some(predicate.to_owned()), flavour, ..Scan::default() }
}

pub fn check(policy: &Policy, caller: &Caller, dialect: Dialect, scan: Scan) -> Result<Approved, Fault> {
    let proposal = Proposal::Scan { source: "web".to_owned(), scan: Box::new(scan) };
    policy.check(caller, &source(dialect), &proposal, &Limits::default())
}
