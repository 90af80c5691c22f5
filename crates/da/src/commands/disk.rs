//! `da disk-info`.

use super::Context;
use crate::place::Shelf;
use crate::problem::Result;
use crate::{print, units};
use serde_json::json;
use std::path::Path;

pub fn run(context: &Context) -> Result<()> {
    let snapshots = context.place.snapshots()?;
    let used: u64 = snapshots.iter().map(|meta| meta.bytes_local).sum();
    let tables = context.place.names(Shelf::Tables)?;
    let synced: u64 = tables.iter().filter_map(|id| context.place.table(id).ok()??.bytes_local.into()).sum();
    let dir = context.place.shelf(Shelf::Snapshots);
    let (free, quota) = (free_bytes(&dir), &context.config.snapshot_quota_gb);
    if context.all.json {
        return print::json(&json!({
            "snapshots_dir": dir,
            "snapshots": snapshots.len(),
            "used_bytes": used,
            "synced_tables": tables.len(),
            "synced_bytes": synced,
            "free_bytes": free,
            "snapshot_quota_gb": quota.value,
            "over_quota": used > context.config.quota_bytes(),
        }));
    }
    let count = units::plural(snapshots.len() as u64, "snapshot");
    print::line(format!("Snapshots dir:  {}", dir.display()))?;
    print::line(format!("Used:           {} across {count}", units::bytes(used)))?;
    if !tables.is_empty() {
        let count = units::plural(tables.len() as u64, "table");
        print::line(format!("Synced:         {} across {count}", units::bytes(synced)))?;
    }
    print::line(format!("Free disk:      {}", free.map_or_else(|| "unknown".to_owned(), units::bytes)))?;
    let over = if used > context.config.quota_bytes() { ", exceeded" } else { "" };
    print::line(format!("Configured cap: {} GB (snapshot_quota_gb, {}){over}", quota.value, quota.origin))
}

/// On the disk of a directory, or of the nearest one above that exists.
pub fn free_bytes(dir: &Path) -> Option<u64> {
    let there = dir.ancestors().find(|dir| dir.exists())?;
    let stat = rustix::fs::statvfs(there).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}
