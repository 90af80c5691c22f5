//! Where a ledger is kept.

use crate::LedgerError;
use crate::audit::head;
use crate::store::postgres::{self, Address, Opener};
use crate::store::sqlite::{self, file};
use crate::store::{Conn, Store};
use std::fmt;
use std::path::{Path, PathBuf};

/// The place that configuration names.
#[derive(Debug, Clone)]
pub enum Home {
    /// A SQLite file. Signed heads are exported beside it.
    File(PathBuf),
    /// A Postgres database. Signed heads are exported to a file in `heads`, on every server.
    Postgres { address: Address, heads: PathBuf },
}

impl Home {
    pub(crate) fn open(&self) -> Result<Store, LedgerError> {
        match self {
            Self::File(path) => sqlite::Store::open(path).map(Store::Sqlite),
            Self::Postgres { address, .. } => postgres::Store::open(address).map(Store::Postgres),
        }
    }

    /// Where heads are exported to.
    pub(crate) fn heads(&self) -> PathBuf {
        match self {
            Self::File(path) => path.with_file_name(head::FILE),
            Self::Postgres { heads, .. } => heads.join(head::FILE),
        }
    }

    /// Reads as of one moment, writing nothing: also where nothing can be written.
    pub(crate) fn examine<T: Send>(
        &self,
        work: impl FnOnce(&dyn Conn) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError> {
        match self {
            Self::File(path) => sqlite::snapshot(&file::open_evidence(path)?, work),
            Self::Postgres { address, .. } => {
                let opener = Opener::new(address);
                postgres::aside(move || opener.snapshot(work))
            }
        }
    }
}

impl Store {
    /// Reads as of one moment, on a connection of its own: a long walk must not hold up other readers.
    pub(crate) async fn snapshot<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let walked = match self {
            Self::Sqlite(store) => {
                let path: PathBuf = store.readers.path().into();
                tokio::task::spawn_blocking(move || sqlite::snapshot(&file::open_reader(&path)?, work)).await
            }
            Self::Postgres(store) => {
                let opener = store.opener();
                tokio::task::spawn_blocking(move || opener.snapshot(work)).await
            }
        };
        walked.map_err(|_| LedgerError::Closed)?
    }
}

impl From<&Path> for Home {
    fn from(file: &Path) -> Self {
        Self::File(file.into())
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Postgres { address, .. } => address.fmt(f),
        }
    }
}
