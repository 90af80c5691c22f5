//! `GET /api/v2/schema/{table_id}`: columns, nested fields and how predicates are written, §3.2.

use super::cache::Kept;
use super::catalog::policy_hints;
use super::fetch::{self, Refusal};
use super::registry::Entry;
use super::statistics;
use crate::House;
use crate::http::identify::Identified;
use crate::http::{Path, Query};
use axum::Json;
use axum::extract::State;
use domain::{Caller, Column, Flavour, Shape};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub async fn schema(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    Query(More { statistics }): Query<More>,
) -> Result<Json<Value>, Refusal> {
    let policy = house.policy().fingerprint().to_owned();
    let entry = fetch::find(&house, &caller, "fetch_schema", &id).await?;
    let what = if statistics { "statistics" } else { "schema" };
    let kept = Kept { what, id: &id, ttl: house.config.scan.schema_ttl };
    let data = entry.schema.data_version.clone();
    let mut asked = false;
    let make = async || {
        asked = true;
        match statistics {
            true => Ok(with_statistics(described(&caller, &entry), &statistics::of(&house, &caller, &entry).await?)),
            false => Ok::<_, Refusal>(described(&caller, &entry)),
        }
    };
    let schema = house.shelf.get_or(&policy, &caller, kept, &data, make).await?;
    if statistics && !asked {
        fetch::note_kept(&house, &caller, "fetch_statistics", &id).await?;
    }
    Ok(Json(schema))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct More {
    /// Whether to look into the columns as well: it takes a read of the whole table.
    #[serde(default)]
    statistics: bool,
}

fn with_statistics(mut schema: Value, statistics: &Map<String, Value>) -> Value {
    let columns = schema.get_mut("columns").and_then(Value::as_array_mut);
    for column in columns.into_iter().flatten() {
        let found = column.get("name").and_then(Value::as_str).and_then(|name| statistics.get(name)).cloned();
        if let (Some(found), Some(object)) = (found, column.as_object_mut()) {
            object.insert("statistics".into(), found);
        }
    }
    schema
}

fn described(caller: &Caller, entry: &Entry<'_>) -> Value {
    let mut schema = json!({
        "table_id": entry.id(),
        "source_type": entry.source_type(),
        "sql_flavor": entry.flavour().as_str(),
        "columns": entry.table.columns.iter().map(column).collect::<Vec<_>>(),
        "partition_by": entry.table.partition_by,
        "clustered_by": entry.table.clustered_by,
        "primary_key": entry.table.primary_key,
        "where_dialect_hints": dialect_hints(entry.flavour()),
        "policy": policy_hints(caller, entry),
    });
    if let (true, Some(object)) = (entry.table.filtered, schema.as_object_mut()) {
        object.insert("filtered_by".into(), json!([entry.id()]));
    }
    schema
}

fn column(column: &Column) -> Value {
    let native = if column.native.is_empty() { json!(column.kind) } else { json!(column.native) };
    let mut shown = json!({ "name": column.name, "type": native, "nullable": column.nullable });
    let Some(object) = shown.as_object_mut() else { return shown };
    if !column.description.is_empty() {
        object.insert("description".into(), json!(column.description));
    }
    if !column.values.is_empty() {
        object.insert("values".into(), json!(column.values));
    }
    if let Some(fields) = fields(&Shape::of(column)) {
        object.insert("fields".into(), fields);
    }
    shown
}

/// What paths may go into; nothing for a plain value.
fn fields(shape: &Shape) -> Option<Value> {
    match shape {
        Shape::Scalar(_) => None,
        Shape::List(element) => fields(element),
        Shape::Struct(members) => Some(
            members
                .iter()
                .map(|(name, shape)| {
                    let mut field = json!({ "name": name, "type": shape.kind() });
                    if let (Some(inner), Some(object)) = (fields(shape), field.as_object_mut()) {
                        object.insert("fields".into(), inner);
                    }
                    field
                })
                .collect(),
        ),
    }
}

fn dialect_hints(flavour: Flavour) -> Value {
    match flavour {
        Flavour::BigQuery => json!({
            "date_literal": "DATE '2026-01-01'",
            "timestamp_literal": "TIMESTAMP '2026-01-01 00:00:00 UTC'",
            "interval_subtract": "DATE_SUB(CURRENT_DATE(), INTERVAL 30 DAY)",
            "regex": "REGEXP_CONTAINS(field, r'pattern')",
            "cast": "CAST(x AS INT64)",
        }),
        Flavour::DuckDb => json!({
            "date_literal": "DATE '2026-01-01'",
            "timestamp_literal": "TIMESTAMP '2026-01-01 00:00:00'",
            "interval_subtract": "CURRENT_DATE - INTERVAL 30 DAY",
            "regex": "regexp_matches(field, 'pattern')",
            "cast": "CAST(x AS BIGINT)",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Proposal, Scan, SourceSchema, Table};

    /// A hint that the validator refuses would send people in circles.
    #[test]
    fn hints_are_accepted_as_they_stand() {
        let mut columns =
            vec![Column::new("field", domain::FieldType::String), Column::new("x", domain::FieldType::String)];
        columns.push(Column::new("day", domain::FieldType::Date));
        columns.push(Column::new("at", domain::FieldType::Timestamp));
        let table = Table { name: "t".into(), columns, ..Table::default() };
        let source = SourceSchema {
            source: "s".into(),
            dialect: domain::Dialect::DuckDb,
            tables: vec![table],
            data_version: String::new(),
        };
        let policy = policy::Policy::load([]).unwrap();
        for flavour in Flavour::ALL {
            let hints = dialect_hints(flavour);
            let text = |name: &str| hints[name].as_str().unwrap().to_owned();
            let predicates = [
                format!("day >= {}", text("date_literal")),
                format!("at >= {}", text("timestamp_literal")),
                format!("day >= {}", text("interval_subtract")),
                text("regex"),
                format!("{} > 5", text("cast")),
            ];
            for filter in predicates {
                let scan = Scan { table: "t".into(), filter: Some(filter.clone()), flavour, ..Scan::default() };
                let proposal = Proposal::Scan { source: "s".into(), scan: Box::new(scan) };
                let checked = policy.check(&Caller::new("a", "admin"), &source, &proposal, &domain::Limits::default());
                assert!(checked.is_ok(), "{filter}: {checked:?}");
            }
        }
    }
}
