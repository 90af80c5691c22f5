//! Local copies: a Parquet file, a sidecar that says what it is, and a view in `analytics.duckdb`.
//!
//! | file | is |
//! |---|---|
//! | `NAME.parquet`, `NAME.meta.json` | the copy |
//! | `.NAME.part` | on its way; locked by whoever writes it |
//! | `.NAME.commit` | the sidecar of a `part` that is whole: from here on the copy is the new one |
//!
//! A command that dies leaves the old copy, or a commit that the next command finishes ([`install`]).

mod fingerprint;
mod install;
mod meta;
mod part;
mod views;
mod writer;

pub use meta::{ColumnMeta, Meta, TableMeta};
pub use part::Part;
pub use views::{literal, open_for_reading, publish, quoted};
pub use writer::Writer;

use crate::place::{Place, Shelf};
use crate::problem::{Exit, Problem, Result};
use crate::units;
use jiff::Timestamp;
use std::fs;

impl Place {
    /// The snapshots, by name.
    pub fn snapshots(&self) -> Result<Vec<Meta>> {
        self.names(Shelf::Snapshots)?.iter().map(|name| self.snapshot(name)).collect()
    }

    pub fn snapshot(&self, name: &str) -> Result<Meta> {
        let path = self.sidecar(Shelf::Snapshots, name);
        match fs::read(&path) {
            Ok(text) => meta::parse(&path, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(unknown(name)),
            Err(error) => Err(Problem::file(&format!("`{}` cannot be read", path.display()), &error)),
        }
    }

    pub fn table(&self, id: &str) -> Result<Option<TableMeta>> {
        let path = self.sidecar(Shelf::Tables, id);
        match fs::read(&path) {
            Ok(text) => meta::parse(&path, &text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Problem::file(&format!("`{}` cannot be read", path.display()), &error)),
        }
    }

    /// What a shelf holds: everything that has a sidecar.
    pub fn names(&self, shelf: Shelf) -> Result<Vec<String>> {
        let entries = match fs::read_dir(self.shelf(shelf)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Problem::file("the snapshots cannot be listed", &error)),
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .filter_map(|name| name.strip_suffix(".meta.json").map(str::to_owned))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Fails if the name is taken, by a snapshot or by a table of `da sync`.
    pub fn must_be_free(&self, name: &str, force: bool) -> Result<()> {
        if self.sidecar(Shelf::Tables, name).exists() {
            let message = format!("`{name}` is a table that `da sync` keeps");
            return Err(Problem::new(Exit::Exists, "table_exists", message, "choose another name with --as"));
        }
        match self.snapshot(name) {
            Ok(there) if !force => Err(exists(&there)),
            _ => Ok(()),
        }
    }
}

fn exists(there: &Meta) -> Problem {
    let name = &there.name;
    let age = units::age(there.fetched_at, Timestamp::now());
    let ago = if age == "now" { "just now".to_owned() } else { format!("{age} ago") };
    Problem::new(
        Exit::Exists,
        "snapshot_exists",
        format!("snapshot `{name}` already exists (fetched {ago}, {})", units::plural(there.rows, "row")),
        format!("pass --force to overwrite it, or `da snapshot refresh {name}` to update it in place"),
    )
}

fn unknown(name: &str) -> Problem {
    let shown: String = name.chars().take(64).collect();
    Problem::invalid("unknown_snapshot", format!("there is no snapshot `{shown}`"), "`da snapshot list` shows all")
}
