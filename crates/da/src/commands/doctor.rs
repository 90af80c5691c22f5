//! `da doctor`: everything that `da` stands on, tried for real.

use super::{Context, disk};
use crate::credentials::Credentials;
use crate::place::Shelf;
use crate::problem::{Exit, Problem, Result};
use crate::snapshots::open_for_reading;
use crate::{print, units};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::Serialize;
use std::fs::File;

#[derive(Serialize)]
struct Check {
    what: &'static str,
    ok: bool,
    says: String,
}

pub fn run(context: &Context) -> Result<()> {
    let checks: Vec<Check> = [
        check("settings", settings(context)),
        check("credentials", credentials(context)),
        check("server", server(context)),
        check("data directory", directory(context)),
        check("duckdb", database(context)),
        check("snapshots", copies(context)),
        check("disk", space(context)),
    ]
    .into();
    if context.all.json {
        print::json(&checks)?;
    } else {
        for check in &checks {
            print::line(format!("{} {:<15} {}", if check.ok { "ok  " } else { "FAIL" }, check.what, check.says))?;
        }
    }
    match checks.iter().find(|check| !check.ok) {
        None => Ok(()),
        Some(bad) => {
            let message = format!("{}: {}", bad.what, bad.says);
            Err(Problem::new(Exit::Unexpected, "doctor", message, "mend what is marked FAIL, and run it again"))
        }
    }
}

fn check(what: &'static str, result: Result<String>) -> Check {
    match result {
        Ok(says) => Check { what, ok: true, says },
        Err(problem) => Check { what, ok: false, says: format!("{}; {}", problem.message, problem.hint) },
    }
}

/// They were loaded to come here.
fn settings(context: &Context) -> Result<String> {
    let shown = context.config.shown().into_iter().filter(|setting| setting.origin != "default");
    let set: Vec<String> = shown.map(|setting| format!("{} ({})", setting.key, setting.origin)).collect();
    Ok(if set.is_empty() { "all at their defaults".to_owned() } else { set.join(", ") })
}

fn credentials(context: &Context) -> Result<String> {
    use std::os::unix::fs::PermissionsExt;
    let path = context.config.directory.join("credentials.json");
    if let Ok(meta) = path.metadata()
        && meta.permissions().mode() & 0o077 != 0
    {
        let hint = format!("`chmod 600 {}`", path.display());
        return Err(Problem::new(Exit::Auth, "open_credentials", "others can read the credentials", hint));
    }
    let (_, origin) = Credentials::token(&context.config)?;
    Ok(format!("a token from {origin}"))
}

fn server(context: &Context) -> Result<String> {
    let seen = context.client()?.whoami()?;
    Ok(format!("{} knows you as {} ({})", context.config.server()?, seen.actor, seen.role))
}

fn directory(context: &Context) -> Result<String> {
    // Locking writes, and tidies.
    context.place.lock()?;
    Ok(context.place.root().display().to_string())
}

fn database(context: &Context) -> Result<String> {
    let connection = open_for_reading(&context.place)?;
    let version = connection.version().unwrap_or_default();
    let current = if context.place.behind().exists() { "; its views lag behind" } else { "" };
    Ok(format!("{version}, {}{current}", context.place.database().display()))
}

/// Each copy has its file, and the file as many rows as the sidecar says.
fn copies(context: &Context) -> Result<String> {
    let place = &context.place;
    let mut known = Vec::new();
    for meta in place.snapshots()? {
        known.push((Shelf::Snapshots, meta.name, meta.rows));
    }
    for id in place.names(Shelf::Tables)? {
        known.extend(place.table(&id)?.map(|meta| (Shelf::Tables, meta.table_id, meta.rows)));
    }
    for (shelf, name, rows) in &known {
        let path = place.parquet(*shelf, name);
        let reader = File::open(&path).ok().and_then(|file| SerializedFileReader::new(file).ok());
        let there = reader.and_then(|reader| u64::try_from(reader.metadata().file_metadata().num_rows()).ok());
        if there != Some(*rows) {
            let message =
                format!("`{}` does not hold the {} of its sidecar", path.display(), units::plural(*rows, "row"));
            let hint = format!("`da snapshot refresh {name}`, or `da sync {name}`");
            return Err(Problem::new(Exit::Unexpected, "bad_copy", message, hint));
        }
    }
    Ok(format!("{} local copies, all whole", known.len()))
}

fn space(context: &Context) -> Result<String> {
    let free = disk::free_bytes(context.place.root()).unwrap_or_default();
    let used: u64 = context.place.snapshots()?.iter().map(|meta| meta.bytes_local).sum();
    Ok(format!("{} free, snapshots take {}", units::bytes(free), units::bytes(used)))
}
