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
    /// A database that nobody changes while it is read.
    Sqlite(PathBuf),
    /// A database that Records writes to. It has a directory to itself, since its journal stands beside it.
    SqliteWritable(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTable {
    pub table: String,
    pub path: PathBuf,
}

impl Source {
    /// The files that a worker for this source may read, and no others.
    pub fn paths(&self) -> Vec<&Path> {
        match &self.kind {
            SourceKind::Files(tables) => tables.iter().map(|t| t.path.as_path()).collect(),
            SourceKind::Sqlite(path) | SourceKind::SqliteWritable(path) => vec![path],
        }
    }

    /// Whether changes may be made to it, where contracts allow them.
    pub fn is_writable(&self) -> bool {
        matches!(self.kind, SourceKind::SqliteWritable(_))
    }

    /// Changes whenever its tables may have changed, other than in their rows.
    pub fn schema_version(&self) -> Result<String, Fault> {
        match &self.kind {
            SourceKind::SqliteWritable(path) => schema_cookie(path).map_err(|e| self.unreadable(path, &e)),
            _ => self.data_version(),
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

/// Where SQLite counts the changes of a database's schema, in its file format.
const SCHEMA_COOKIE: u64 = 40;

fn schema_cookie(path: &Path) -> io::Result<String> {
    let mut cookie = [0; 4];
    let file = std::fs::File::open(path)?;
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut cookie, SCHEMA_COOKIE)?;
    Ok(format!("{}\0{}", path.display(), u32::from_be_bytes(cookie)))
}

fn stamp(path: &Path) -> io::Result<(u64, u128)> {
    let meta = std::fs::metadata(path)?;
    let changed = meta.modified()?.duration_since(UNIX_EPOCH).map(|d| d.as_nanos()).unwrap_or_default();
    Ok((meta.len(), changed))
}
