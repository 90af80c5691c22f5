//! Connections that are opened when needed and kept with their prepared statements.

use super::{SqliteConn, file};
use crate::LedgerError;
use crate::store::Conn;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// How many reads run at once; more wait.
const AT_ONCE: usize = 8;

pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<SqliteConn>>,
    slots: Semaphore,
}

impl Readers {
    pub(crate) fn new(path: &Path) -> Arc<Self> {
        Arc::new(Self { path: path.to_owned(), idle: Mutex::default(), slots: Semaphore::new(AT_ONCE) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let _slot = self.slots.acquire().await.map_err(|_| LedgerError::Closed)?;
        let readers = Arc::clone(self);
        tokio::task::spawn_blocking(move || readers.with_connection(work)).await.map_err(|_| LedgerError::Closed)?
    }

    fn with_connection<T>(&self, work: impl FnOnce(&dyn Conn) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = kept.map_or_else(|| file::open_reader(&self.path), Ok)?;
        // After an error the connection is dropped: the next read starts afresh.
        let value = work(&conn)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
        Ok(value)
    }
}
