//! Rows as objects, in the types that the contract says: SQLite has no truth values and keeps JSON as text.

use crate::path::Reply;
use crate::{House, rows};
use domain::{Fault, FieldType};
use policy::Contract;
use serde_json::{Map, Value};

pub fn rows(house: &House, reply: &Reply, resource: Option<&str>) -> Result<Vec<Map<String, Value>>, Fault> {
    let Some(result) = &reply.rows else { return Ok(Vec::new()) };
    let policy = house.policy();
    let main = resource.and_then(|name| policy.contract(&name.to_ascii_lowercase()));
    let kinds: Vec<Option<FieldType>> = result
        .columns
        .iter()
        .map(|column| match column.name.split_once('.') {
            Some((target, field)) => kind(policy.contract(target), field),
            None => kind(main, &column.name),
        })
        .collect();
    let cells = rows::head(result, usize::MAX)?;
    Ok(cells
        .into_iter()
        .map(|row| {
            let named = result.columns.iter().zip(&kinds).zip(row);
            named.map(|((column, kind), cell)| (column.name.clone(), typed(*kind, cell))).collect()
        })
        .collect())
}

fn kind(contract: Option<&Contract>, field: &str) -> Option<FieldType> {
    contract?.field(field).map(|field| field.kind)
}

fn typed(kind: Option<FieldType>, cell: Value) -> Value {
    match (kind, &cell) {
        (Some(FieldType::Boolean), Value::Number(number)) => match number.as_i64() {
            Some(0) => Value::Bool(false),
            Some(1) => Value::Bool(true),
            _ => cell,
        },
        (Some(FieldType::Json), Value::String(text)) => serde_json::from_str(text).unwrap_or(cell),
        _ => cell,
    }
}
