//! `da ask --local`: the offline planner over what is here. No server, no model.

use super::Context;
use super::ask::{clarify, explained};
use crate::cli::Ask;
use crate::local::Local;
use crate::place::Shelf;
use crate::problem::{Exit, Problem, Result};
use crate::show::{self, Look};
use crate::snapshots::quoted;
use domain::{Caller, Column, Dialect, Fault, FieldType, Limits, Proposal, Shape, SourceSchema, Table};
use planner::offline::{self, ColumnValues, Index, Planned, What};
use policy::Policy;

/// Distinct values of a column that are worth knowing.
const MOST_VALUES: usize = 2_000;
/// It is the user's own data on the user's own machine.
const NO_LIMIT: Limits = Limits { rows: 1_000_000_000, bytes: u64::MAX, seconds: 3_600 };

pub fn run(context: &Context, args: &Ask) -> Result<()> {
    let local = Local::open(&context.place)?;
    let schema = schema(context, &local)?;
    if schema.tables.is_empty() {
        let hint = "`da fetch` a slice or `da sync` first, or ask the server without --local";
        return Err(Problem::invalid("nothing_here", "there is nothing here to ask", hint));
    }
    let index = Index::new(&schema, &values(&local, &schema)?);
    let now = offline::Context { history: &[], today: jiff::Zoned::now().date() };
    let sql = match offline::plan(&index, &args.question, &now) {
        Planned::Plan { plan, reading, .. } => {
            let text = serde_json::to_string(&plan).unwrap_or_default();
            let sql = compiled(&schema, Proposal::Query { source: schema.source.clone(), plan })?;
            explained(&reading, Some(&text), &sql);
            sql
        }
        Planned::Sql { text } => text,
        Planned::Clarify(back) => {
            let choices: Vec<&str> = back.choices.iter().map(String::as_str).collect();
            return Err(clarify(&back.question, &choices));
        }
        Planned::Refuse(fault) => return Err(told(fault)),
    };
    let look = Look { most_rows: args.rows, types: true };
    let format = context.format(args.shown.format);
    local.query(&sql, |schema, batches| show::show(&schema, batches, format, look)).map(drop)
}

/// What is here, as the planner wants to know it.
fn schema(context: &Context, local: &Local<'_>) -> Result<SourceSchema> {
    let mut tables = Vec::new();
    for shelf in Shelf::ALL {
        for name in context.place.names(shelf)? {
            let described = local.texts(&format!("DESCRIBE {}", quoted(&name)))?;
            let columns = described.into_iter().filter_map(|row| {
                let mut cells = row.into_iter().flatten();
                let (name, native) = (cells.next()?, cells.next()?);
                let kind = Shape::parse(&native).map_or(FieldType::Other, |shape| shape.kind());
                Some(Column { native, ..Column::new(name, kind) })
            });
            tables.push(Table { name: name.clone(), columns: columns.collect(), ..Table::default() });
        }
    }
    Ok(SourceSchema { source: "local".into(), dialect: Dialect::DuckDb, tables, data_version: String::new() })
}

fn values(local: &Local<'_>, schema: &SourceSchema) -> Result<Vec<ColumnValues>> {
    offline::wanted_values(schema).into_iter().map(|wanted| column(local, wanted)).collect()
}

fn column(local: &Local<'_>, (table, column, what): (String, String, What)) -> Result<ColumnValues> {
    let (from, of) = (quoted(&table), quoted(&column));
    let mut found = ColumnValues { table, column, ..ColumnValues::default() };
    match what {
        What::Distinct => {
            let sql = format!(
                "SELECT DISTINCT {of}::VARCHAR FROM {from} WHERE {of} IS NOT NULL ORDER BY 1 LIMIT {MOST_VALUES}"
            );
            found.values = local.texts(&sql)?.into_iter().flatten().flatten().collect();
            found.complete = found.values.len() < MOST_VALUES;
        }
        What::Range => {
            let row = local.texts(&format!("SELECT min({of})::VARCHAR, max({of})::VARCHAR FROM {from}"))?.pop();
            let mut ends = row.unwrap_or_default().into_iter();
            (found.min, found.max) = (ends.next().flatten(), ends.next().flatten());
        }
    }
    Ok(found)
}

/// By the same compiler that the server uses.
fn compiled(schema: &SourceSchema, proposal: Proposal) -> Result<String> {
    let policy = Policy::load([]).map_err(|_| Problem::unexpected("no policy", "it should be empty"))?;
    let approved = policy.check(&Caller::new("local", "admin"), schema, &proposal, &NO_LIMIT).map_err(told)?;
    Ok(approved.sql_with_values())
}

fn told(fault: Fault) -> Problem {
    Problem::new(Exit::Invalid, fault.code, fault.message, fault.hint)
}
