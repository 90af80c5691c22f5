//! Where the ledger is kept: a SQLite file, or a Postgres database that several servers share.
//!
//! Everything above this module is written once, against [`Conn`]. A store brings connections, the one writer of this
//! process, and a way to find out whether another server is dead.

mod conn;
pub(crate) mod postgres;
mod row;
pub(crate) mod sqlite;
mod value;
mod writer;

pub(crate) use conn::{Conn, Dialect, Memo, See, Session};
pub(crate) use row::Row;
pub(crate) use value::{Value, args};

use crate::LedgerError;

pub(crate) enum Store {
    Sqlite(sqlite::Store),
    Postgres(postgres::Store),
}

impl Store {
    /// All of the work happens, or nothing, as if nobody else were writing; answered when it is durable. It may be
    /// carried out again when a connection is lost, and counts once.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        match self {
            Self::Sqlite(store) => store.writer.write(work).await,
            Self::Postgres(store) => store.writer.write(work).await,
        }
    }

    /// Off the async threads, and never in the way of the writer.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let result = match self {
            Self::Sqlite(store) => store.readers.read(work).await,
            Self::Postgres(store) => store.readers.read(work).await,
        };
        if let Err(error) = &result {
            tracing::error!(%error, "the ledger could not be read");
        }
        result
    }
}
