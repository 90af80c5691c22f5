//! Where data is: files that DuckDB reads, or a SQLite database.

use domain::{Fault, Kind};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A source of the configuration, or a dataset of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub kind: SourceKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceKind {
    /// CSV, Parquet and JSON files, one table each.
    Files(Vec<FileTable>),
    Sqlite(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTable {
    pub table: String,
    pub path: PathBuf,
    /// Whether a copy in DuckDB's own format is kept and read instead.
    pub hot: bool,
}

impl FileTable {
    /// A table that is read from its file.
    pub fn new(table: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { table: table.into(), path: path.into(), hot: false }
    }
}

impl Source {
    /// The files that a worker for this source may read, and no others.
    pub fn paths(&self) -> Vec<&Path> {
        match &self.kind {
            SourceKind::Files(tables) => tables.iter().map(|t| t.path.as_path()).collect(),
            SourceKind::Sqlite(path) => vec![path],
        }
    }

    /// Changes whenever the data may have changed: names, sizes and times of change of its files.
    pub fn data_version(&self) -> Result<String, Fault> {
        let mut seen = String::new();
        for path in self.paths() {
            let (size, changed) = stamp(path).map_err(|e| self.unreadable(path, &e))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            seen.push_str(&format!("{name}\0{size}\0{changed}\n"));
        }
        self.refuse_unmerged_wal()?;
        Ok(domain::sha256_hex(seen.as_bytes()))
    }

    /// A worker opens SQLite as immutable and would not see what still stands in a write-ahead log.
    fn refuse_unmerged_wal(&self) -> Result<(), Fault> {
        let SourceKind::Sqlite(path) = &self.kind else { return Ok(()) };
        let mut wal = path.as_os_str().to_owned();
        wal.push("-wal");
        match std::fs::metadata(PathBuf::from(wal)) {
            Ok(meta) if meta.len() > 0 => Err(Fault::new(
                Kind::Unavailable,
                "source.unmerged_wal",
                format!("source `{}` has changes in a write-ahead log that are not in its file yet", self.name),
            )
            .hint("close its writers, or run `PRAGMA wal_checkpoint(TRUNCATE)` on it")),
            _ => Ok(()),
        }
    }

    fn unreadable(&self, path: &Path, error: &io::Error) -> Fault {
        tracing::warn!(source = self.name, path = %path.display(), %error, "source cannot be read");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        Fault::new(
            Kind::Unavailable,
            "source.unreadable",
            format!("source `{}` cannot be read: file `{file}`", self.name),
        )
        .hint("see the server's log, or run `gatehouse doctor`")
    }
}

/// Size and time of change: what tells one state of a file from another.
pub(crate) fn stamp(path: &Path) -> io::Result<(u64, u128)> {
    let meta = std::fs::metadata(path)?;
    let changed = meta.modified()?.duration_since(UNIX_EPOCH).map(|d| d.as_nanos()).unwrap_or_default();
    Ok((meta.len(), changed))
}
