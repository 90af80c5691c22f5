//! `da catalog`.

use super::Context;
use crate::cache::{self, Cache, Kept};
use crate::cli::Catalog;
use crate::print;
use crate::problem::{Problem, Result};
use crate::show::{self, Format};
use serde_json::Value;

pub fn run(context: &Context, args: &Catalog) -> Result<()> {
    if args.refresh {
        cache::clear(&context.place);
    }
    let client = context.client()?;
    let text = Cache::new(&context.place, &client).get(Kept::Catalog, args.refresh)?;
    match context.format(args.shown.format) {
        // Word for word what the server said.
        Format::Json => print::line(text),
        format => show::list(&["id", "mode", "flavor", "size", "rows", "description"], rows(&parsed(&text)?), format),
    }
}

pub fn parsed(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| Problem::unexpected("the server's reply is not JSON", error))
}

fn rows(catalog: &Value) -> Vec<Vec<Option<String>>> {
    let tables = catalog.get("tables").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    tables
        .iter()
        .map(|table| {
            let text = |name: &str| table.get(name).and_then(Value::as_str).map(str::to_owned);
            let seen = table.pointer("/policy/rows").and_then(Value::as_str).map(str::to_owned);
            let size = text("rough_size_hint").or_else(|| Some("?".to_owned()));
            vec![text("id"), text("query_mode"), text("sql_flavor"), size, seen, text("description")]
        })
        .collect()
}
