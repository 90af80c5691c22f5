//! `da snapshot list`, `drop` and `prune`.

use super::Context;
use crate::cli::{Shown, Snapshot};
use crate::place::{Shelf, check_name};
use crate::problem::Result;
use crate::show::{self, Format};
use crate::snapshots::Meta;
use crate::{print, units};
use jiff::Timestamp;
use serde_json::json;

pub fn run(context: &Context, command: Snapshot) -> Result<()> {
    match command {
        Snapshot::List(shown) => list(context, &shown),
        Snapshot::Drop { name } => drop_one(context, &name),
        Snapshot::Prune { older_than, larger_than, auto, dry_run } => {
            let older = older_than.as_deref().map(units::span).transpose()?;
            let larger = larger_than.as_deref().map(units::size).transpose()?;
            let which = |context: &Context| -> Result<Vec<Meta>> {
                let all = context.place.snapshots()?;
                if auto {
                    return Ok(oldest(all, context.config.quota_bytes()));
                }
                let now = Timestamp::now();
                let old = |meta: &Meta| older.is_none_or(|span| now.duration_since(meta.fetched_at) > span);
                let large = |meta: &Meta| larger.is_none_or(|size| meta.bytes_local > size);
                Ok(all.into_iter().filter(|meta| old(meta) && large(meta)).collect())
            };
            prune(context, which, dry_run)
        }
        // Has a file of its own.
        Snapshot::Refresh { name, filter } => super::refresh::run(context, &name, filter),
    }
}

fn list(context: &Context, shown: &Shown) -> Result<()> {
    let all = context.place.snapshots()?;
    if context.format(shown.format) == Format::Json {
        return print::json(&all);
    }
    let now = Timestamp::now();
    let rows = all.into_iter().map(|meta| {
        let (rows, size, age) =
            (units::count(meta.rows), units::bytes(meta.bytes_local), units::age(meta.fetched_at, now));
        vec![
            Some(meta.name),
            Some(rows),
            Some(size),
            Some(age),
            Some(meta.table_id),
            Some(meta.filter.unwrap_or_default()),
        ]
    });
    show::list(&["name", "rows", "size", "age", "table_id", "where"], rows.collect(), shown.format)
}

fn drop_one(context: &Context, name: &str) -> Result<()> {
    check_name(name, "snapshot")?;
    let held = context.place.lock()?;
    let meta = context.place.snapshot(name)?;
    context.place.remove(&held, Shelf::Snapshots, &[name])?;
    if context.all.json {
        return print::json(&json!({ "dropped": [name], "bytes": meta.bytes_local }));
    }
    print::line(format!("Dropped {name} ({})", units::bytes(meta.bytes_local)))
}

/// The oldest ones, until the rest fits.
fn oldest(mut all: Vec<Meta>, quota: u64) -> Vec<Meta> {
    all.sort_by_key(|meta| meta.fetched_at);
    let mut used: u64 = all.iter().map(|meta| meta.bytes_local).sum();
    let too_much = |meta: &Meta| {
        let over = used > quota;
        used = used.saturating_sub(if over { meta.bytes_local } else { 0 });
        over
    };
    let count = all.iter().map(too_much).take_while(|over| *over).count();
    all.truncate(count);
    all
}

fn prune(context: &Context, which: impl Fn(&Context) -> Result<Vec<Meta>>, dry_run: bool) -> Result<()> {
    let held = context.place.lock()?;
    let gone = which(context)?;
    let names: Vec<&str> = gone.iter().map(|meta| meta.name.as_str()).collect();
    let bytes: u64 = gone.iter().map(|meta| meta.bytes_local).sum();
    if !dry_run && !names.is_empty() {
        context.place.remove(&held, Shelf::Snapshots, &names)?;
    }
    if context.all.json {
        return print::json(&json!({ "dropped": names, "bytes": bytes, "dry_run": dry_run }));
    }
    let verb = if dry_run { "Would drop" } else { "Dropped" };
    for meta in &gone {
        print::line(format!("{verb} {} ({})", meta.name, units::bytes(meta.bytes_local)))?;
    }
    print::line(format!("{verb} {}, {}", units::plural(gone.len() as u64, "snapshot"), units::bytes(bytes)))
}
