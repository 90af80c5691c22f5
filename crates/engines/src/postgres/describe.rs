//! What a database holds, asked of its catalog.

use super::session::Session;
use crate::protocol::{Cause, Failed};
use domain::{Column, Dialect, FieldType, ForeignKey, SourceSchema, Table};
use serde::Deserialize;
use std::collections::HashSet;

const CATALOG: &str = include_str!("describe.sql");
/// The schema whose tables are called by their plain names.
const USUAL: &str = "public";

#[derive(Deserialize)]
struct Found {
    schema: String,
    name: String,
    description: String,
    columns: Vec<FoundColumn>,
    primary_key: Vec<String>,
    foreign_keys: Vec<FoundKey>,
}

#[derive(Deserialize)]
struct FoundColumn {
    name: String,
    native: String,
    nullable: bool,
    description: String,
    values: Vec<String>,
}

#[derive(Deserialize)]
struct FoundKey {
    columns: Vec<String>,
    schema: String,
    table: String,
    references: Vec<String>,
}

/// All tables of these schemas, whoever may read them: policy says who sees what, the database who reads what.
///
/// How many rows a table has is not told: the catalog counts those that row-level security hides.
pub async fn describe(
    session: &Session,
    schemas: &[String],
) -> Result<Result<SourceSchema, Failed>, tokio_postgres::Error> {
    let row = session.client().query_one(CATALOG, &[&schemas]).await?;
    let json: String = row.try_get(0)?;
    let found: Result<Vec<Found>, _> = serde_json::from_str(&json);
    Ok(found.map(schema).map_err(|e| Failed::new(Cause::Protocol, e.to_string())))
}

fn schema(found: Vec<Found>) -> SourceSchema {
    let nameable = found.into_iter().filter(|table| !table.name.contains('.') && !table.schema.contains('.'));
    // Names are compared without case here: of two that differ in nothing else, the second cannot be named.
    let mut known = HashSet::new();
    let tables = nameable.map(table).filter(|table| known.insert(table.name.to_lowercase())).collect();
    SourceSchema { source: String::new(), dialect: Dialect::Postgres, tables, data_version: String::new() }
}

fn table(found: Found) -> Table {
    Table {
        name: called(&found.schema, &found.name),
        description: found.description,
        columns: found.columns.into_iter().map(column).collect(),
        primary_key: found.primary_key,
        foreign_keys: found.foreign_keys.into_iter().map(key).collect(),
        ..Table::default()
    }
}

fn column(found: FoundColumn) -> Column {
    let kind = kind(&found.native, !found.values.is_empty());
    let mut column = Column::new(found.name, kind);
    column.native = found.native;
    column.nullable = found.nullable;
    column.description = found.description;
    column.values = found.values;
    column
}

fn key(found: FoundKey) -> ForeignKey {
    let FoundKey { columns, schema, table, references } = found;
    ForeignKey { columns, target: called(&schema, &table), target_columns: references }
}

fn called(schema: &str, table: &str) -> String {
    if schema == USUAL { table.to_owned() } else { format!("{schema}.{table}") }
}

/// The word of the house for a type. One that is not known here is read as its text.
fn kind(native: &str, is_enum: bool) -> FieldType {
    if native.ends_with("[]") {
        return FieldType::List;
    }
    let word = native.split(['(', ' ']).next().unwrap_or_default();
    match word {
        "SMALLINT" | "INTEGER" | "BIGINT" => FieldType::Integer,
        "REAL" | "DOUBLE" => FieldType::Number,
        "NUMERIC" => FieldType::Decimal,
        "BOOLEAN" => FieldType::Boolean,
        "CHARACTER" | "NAME" => FieldType::String,
        "TEXT" => FieldType::Text,
        "UUID" => FieldType::Uuid,
        "DATE" => FieldType::Date,
        "TIME" if !native.ends_with("WITH TIME ZONE") => FieldType::Time,
        "TIMESTAMP" => FieldType::Timestamp,
        "JSON" | "JSONB" => FieldType::Json,
        "BYTEA" => FieldType::Bytes,
        _ if is_enum => FieldType::String,
        _ => FieldType::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_words() {
        let cases = [
            ("NUMERIC(10,2)", FieldType::Decimal),
            ("CHARACTER VARYING(40)", FieldType::String),
            ("TIMESTAMP(3) WITH TIME ZONE", FieldType::Timestamp),
            ("TIME WITHOUT TIME ZONE", FieldType::Time),
            ("TIME WITH TIME ZONE", FieldType::Other),
            ("DOUBLE PRECISION", FieldType::Number),
            ("INTEGER[]", FieldType::List),
            ("INET", FieldType::Other),
        ];
        for (native, expected) in cases {
            assert_eq!(kind(native, false), expected, "{native}");
        }
        assert_eq!(kind("MOOD", true), FieldType::String);
    }
}
