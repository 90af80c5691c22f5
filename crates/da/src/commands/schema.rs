//! `da schema`.

use super::Context;
use super::catalog::parsed;
use crate::cache::{Cache, Kept};
use crate::cli::Schema;
use crate::place::check_name;
use crate::print;
use crate::problem::Result;
use crate::show::{self, Format};
use serde_json::Value;

pub fn run(context: &Context, args: &Schema) -> Result<()> {
    check_name(&args.table, "table")?;
    let client = context.client()?;
    let text = Cache::new(&context.place, &client).get(Kept::Schema(&args.table), args.refresh)?;
    match context.format(args.shown.format) {
        Format::Json => print::line(text),
        format => {
            let schema = parsed(&text)?;
            columns(&schema, format)?;
            if format == Format::Table { hints(&schema) } else { Ok(()) }
        }
    }
}

/// One row a column.
pub fn columns(schema: &Value, format: Format) -> Result<()> {
    let columns = schema.get("columns").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let rows = columns.iter().map(|column| {
        let text = |name: &str| column.get(name).and_then(Value::as_str).map(str::to_owned);
        let nullable = column.get("nullable").and_then(Value::as_bool).unwrap_or(true);
        vec![text("name"), text("type"), Some(if nullable { "yes" } else { "no" }.to_owned()), Some(remarks(column))]
    });
    show::list(&["column", "type", "nullable", "remarks"], rows.collect(), format)
}

fn remarks(column: &Value) -> String {
    let description = column.get("description").and_then(Value::as_str).unwrap_or_default();
    let values = column.get("values").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    match (description.is_empty(), values.is_empty()) {
        (_, true) => description.to_owned(),
        (true, false) => values.join(", "),
        (false, false) => format!("{description}: {}", values.join(", ")),
    }
}

/// How predicates are written for this table.
fn hints(schema: &Value) -> Result<()> {
    let flavor = schema.get("sql_flavor").and_then(Value::as_str).unwrap_or_default();
    print::line(format!("\npredicates are {flavor} SQL:"))?;
    for (what, example) in schema.get("where_dialect_hints").and_then(Value::as_object).into_iter().flatten() {
        print::line(format!("  {:<18} {}", what.replace('_', " "), example.as_str().unwrap_or_default()))?;
    }
    for (key, says) in [("partition_by", "partitioned by"), ("clustered_by", "clustered by")] {
        match schema.get(key) {
            Some(Value::String(column)) => print::line(format!("{says} {column}"))?,
            Some(Value::Array(columns)) if !columns.is_empty() => {
                let names: Vec<&str> = columns.iter().filter_map(Value::as_str).collect();
                print::line(format!("{says} {}", names.join(", ")))?;
            }
            _ => {}
        }
    }
    match schema.pointer("/policy/hint").and_then(Value::as_str) {
        Some(hint) => print::line(hint),
        None => Ok(()),
    }
}
