//! Houses without a server, for commands that ask questions themselves.

use super::{flags, load};
use crate::cli::Data;
use crate::print::Problem;
use engines::{FileTable, Source, SourceKind};
use gateway::House;
use gateway::config::{Config, Flags};
use gateway::datasets::is_sqlite;
use std::path::Path;
use std::sync::Arc;

/// State for one command, gone with it.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Result<Self, Problem> {
        Ok(Self(tempfile::tempdir()?))
    }

    pub fn house(&self) -> Result<Arc<House>, Problem> {
        Ok(House::open(self.config()?)?)
    }

    pub fn config(&self) -> Result<Config, Problem> {
        Ok(load(&Flags { data: self.0.path().to_owned(), ..Default::default() })?.0)
    }
}

/// The house that serves a dataset of this data directory.
pub fn open_named(source: &str, data: &Data) -> Result<Arc<House>, Problem> {
    if data.data.is_dir() {
        return Ok(House::open(load(&flags(data))?.0)?);
    }
    let hint = "`--source` takes a file, or a dataset of the `--data` directory";
    Err(Problem::usage(format!("there is no file `{source}`"), hint))
}

pub fn file_source(file: &str) -> Source {
    let path = Path::new(file);
    let table = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let kind = if is_sqlite(file) {
        SourceKind::Sqlite(path.into())
    } else {
        SourceKind::Files(vec![FileTable::new(table, path)])
    };
    Source { name: file.to_owned(), kind }
}
