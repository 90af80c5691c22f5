//! Where everything is: one directory, laid out as spec 004 §4 says.

use crate::config::Config;
use crate::problem::{Problem, Result};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Place {
    root: PathBuf,
}

/// What a local copy is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// A slice that was fetched.
    Snapshots,
    /// A whole table, kept by `da sync`.
    Tables,
}

impl Shelf {
    pub const ALL: [Self; 2] = [Self::Snapshots, Self::Tables];
}

impl Place {
    pub fn new(config: &Config) -> Self {
        let root = &config.data_dir.value;
        // Views hold absolute paths, so that other programs find the files from anywhere.
        Self { root: std::path::absolute(root).unwrap_or_else(|_| root.clone()) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn shelf(&self, shelf: Shelf) -> PathBuf {
        self.root.join(match shelf {
            Shelf::Snapshots => "snapshots",
            Shelf::Tables => "tables",
        })
    }

    pub fn parquet(&self, shelf: Shelf, name: &str) -> PathBuf {
        self.shelf(shelf).join(format!("{name}.parquet"))
    }

    pub fn sidecar(&self, shelf: Shelf, name: &str) -> PathBuf {
        self.shelf(shelf).join(format!("{name}.meta.json"))
    }

    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// The database of views.
    pub fn database(&self) -> PathBuf {
        self.root.join("duckdb").join("analytics.duckdb")
    }

    /// Stands while the views may lag behind the files.
    pub fn behind(&self) -> PathBuf {
        self.root.join("duckdb").join(".behind")
    }

    pub fn lock_file(&self) -> PathBuf {
        self.shelf(Shelf::Snapshots).join(".lock")
    }

    pub fn make(&self) -> Result<()> {
        let database = self.database();
        let dirs = [
            Some(self.shelf(Shelf::Snapshots)),
            Some(self.shelf(Shelf::Tables)),
            database.parent().map(Path::to_owned),
        ];
        dirs.iter().flatten().try_for_each(|dir| {
            make_private(dir).map_err(|error| Problem::file(&format!("`{}` cannot be made", dir.display()), &error))
        })
    }
}

/// For its owner alone: what lies in it came under the owner's own rights.
pub fn make_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Names of tables and snapshots: lowercase, so that no two differ by case alone, and safe as names of files.
pub fn check_name(name: &str, what: &str) -> Result<()> {
    let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if letters && (1..=64).contains(&name.len()) {
        return Ok(());
    }
    let shown: String = name.chars().take(64).collect();
    let message = format!("`{shown}` is not the name of a {what}");
    Err(Problem::invalid("bad_name", message, "names have lowercase letters, digits and `_`, 64 at most"))
}
