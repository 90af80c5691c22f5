//! `da query`: here, on the server, or both.

use super::transfer::{self, transfer};
use super::{Context, output};
use crate::cli::Query;
use crate::client::{Client, Stream};
use crate::local::Local;
use crate::place::{Shelf, check_name};
use crate::print;
use crate::problem::{Problem, Result};
use crate::show::{self, Look};
use crate::snapshots::{Part, literal, quoted};
use crate::units;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::io::Read;

pub fn run(context: &Context, args: &Query) -> Result<()> {
    let sql = statement(args)?;
    let register = args.register.iter().map(|text| registered(text)).collect::<Result<Vec<_>>>()?;
    match (args.remote, register.is_empty()) {
        (true, true) => {
            let client = context.client()?;
            let stream = client.query(&sql, args.limit)?;
            remote(context, args, &client, stream)
        }
        (true, false) => {
            let client = context.client()?;
            let stream = client.hybrid(&register, &sql, args.limit)?;
            remote(context, args, &client, stream)
        }
        (false, _) => local(context, args, &sql, &register),
    }
}

fn statement(args: &Query) -> Result<String> {
    let mut sql = args.sql.clone().unwrap_or_default();
    if args.stdin {
        let read = std::io::stdin().read_to_string(&mut sql);
        read.map_err(|error| Problem::invalid("bad_input", format!("stdin is no text: {error}"), "pipe in SQL"))?;
    }
    match sql.trim().is_empty() {
        true => Err(Problem::invalid("bad_arguments", "there is no statement", "`da query \"SELECT …\"`")),
        false => Ok(sql),
    }
}

/// `NAME=QUERY`.
fn registered(text: &str) -> Result<(String, String)> {
    let wrong = || {
        let hint = "write `--register today=\"SELECT … FROM a_table\"`";
        Problem::invalid("bad_arguments", format!("`{text}` is not NAME=QUERY"), hint)
    };
    let (name, sql) = text.split_once('=').ok_or_else(wrong)?;
    check_name(name.trim(), "table").map_err(|_| wrong())?;
    Ok((name.trim().to_owned(), sql.trim().to_owned()))
}

fn local(context: &Context, args: &Query, sql: &str, register: &[(String, String)]) -> Result<()> {
    // Results of the server lie beside the snapshots as long as the query takes.
    let parts = match register.is_empty() {
        true => Vec::new(),
        false => {
            let client = context.client()?;
            register.iter().map(|(name, sql)| fetched(context, &client, name, sql)).collect::<Result<Vec<_>>>()?
        }
    };
    let local = Local::open(&context.place)?;
    for ((name, _), part) in register.iter().zip(&parts) {
        let path = literal(&part.path.to_string_lossy());
        let view = format!("CREATE TEMP VIEW {} AS SELECT * FROM read_parquet({path})", quoted(name));
        local.connection.execute_batch(&view).map_err(|error| local.problem(&error))?;
    }
    for (name, days) in local.stale(sql, context.config.snapshot_stale_warn_days.value)? {
        print::warn(format!(
            "snapshot `{name}` is {} old; consider `da snapshot refresh {name}`",
            units::plural(days, "day")
        ));
    }
    local.query(sql, |schema, batches| give(context, args, &schema, batches)).map(drop)
}

fn fetched(context: &Context, client: &Client, name: &str, sql: &str) -> Result<Part> {
    let unique = format!("{}_{name}", std::process::id());
    let part = Part::begin(&context.place, &context.place.lock()?, Shelf::Snapshots, &unique)?;
    let stream = client.query(sql, None)?;
    let done = transfer(client, stream, &part, transfer::Shown { name, rows: None, quiet: context.all.quiet })?;
    if done.arrived.truncated {
        print::warn(format!("the server cut `{name}` at {} rows", units::count(done.arrived.rows)));
    }
    Ok(part)
}

fn remote(context: &Context, args: &Query, client: &Client, stream: Stream) -> Result<()> {
    let filtered_by = stream.filtered_by();
    let mut batches = stream.batches()?;
    let (schema, ending) = (batches.schema(), batches.ending());
    let mut each = std::iter::from_fn(|| batches.next_batch().transpose());
    let rows = give(context, args, &schema, &mut each)?;
    let arrived = ending.check(client, rows)?;
    if arrived.truncated {
        print::warn(format!("the server cut the result at {} rows", units::count(rows)));
    }
    if !filtered_by.is_empty() {
        print::warn(format!("policy shows you only some rows of {}", filtered_by.join(", ")));
    }
    Ok(())
}

/// To stdout or to a file.
fn give(
    context: &Context,
    args: &Query,
    schema: &SchemaRef,
    batches: &mut dyn Iterator<Item = Result<RecordBatch>>,
) -> Result<u64> {
    let look = Look { most_rows: args.rows, types: true };
    match &args.output {
        None => show::show(schema, batches, context.format(args.shown.format), look),
        Some(path) => {
            let rows = output::write(path, schema, batches)?;
            print::note(context.all.quiet, format!("Wrote {} to {}", units::plural(rows, "row"), path.display()));
            Ok(rows)
        }
    }
}
