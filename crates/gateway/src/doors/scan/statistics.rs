//! What the columns hold, over the rows that one caller may see: smallest and largest value, NULLs, distinct values.
//!
//! They are asked of the engine by a plan that walks the path like any other, so that no row counts that policy hides.

use super::fetch::{self, Refusal};
use super::registry::Entry;
use crate::House;
use crate::streamed::Wanted;
use domain::plan::{Aggregate, AggregateFn, Expr, SelectItem};
use domain::{Caller, Column, Fault, FieldType, Proposal, Purpose, QueryPlan};
use engines::Form;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Columns that are looked at; the others of a wider table have no statistics.
const MOST: usize = 200;

/// For each column by name: `{min, max, nulls, distinct}`, as far as its type has them.
pub async fn of(house: &Arc<House>, caller: &Caller, entry: &Entry<'_>) -> Result<Map<String, Value>, Refusal> {
    let columns: Vec<&Column> = entry.table.columns.iter().take(MOST).collect();
    let mut plan = QueryPlan::over(entry.id());
    plan.select.push(item("rows", AggregateFn::Count, None));
    for (i, column) in columns.iter().enumerate() {
        for (name, function) in asked(column.kind) {
            plan.select.push(item(&format!("{name}_{i}"), *function, Some(&column.name)));
        }
    }
    let proposal = Proposal::Query { source: entry.dataset.id.clone(), plan: Box::new(plan) };
    let streamed = fetch::stream(house, caller, proposal, Purpose::Describe, Wanted::all(Form::Json)).await?;
    let (json, _) = streamed.whole().await?;
    let rows: Vec<Map<String, Value>> =
        serde_json::from_slice(&json).map_err(|_| Fault::internal("scan.statistics"))?;
    let row = rows.into_iter().next().unwrap_or_default();
    Ok(columns.iter().enumerate().map(|(i, column)| (column.name.clone(), told(&row, i, column.kind))).collect())
}

fn item(alias: &str, function: AggregateFn, of: Option<&str>) -> SelectItem {
    let of = of.map(|name| Box::new(Expr::field(name)));
    SelectItem { expr: Expr::Aggregate(Aggregate { function, of }), alias: Some(alias.to_owned()) }
}

/// What can be asked of a type.
fn asked(kind: FieldType) -> &'static [(&'static str, AggregateFn)] {
    const COUNT: (&str, AggregateFn) = ("count", AggregateFn::Count);
    const DISTINCT: (&str, AggregateFn) = ("distinct", AggregateFn::CountDistinct);
    match kind {
        FieldType::Boolean | FieldType::Uuid => &[COUNT, DISTINCT],
        FieldType::Json | FieldType::Bytes | FieldType::List | FieldType::Struct | FieldType::Other => &[COUNT],
        _ => &[COUNT, DISTINCT, ("min", AggregateFn::Min), ("max", AggregateFn::Max)],
    }
}

fn told(row: &Map<String, Value>, i: usize, kind: FieldType) -> Value {
    let get = |name: &str| row.get(&format!("{name}_{i}"));
    let number = |name: &str| get(name).and_then(Value::as_u64);
    let rows = row.get("rows").and_then(Value::as_u64);
    let nulls = rows.zip(number("count")).map(|(rows, count)| rows.saturating_sub(count));
    let mut told = Map::from_iter([("nulls".to_owned(), Value::from(nulls))]);
    for (name, _) in asked(kind).iter().filter(|(name, _)| *name != "count") {
        told.insert((*name).to_owned(), get(name).cloned().unwrap_or_default());
    }
    Value::Object(told)
}
