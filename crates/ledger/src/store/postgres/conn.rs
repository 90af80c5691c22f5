//! Statements and rows of Postgres, for threads that may wait.

use super::link::Link;
use super::values::value;
use crate::LedgerError;
use crate::store::{Conn, Dialect, Memo, Row, See, Session, Value};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement};

/// Statements kept prepared; beyond it all are forgotten.
const STATEMENTS_KEPT: usize = 256;
/// Rows that are in memory while a long answer is read.
const FETCHED: usize = 500;
/// Writers of all servers take turns by this lock, which goes with the transaction. Its second half tells ledgers apart
/// that share a database.
const BEGIN: &str = "SELECT pg_current_xact_id()::text AS xid, \
                     pg_advisory_xact_lock(1195463749, hashtext(current_schema()))::text AS turn";

pub(crate) struct PgConn {
    link: Link,
    statements: RefCell<HashMap<String, Statement>>,
    /// What goes out with the next statement, to save round trips.
    pending: RefCell<Vec<Pending>>,
    begun: Cell<bool>,
    /// How the database will remember the transaction.
    xid: RefCell<String>,
    cursors: Cell<u32>,
    memo: Memo,
}

/// What needs no answer of its own. If it fails, the transaction does.
enum Pending {
    Control(String),
    Statement(Statement, Vec<Value>),
}

impl PgConn {
    pub(super) fn new(link: Link) -> Self {
        Self {
            link,
            statements: RefCell::default(),
            pending: RefCell::default(),
            begun: Cell::new(false),
            xid: RefCell::default(),
            cursors: Cell::new(0),
            memo: Memo::default(),
        }
    }

    /// From now on nothing is waited for longer than until then.
    pub(super) fn wait_until(&self, deadline: Instant) {
        self.link.deadline.set(deadline);
    }

    pub(super) fn xid(&self) -> String {
        self.xid.borrow().clone()
    }

    /// Whether a transaction of an earlier connection was committed. To be asked when it is our turn to write: it is then
    /// over, one way or the other.
    pub(super) fn was_committed(&self, xid: &str) -> Result<bool, LedgerError> {
        let conn: &dyn Conn = self;
        let status = conn.only("SELECT pg_xact_status($1::text::xid8) AS status", &[xid.into()])?;
        Ok(status.get::<Option<String>>("status")?.as_deref() == Some("committed"))
    }

    /// Waits for what the database says. After an error of the connection the transaction is gone.
    fn wait<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, LedgerError> {
        let answer = self.link.wait(answer);
        if answer.as_ref().is_err_and(LedgerError::is_lost) {
            self.begun.set(false);
        }
        answer
    }

    fn prepared(&self, sql: &str) -> Result<Statement, LedgerError> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        let statement = self.wait(self.link.client.prepare(sql))?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= STATEMENTS_KEPT {
            statements.clear();
        }
        statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Sends what is pending, and right behind it a statement; then waits for all answers.
    fn after_pending<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, LedgerError> {
        let (pending, doomed) = (self.pending.take(), Cell::new(false));
        let answer = self.wait(async {
            let mut sent: Vec<_> = pending.iter().map(|pending| Box::pin(self.send(pending))).collect();
            let mut answer = Box::pin(answer);
            // A statement goes out when it is first asked for its answer.
            let mut early: Vec<_> = Vec::with_capacity(sent.len());
            for pending in &mut sent {
                early.push(futures_util::poll!(pending));
            }
            let first = futures_util::poll!(&mut answer);
            for (pending, early) in sent.into_iter().zip(early) {
                let done = match early {
                    Poll::Ready(done) => done,
                    Poll::Pending => pending.await,
                };
                doomed.set(doomed.get() || done.is_err());
                done?;
            }
            match first {
                Poll::Ready(answer) => answer,
                Poll::Pending => answer.await,
            }
        });
        if doomed.get() {
            // It belonged to work that was done, as far as that knew: nothing of this transaction may stand.
            self.pending.take();
            drop(self.wait(self.link.client.batch_execute("ROLLBACK")));
            self.begun.set(false);
        }
        answer
    }

    async fn send(&self, pending: &Pending) -> Result<(), Error> {
        match pending {
            Pending::Control(sql) => self.link.client.batch_execute(sql).await,
            Pending::Statement(statement, args) => self.link.client.execute(statement, &bound(args)).await.map(drop),
        }
    }

    fn control_text(&self, sql: &str) {
        let mut pending = self.pending.borrow_mut();
        match pending.last_mut() {
            Some(Pending::Control(text)) => text.push_str(sql),
            _ => pending.push(Pending::Control(sql.to_owned())),
        }
    }

    pub(super) fn batch(&self, sql: &str) -> Result<(), LedgerError> {
        self.control_text(sql);
        self.after_pending(std::future::ready(Ok(())))
    }
}

fn rows(found: Vec<tokio_postgres::Row>) -> Result<Vec<Row>, LedgerError> {
    let Some(first) = found.first() else { return Ok(Vec::new()) };
    let columns: Arc<[String]> = first.columns().iter().map(|column| column.name().to_owned()).collect();
    let row = |row: &tokio_postgres::Row| {
        let values = (0..row.len()).map(|i| value(row, i)).collect::<Result<_, _>>()?;
        Ok(Row::new(columns.clone(), values))
    };
    found.iter().map(row).collect()
}

fn bound(args: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    args.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl Conn for PgConn {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn memo(&self) -> &Memo {
        &self.memo
    }

    fn post(&self, sql: &str, args: Vec<Value>) -> Result<(), LedgerError> {
        let statement = self.prepared(sql)?;
        self.pending.borrow_mut().push(Pending::Statement(statement, args));
        Ok(())
    }

    fn execute(&self, sql: &str, args: &[Value]) -> Result<usize, LedgerError> {
        let statement = self.prepared(sql)?;
        let changed = self.after_pending(self.link.client.execute(&statement, &bound(args)))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    fn query(&self, sql: &str, args: &[Value]) -> Result<Vec<Row>, LedgerError> {
        let statement = self.prepared(sql)?;
        rows(self.after_pending(self.link.client.query(&statement, &bound(args)))?)
    }

    fn each(&self, sql: &str, see: See<'_>) -> Result<(), LedgerError> {
        let cursor = format!("walk_{}", self.cursors.replace(self.cursors.get() + 1));
        self.batch(&format!("DECLARE {cursor} NO SCROLL CURSOR FOR {sql};"))?;
        let fetch = format!("FETCH {FETCHED} FROM {cursor}");
        'pages: loop {
            let page = rows(self.wait(self.link.client.query(&fetch, &[]))?)?;
            for row in &page {
                if see(row)?.is_break() {
                    break 'pages;
                }
            }
            if page.len() < FETCHED {
                break;
            }
        }
        self.batch(&format!("CLOSE {cursor};"))
    }
}

impl Session for PgConn {
    fn begin(&self) -> Result<(), LedgerError> {
        let conn: &dyn Conn = self;
        self.prepared(BEGIN)?;
        self.begun.set(true);
        self.control("BEGIN ISOLATION LEVEL READ COMMITTED")?;
        *self.xid.borrow_mut() = conn.only(BEGIN, &[])?.get("xid")?;
        Ok(())
    }

    fn commit(&self) -> Result<(), LedgerError> {
        let committed = self.batch("COMMIT;");
        if committed.is_err() && !self.link.client.is_closed() {
            drop(self.batch("ROLLBACK;"));
        }
        self.begun.set(false);
        committed
    }

    fn rollback(&self) {
        self.pending.take();
        drop(self.batch("ROLLBACK;"));
        self.begun.set(false);
    }

    fn is_begun(&self) -> bool {
        self.begun.get()
    }

    fn control(&self, sql: &'static str) -> Result<(), LedgerError> {
        self.control_text(sql);
        self.control_text(";");
        Ok(())
    }
}
