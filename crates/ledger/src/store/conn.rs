//! What the rest of the ledger knows of a database: statements and rows.
//!
//! Statements are written once, in the SQL that both stores share, with `$1`, `$2` … for values. Where they differ,
//! [`Dialect`] says which one is spoken.

use super::{Row, Value};
use crate::LedgerError;
use std::cell::RefCell;
use std::ops::ControlFlow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// A connection, in a transaction where it writes.
pub(crate) trait Conn {
    fn dialect(&self) -> Dialect;

    fn memo(&self) -> &Memo;

    /// How many rows it changed.
    fn execute(&self, sql: &str, args: &[Value]) -> Result<usize, LedgerError>;

    /// Changes something before the next statement, or the commit at the latest; nobody waits for it. An error then
    /// undoes the transaction: for what cannot fail alone.
    fn post(&self, sql: &str, args: Vec<Value>) -> Result<(), LedgerError>;

    fn query(&self, sql: &str, args: &[Value]) -> Result<Vec<Row>, LedgerError>;

    /// Row by row, for answers that do not fit into memory. Needs a transaction.
    fn each(&self, sql: &str, see: See<'_>) -> Result<(), LedgerError>;
}

/// What need not be read again while a transaction has the ledger for itself.
#[derive(Default)]
pub(crate) struct Memo {
    /// Number and hash of the last entry of the chain.
    pub tail: RefCell<Option<(i64, String)>>,
}

impl Memo {
    /// When a transaction begins, and when a part of it is undone.
    pub(crate) fn forget(&self) {
        self.tail.take();
    }
}

/// Sees a row, and says whether to go on.
pub(crate) type See<'a> = &'a mut dyn FnMut(&Row) -> Result<ControlFlow<()>, LedgerError>;

impl dyn Conn + '_ {
    /// The first row of the answer, if there is one.
    pub(crate) fn first(&self, sql: &str, args: &[Value]) -> Result<Option<Row>, LedgerError> {
        Ok(self.query(sql, args)?.into_iter().next())
    }

    /// The only row of an answer that always has one.
    pub(crate) fn only(&self, sql: &str, args: &[Value]) -> Result<Row, LedgerError> {
        self.first(sql, args)?.ok_or(LedgerError::NoAnswer)
    }

    /// The statement of this store, where the two must differ.
    pub(crate) fn either<'s>(&self, sqlite: &'s str, postgres: &'s str) -> &'s str {
        match self.dialect() {
            Dialect::Sqlite => sqlite,
            Dialect::Postgres => postgres,
        }
    }
}

/// A connection that writes.
pub(crate) trait Session: Conn {
    /// Begins a transaction that no other writer, of any process, can be in at the same time.
    fn begin(&self) -> Result<(), LedgerError>;
    fn commit(&self) -> Result<(), LedgerError>;
    fn rollback(&self);
    /// Whether the transaction is still there: an error may have undone all of it.
    fn is_begun(&self) -> bool;
    /// Control of the transaction: `SAVEPOINT job`.
    fn control(&self, sql: &'static str) -> Result<(), LedgerError>;
}
