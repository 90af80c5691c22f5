//! Before anything is answered: what Records is to write can be written, and what was interrupted is found again.

use crate::datasets::Dataset;
use crate::{CannotOpen, House};
use std::path::Path;
use std::sync::Arc;

/// What may stand beside a database that is written to.
const BESIDE: [&str; 3] = ["", "-journal", "-wal"];

pub async fn examine(house: &Arc<House>) -> Result<(), CannotOpen> {
    let mut problems = Vec::new();
    for dataset in house.datasets.iter().filter(|dataset| dataset.source.is_writable()) {
        for path in dataset.source.paths() {
            problems.extend(stands_alone(path).err());
        }
    }
    if !problems.is_empty() {
        return Err(CannotOpen(problems));
    }
    // What is on another machine recovers by itself, and says no where it cannot be written.
    let here = |dataset: &&Dataset| dataset.source.is_writable() && !dataset.source.is_remote();
    for dataset in house.datasets.iter().filter(here) {
        // It can still be read, and whoever writes is told.
        if let Some(problem) = unwritable(house, dataset) {
            tracing::warn!("{problem}");
            continue;
        }
        house.engines.recover(&dataset.source).await.map_err(|fault| CannotOpen(vec![fault.to_string()]))?;
    }
    house.reconcile_here().await.map_err(|fault| CannotOpen(vec![fault.to_string()]))
}

/// The writer is given the whole directory, for the journal's sake: nothing else may be in it.
fn stands_alone(path: &Path) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let dir = path.parent().unwrap_or(Path::new("/"));
    let entries = std::fs::read_dir(dir).map_err(|e| format!("`{}` cannot be read: {e}", dir.display()))?;
    for entry in entries.flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        if !BESIDE.iter().any(|end| found == format!("{name}{end}")) {
            let hint = "hint: move a database that Records writes to into a directory of its own";
            return Err(format!("`{found}` stands beside the writable database `{}` ({hint})", path.display()));
        }
    }
    Ok(())
}

fn unwritable(house: &House, dataset: &Dataset) -> Option<String> {
    let user = &house.engines.sandbox().user;
    let hint = format!("hint: `chown` it and its directory to `{user}`");
    match house.engines.user_can_write(&dataset.source) {
        Ok(true) => None,
        Ok(false) => Some(format!("the source `{}` is `writable`, but not by workers ({hint})", dataset.id)),
        Err(error) => Some(format!("whether the source `{}` can be written cannot be tried: {error}", dataset.id)),
    }
}
