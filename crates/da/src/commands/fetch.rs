//! `da fetch`: a slice of a table, as a snapshot (spec 004 §4.2).

use super::transfer::{Shown, transfer};
use super::{Context, estimate};
use crate::cache::{Cache, Kept};
use crate::cli::Fetch;
use crate::client::{Client, Estimate, ScanRequest};
use crate::place::{Shelf, check_name};
use crate::problem::{Problem, Result};
use crate::snapshots::{ColumnMeta, Meta, Part};
use crate::{print, units};
use jiff::Timestamp;
use serde_json::Value;

pub fn run(context: &Context, args: Fetch) -> Result<()> {
    check_name(&args.table, "table")?;
    let name = args.name.clone().unwrap_or_else(|| args.table.clone());
    check_name(&name, "snapshot")?;
    let request = request(&args)?;
    if args.estimate {
        return only_estimate(context, &context.client()?, &request);
    }
    let place = &context.place;
    place.must_be_free(&name, args.force)?;
    let client = context.client()?;
    let wanted = !args.no_estimate && context.config.fetch_default_estimate.value;
    let estimate = wanted.then(|| estimated(context, &client, &request)).transpose()?;

    let part = Part::begin(place, &place.lock()?, Shelf::Snapshots, &name)?;
    let meta = fetch(context, &client, (&request, &args), &part, estimate.as_ref())?;
    let held = place.lock()?;
    // Somebody may have been faster.
    place.must_be_free(&name, args.force)?;
    place.install(&held, part, &meta)?;
    told(context, &meta)
}

fn fetch(
    context: &Context,
    client: &Client,
    (request, args): (&ScanRequest, &Fetch),
    part: &Part,
    estimate: Option<&Estimate>,
) -> Result<Meta> {
    let columns = source_types(context, client, &request.table_id)?;
    let stream = client.scan(request)?;
    let rows = estimate.and_then(|estimate| estimate.estimated_result_rows);
    let done = transfer(client, stream, part, Shown { name: &part.name, rows, quiet: context.all.quiet })?;
    Ok(Meta {
        name: part.name.clone(),
        table_id: request.table_id.clone(),
        select: args.select.clone(),
        filter: args.filter.clone(),
        limit: args.limit,
        order_by: args.order_by.clone(),
        fetched_at: Timestamp::now(),
        effective_as_of: done.effective_as_of,
        rows: done.arrived.rows,
        bytes_local: done.bytes_local,
        estimated_scan_bytes_at_fetch: estimate.and_then(|estimate| estimate.estimated_scan_bytes),
        result_hash_md5: done.hash,
        server: client.server().to_owned(),
        columns: typed(done.columns, &columns),
        truncated: done.arrived.truncated,
        filtered_by: done.filtered_by,
        run_id: done.run_id,
    })
}

fn request(args: &Fetch) -> Result<ScanRequest> {
    let trimmed = |list: &Option<Vec<String>>| -> Option<Vec<String>> {
        Some(list.as_ref()?.iter().map(|item| item.trim().to_owned()).collect())
    };
    let request = ScanRequest {
        table_id: args.table.clone(),
        select: trimmed(&args.select),
        filter: args.filter.clone(),
        order_by: trimmed(&args.order_by),
        limit: args.limit,
    };
    let empty = [&request.select, &request.order_by].into_iter().flatten().flatten().any(String::is_empty);
    match empty {
        true => Err(Problem::invalid("bad_arguments", "a list of columns has an empty name", "write `a,b,c`")),
        false => Ok(request),
    }
}

fn only_estimate(context: &Context, client: &Client, request: &ScanRequest) -> Result<()> {
    let estimate = client.estimate(request)?;
    if context.all.json {
        return print::json(&estimate);
    }
    estimate::lines(&estimate).into_iter().try_for_each(print::line)
}

fn estimated(context: &Context, client: &Client, request: &ScanRequest) -> Result<Estimate> {
    let estimate = client.estimate(request)?;
    print::note(context.all.quiet, format!("Estimate: {}", estimate::words(&estimate)));
    Ok(estimate)
}

/// The types of a table's columns as its source names them.
pub fn source_types(context: &Context, client: &Client, table: &str) -> Result<Vec<ColumnMeta>> {
    let text = Cache::new(&context.place, client).get(Kept::Schema(table), true)?;
    let schema: Value = super::catalog::parsed(&text)?;
    let columns = schema.get("columns").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |column: &Value, name: &str| column.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(columns.iter().map(|column| ColumnMeta { name: text(column, "name"), kind: text(column, "type") }).collect())
}

/// What came, with the source's own types where it has them. (A path into a struct has none.)
pub fn typed(came: Vec<ColumnMeta>, source: &[ColumnMeta]) -> Vec<ColumnMeta> {
    let known = |column: ColumnMeta| source.iter().find(|known| known.name == column.name).cloned().unwrap_or(column);
    came.into_iter().map(known).collect()
}

fn told(context: &Context, meta: &Meta) -> Result<()> {
    warn_of(context, meta)?;
    if context.all.json {
        return print::json(meta);
    }
    let (rows, size) = (units::plural(meta.rows, "row"), units::bytes(meta.bytes_local));
    print::line(format!("Fetched {}: {rows}, {size}", meta.name))
}

/// What whoever works with a snapshot should know about it.
pub fn warn_of(context: &Context, meta: &Meta) -> Result<()> {
    if meta.truncated {
        let rows = units::count(meta.rows);
        print::warn(format!("the server cut the result at {rows} rows; `{}` is not all that matches", meta.name));
    }
    if !meta.filtered_by.is_empty() {
        print::warn(format!("policy shows you only some rows of {}", meta.filtered_by.join(", ")));
    }
    let used: u64 = context.place.snapshots()?.iter().map(|meta| meta.bytes_local).sum();
    if used > context.config.quota_bytes() {
        print::warn(format!(
            "snapshots take {}, more than `snapshot_quota_gb` allows ({} GB); `da snapshot prune --auto` makes room",
            units::bytes(used),
            context.config.snapshot_quota_gb.value
        ));
    }
    Ok(())
}
