//! `da snapshot refresh`: the same fetch again, and what became of it (spec 004 §4.2, §10.6).

use super::Context;
use super::fetch::{source_types, typed, warn_of};
use super::transfer::{Shown, transfer};
use crate::place::{Shelf, check_name};
use crate::problem::{Problem, Result};
use crate::snapshots::{ColumnMeta, Meta, Part};
use crate::{print, units};
use jiff::Timestamp;
use serde_json::json;

pub fn run(context: &Context, name: &str, filter: Option<String>) -> Result<()> {
    check_name(name, "snapshot")?;
    let place = &context.place;
    let old = place.snapshot(name)?;
    let client = context.client()?;
    if client.server() != old.server {
        let message = format!("snapshot `{name}` was fetched from `{}`", old.server);
        return Err(Problem::invalid("other_server", message, format!("add `--server {}`", old.server)));
    }
    let mut request = old.request();
    request.filter = filter.clone().or(request.filter);

    let source = source_types(context, &client, &old.table_id)?;
    let selected = request.select.as_deref().unwrap_or_default();
    must_still_exist(&old.table_id, selected, &source)?;

    let part = Part::begin(place, &place.lock()?, Shelf::Snapshots, name)?;
    let stream = client.scan(&request)?;
    let shown = Shown { name, rows: Some(old.rows), quiet: context.all.quiet };
    let done = transfer(&client, stream, &part, shown)?;
    let identical = done.hash == old.result_hash_md5;
    let mut new = Meta {
        filter: request.filter,
        fetched_at: Timestamp::now(),
        effective_as_of: done.effective_as_of,
        rows: done.arrived.rows,
        bytes_local: if identical { old.bytes_local } else { done.bytes_local },
        result_hash_md5: done.hash,
        columns: typed(done.columns, &source),
        truncated: done.arrived.truncated,
        filtered_by: done.filtered_by,
        run_id: done.run_id,
        ..old.clone()
    };
    let held = place.lock()?;
    if place.snapshot(name)?.fetched_at != old.fetched_at {
        let message = format!("another command has changed `{name}` meanwhile");
        return Err(Problem::new(crate::problem::Exit::Exists, "snapshot_busy", message, "look at it, and try again"));
    }
    if identical {
        // The file stays as it is; what is known of it is newer.
        new.columns.clone_from(&old.columns);
        drop(part);
        place.rewrite(&held, &new)?;
    } else {
        place.install(&held, part, &new)?;
    }
    drop(held);
    retyped(&old.columns, &new.columns);
    warn_of(context, &new)?;
    told(context, &old, &new, identical)
}

/// A column that is gone fails here: the snapshot stays as it is.
fn must_still_exist(table: &str, selected: &[String], source: &[ColumnMeta]) -> Result<()> {
    let top = |path: &String| path.split('.').next().unwrap_or_default().to_owned();
    match selected.iter().map(top).find(|name| !source.iter().any(|column| column.name == *name)) {
        None => Ok(()),
        Some(gone) => Err(Problem::invalid(
            "schema_drift",
            format!("column `{gone}` no longer exists in {table}"),
            "drop the snapshot, and fetch again with another --select; it is unchanged until then",
        )),
    }
}

fn retyped(old: &[ColumnMeta], new: &[ColumnMeta]) {
    for column in new {
        let before = old.iter().find(|before| before.name == column.name && before.kind != column.kind);
        if let Some(before) = before {
            print::warn(format!(
                "column `{}` type changed {} → {}; downstream queries may break",
                column.name, before.kind, column.kind
            ));
        }
    }
}

fn told(context: &Context, old: &Meta, new: &Meta, identical: bool) -> Result<()> {
    if context.all.json {
        return print::json(&json!({ "identical": identical, "before": old, "after": new }));
    }
    let (name, difference) = (&new.name, i128::from(new.rows) - i128::from(old.rows));
    let sign = if difference < 0 { "-" } else { "+" };
    let difference = units::count(u64::try_from(difference.unsigned_abs()).unwrap_or(u64::MAX));
    print::line(format!("Refreshed {name}"))?;
    print::line(format!("  rows: {} → {} ({sign}{difference})", units::count(old.rows), units::count(new.rows)))?;
    print::line(format!("  bytes_local: {} → {}", units::bytes(old.bytes_local), units::bytes(new.bytes_local)))?;
    let (before, after) = (units::moment(old.effective_as_of), units::moment(new.effective_as_of));
    print::line(format!("  effective_as_of: {before} → {after}"))?;
    print::line(format!("  identical: {}", if identical { "yes" } else { "no" }))
}
