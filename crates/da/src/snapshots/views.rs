//! `analytics.duckdb`: a view for each copy, for `da query` and for any other DuckDB.

use super::install::Held;
use crate::files;
use crate::place::{Place, Shelf};
use crate::problem::{Problem, Result};
use duckdb::{AccessMode, Config, Connection};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// DuckDB lets one program write, or many read. Readers are gone soon: so often, and so long between, it is tried again.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Makes the views say what the shelves hold. Views and tables that somebody else made stay.
pub fn publish(place: &Place, _held: &Held, changed: &[&str]) -> Result<()> {
    let connection = open_for_writing(&place.database())?;
    let written = write_views(place, &connection, changed);
    // Closing writes everything to the one file, so that it can be copied.
    let closed = connection.close().map_err(|(_, error)| error);
    written.and(closed).map_err(|error| unusable(&error))?;
    files::remove(&place.behind()).map_err(|error| Problem::file("a marker cannot be removed", &error))
}

fn write_views(place: &Place, connection: &Connection, changed: &[&str]) -> duckdb::Result<()> {
    let known = views(connection)?;
    let mut wanted = BTreeMap::new();
    for shelf in Shelf::ALL {
        for name in place.names(shelf).unwrap_or_default() {
            wanted.insert(name.clone(), definition(&name, &place.parquet(shelf, &name)));
        }
    }
    let ours = |sql: &str| Shelf::ALL.iter().any(|shelf| sql.contains(&*place.shelf(*shelf).to_string_lossy()));
    let mut statements = String::from("BEGIN;");
    for (name, sql) in &known {
        if ours(sql) && !wanted.contains_key(name) {
            statements.push_str(&format!("DROP VIEW IF EXISTS {};", quoted(name)));
        }
    }
    for (name, definition) in &wanted {
        // Columns and their types are part of a view: a changed file needs a new one.
        if changed.contains(&name.as_str()) || changed.is_empty() || !known.contains_key(name) {
            statements.push_str(definition);
        }
    }
    connection.execute_batch(&format!("{statements}COMMIT;"))
}

fn views(connection: &Connection) -> duckdb::Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal")?;
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?.unwrap_or_default())))?;
    rows.collect()
}

fn definition(name: &str, parquet: &Path) -> String {
    format!(
        "CREATE OR REPLACE VIEW {} AS SELECT * FROM read_parquet({});",
        quoted(name),
        literal(&parquet.to_string_lossy())
    )
}

fn open_for_writing(path: &Path) -> Result<Connection> {
    let mut tried = 0;
    loop {
        // In a format that every DuckDB since 1.0 opens: people look into it with their own.
        let config = quiet()?.with("storage_compatibility_version", "v1.0.0").map_err(|error| unusable(&error))?;
        match Connection::open_with_flags(path, config) {
            Ok(connection) => return Ok(connection),
            Err(error) if tried < TRIES && is_locked(&error) => {
                tried += 1;
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(unusable(&error)),
        }
    }
}

/// The views, to be queried. Where the database is in somebody else's hands, the same views in memory.
pub fn open_for_reading(place: &Place) -> Result<Connection> {
    if place.catch_up() && place.database().exists() {
        let config = quiet()?.access_mode(AccessMode::ReadOnly).map_err(|error| unusable(&error))?;
        if let Ok(connection) = Connection::open_with_flags(place.database(), config) {
            return Ok(connection);
        }
    }
    let connection = Connection::open_in_memory_with_flags(quiet()?).map_err(|error| unusable(&error))?;
    for shelf in Shelf::ALL {
        for name in place.names(shelf)? {
            let created = connection.execute_batch(&definition(&name, &place.parquet(shelf, &name)));
            created.map_err(|error| unusable(&error))?;
        }
    }
    Ok(connection)
}

/// Nothing is fetched from anywhere behind the user's back.
fn quiet() -> Result<Config> {
    let config = Config::default().with("autoinstall_known_extensions", "false");
    config.and_then(|config| config.with("allow_community_extensions", "false")).map_err(|error| unusable(&error))
}

fn is_locked(error: &duckdb::Error) -> bool {
    error.to_string().contains("Could not set lock")
}

fn unusable(error: &duckdb::Error) -> Problem {
    let text = error.to_string();
    let (message, hint) = match () {
        () if is_locked(error) => (
            "`analytics.duckdb` is open in another program".to_owned(),
            "close it there, or open it read-only (`duckdb -readonly`)",
        ),
        () if text.contains("version number") => (
            "`analytics.duckdb` was written by a newer DuckDB".to_owned(),
            "move it away: `da` makes a new one, with a view for each snapshot",
        ),
        () if text.contains("No space left") => {
            return Problem::file("the views cannot be written", &std::io::ErrorKind::StorageFull.into());
        }
        () => (format!("DuckDB: {}", text.lines().next().unwrap_or_default()), "`da doctor` checks this installation"),
    };
    Problem::new(crate::problem::Exit::Unexpected, "duckdb", message, hint)
}

pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
