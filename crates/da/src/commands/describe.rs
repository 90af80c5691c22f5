//! `da describe`: the schema and a few rows in one go.

use super::Context;
use super::catalog::parsed;
use super::schema::columns;
use crate::cache::{Cache, Kept};
use crate::cli::Describe;
use crate::place::check_name;
use crate::print;
use crate::problem::Result;
use crate::show::{self, Format};
use serde_json::Value;

pub fn run(context: &Context, args: &Describe) -> Result<()> {
    check_name(&args.table, "table")?;
    let client = context.client()?;
    let cache = Cache::new(&context.place, &client);
    let schema = cache.get(Kept::Schema(&args.table), args.refresh)?;
    let sample = cache.get(Kept::Sample(&args.table, args.rows), args.refresh)?;
    match context.format(args.shown.format) {
        // Both replies, word for word.
        Format::Json => print::line(format!("{{\"schema\":{schema},\"sample\":{sample}}}")),
        format => {
            let (schema, sample) = (parsed(&schema)?, parsed(&sample)?);
            columns(&schema, format)?;
            print::line("")?;
            rows(&schema, &sample, format)
        }
    }
}

fn rows(schema: &Value, sample: &Value, format: Format) -> Result<()> {
    let columns = schema.get("columns").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = columns.iter().filter_map(|column| column.get("name")?.as_str()).collect();
    let rows = sample.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let cell = |row: &Value, name: &str| match row.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let rows = rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect()).collect();
    show::list(&names, rows, format)
}
