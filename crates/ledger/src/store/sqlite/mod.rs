//! A SQLite file (WAL): one server, and the command line beside it.

mod conn;
pub(crate) mod file;
mod lives;
mod readers;

pub(crate) use conn::SqliteConn;
pub(crate) use lives::Lives;

use super::writer::{Task, Writer, carry_out, tell};
use super::{Conn, Session};
use crate::LedgerError;
use readers::Readers;
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Store {
    pub writer: Writer,
    pub readers: Arc<Readers>,
    pub lives: Lives,
}

impl Store {
    /// Opens the file, or creates it (mode 600), and brings it up to date.
    pub(crate) fn open(path: &Path) -> Result<Self, LedgerError> {
        let conn = file::open_writer(path)?;
        let writer = Writer::start(move |tasks| commit(&conn, tasks))?;
        Ok(Self { writer, readers: Readers::new(path), lives: Lives::beside(path) })
    }
}

/// Reads as of one moment, on a connection of its own: a long walk must not hold up other readers.
pub(crate) fn snapshot<T>(
    conn: &SqliteConn,
    work: impl FnOnce(&dyn Conn) -> Result<T, LedgerError>,
) -> Result<T, LedgerError> {
    let _tx = conn.0.unchecked_transaction()?;
    work(conn)
}

fn commit(conn: &SqliteConn, mut tasks: Vec<Box<dyn Task>>) {
    let committed = conn.begin().and_then(|()| carry_out(conn, &mut tasks)).and_then(|()| conn.commit());
    if committed.is_err() && conn.is_begun() {
        conn.rollback();
    }
    tell(tasks, committed.err().as_ref());
}

#[cfg(test)]
mod tests;
