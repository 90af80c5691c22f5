//! The three tools that spec 000's analyst has on its database, here on one dataset of any kind.

use super::{Bound, Called, Tool, parse, unknown};
use domain::{Fault, ForeignKey, Kind, Proposal, SourceSchema, Table};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfTable {
    table: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    /// One SELECT.
    sql: String,
}

/// The tools over one dataset.
pub fn sqlite() -> Vec<Tool> {
    vec![
        Tool::new("list_tables", "Lists the tables.", schema_for!(Nothing)),
        Tool::new("describe_table", "Columns, types and keys of a table.", schema_for!(OfTable)),
        Tool::new("read_query", "Runs one read-only SQL query.", schema_for!(Query)),
    ]
}

/// Calls a tool of [`sqlite`] on this dataset.
pub async fn call_sqlite(bound: &Bound<'_>, dataset: &str, name: &str, arguments: Value) -> Result<Called, Fault> {
    match name {
        "list_tables" => {
            let Nothing {} = parse(arguments)?;
            let tables = view(bound, dataset).await?.tables;
            let shown = |table: &Table| json!({ "name": table.name, "description": table.description });
            Called::value(&tables.iter().map(shown).collect::<Vec<_>>())
        }
        "describe_table" => {
            let OfTable { table } = parse(arguments)?;
            let view = view(bound, dataset).await?;
            let table = view.table(&table).ok_or_else(|| no_table(&table, &view))?;
            Called::value(&described(table))
        }
        "read_query" => {
            let Query { sql } = parse(arguments)?;
            bound.run(Proposal::Sql { source: dataset.to_owned(), text: sql }).await.map(Called::Ran)
        }
        _ => Err(unknown(name, &sqlite())),
    }
}

async fn view(bound: &Bound<'_>, dataset: &str) -> Result<SourceSchema, Fault> {
    match bound.house.dataset(bound.caller, dataset).await {
        Ok((_, view)) => Ok(bound.shown(view)),
        Err(fault) => Err(bound.refuse(fault).await),
    }
}

fn described(table: &Table) -> Value {
    let column = |column: &domain::Column| {
        let native = if column.native.is_empty() { format!("{:?}", column.kind) } else { column.native.clone() };
        let mut shown = json!({ "name": column.name, "type": native.to_lowercase(), "nullable": column.nullable });
        if let (false, Some(shown)) = (column.description.is_empty(), shown.as_object_mut()) {
            shown.insert("description".into(), json!(column.description));
        }
        shown
    };
    let key = |ForeignKey { columns, target, target_columns }: &ForeignKey| json!({ "columns": columns, "references": target, "their": target_columns });
    json!({
        "name": table.name,
        "description": table.description,
        "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        "primary_key": table.primary_key,
        "foreign_keys": table.foreign_keys.iter().map(key).collect::<Vec<_>>(),
    })
}

fn no_table(name: &str, view: &SourceSchema) -> Fault {
    let shown: String = name.chars().take(64).collect();
    let names: Vec<&str> = view.tables.iter().map(|table| table.name.as_str()).collect();
    Fault::new(Kind::NotFound, "table.unknown", format!("there is no table `{shown}`"))
        .hint(format!("there are: {}", names.join(", ")))
}
