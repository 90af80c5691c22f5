//! `da query`: here, on the server, or both.

use super::Context;
use super::output::Output;
use super::transfer::{self, transfer};
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
    // Before anything is asked: a file that cannot be written should not cost a query.
    let to = Target { context, args, file: args.output.as_deref().map(Output::begin).transpose()? };
    match (args.remote, register.is_empty()) {
        (true, true) => {
            let client = context.client()?;
            let stream = client.query(&sql, args.limit)?;
            remote(to, &client, stream)
        }
        (true, false) => {
            let client = context.client()?;
            let stream = client.hybrid(&register, &sql, args.limit)?;
            remote(to, &client, stream)
        }
        (false, _) => local(to, &sql, &register),
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

fn local(to: Target<'_>, sql: &str, register: &[(String, String)]) -> Result<()> {
    let context = to.context;
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
    let rows = local.query(sql, |schema, batches| to.give(&schema, batches))?;
    local.leave();
    to.finish(rows)
}

/// Of several results it matters which one failed.
fn fetched(context: &Context, client: &Client, name: &str, sql: &str) -> Result<Part> {
    fetch(context, client, name, sql)
        .map_err(|problem| Problem { message: format!("in `{name}`: {}", problem.message), ..problem })
}

fn fetch(context: &Context, client: &Client, name: &str, sql: &str) -> Result<Part> {
    let unique = format!("{}_{name}", std::process::id());
    let part = Part::begin(&context.place, &context.place.lock()?, Shelf::Snapshots, &unique)?;
    let stream = client.query(sql, None)?;
    let done = transfer(client, stream, &part, transfer::Shown { name, rows: None, quiet: context.all.quiet })?;
    if done.arrived.truncated {
        print::warn(format!("the server cut `{name}` at {} rows", units::count(done.arrived.rows)));
    }
    only_some(&done.filtered_by);
    Ok(part)
}

fn remote(to: Target<'_>, client: &Client, stream: Stream) -> Result<()> {
    let filtered_by = stream.filtered_by();
    let mut batches = stream.batches()?;
    let (schema, ending) = (batches.schema(), batches.ending());
    let mut each = std::iter::from_fn(|| batches.next_batch().transpose());
    let rows = to.give(&schema, &mut each)?;
    let arrived = ending.check(client, rows)?;
    to.finish(rows)?;
    if arrived.truncated {
        print::warn(format!("the server cut the result at {} rows", units::count(arrived.rows)));
    }
    only_some(&filtered_by);
    Ok(())
}

fn only_some(filtered_by: &[String]) {
    if !filtered_by.is_empty() {
        print::warn(format!("policy shows you only some rows of {}", filtered_by.join(", ")));
    }
}

/// Where a result goes: to stdout, or to a file.
struct Target<'a> {
    context: &'a Context,
    args: &'a Query,
    file: Option<Output<'a>>,
}

impl Target<'_> {
    /// Shows a result, or writes it beside the file that it is meant for; the number of its rows.
    fn give(&self, schema: &SchemaRef, batches: &mut dyn Iterator<Item = Result<RecordBatch>>) -> Result<u64> {
        let look = Look { most_rows: self.args.rows, types: true };
        match &self.file {
            Some(file) => file.write(schema, batches),
            None => show::show(schema, batches, self.context.format(self.args.shown.format), look),
        }
    }

    /// Nothing can be wrong with the result any more: the file takes its place.
    fn finish(self, rows: u64) -> Result<()> {
        let Some(file) = self.file else { return Ok(()) };
        let says = format!("Wrote {} to {}", units::plural(rows, "row"), file.path().display());
        file.install()?;
        print::note(self.context.all.quiet, says);
        Ok(())
    }
}
