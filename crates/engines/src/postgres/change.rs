//! One write in one transaction that knows who asks, so that the database's own policies decide about it too.
//!
//! There may be other writers, of ours and of others: what is looked at is held until the end. A COMMIT whose answer was lost
//! is looked up by the transaction's id.

use super::fate::{Fate, Mark};
use super::session::{Access, Session, Who};
use super::{Postgres, columns, fault, params, rows};
use crate::change::{Unanswered, is_refusal};
use crate::fault::words::{NO_TARGET, OUTSIDE, SEVERAL, STALE, TAKEN};
use crate::fault::{from_worker, timeout};
use crate::protocol::{Cause, Failed, Queried, Query};
use crate::remote::Pieces;
use bytes::Bytes;
use domain::{Fault, Value};
use policy::{Approved, Change, Statement};
use std::time::{Duration, Instant};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row};

/// How long a COMMIT may take.
const END: Duration = Duration::from_secs(10);

/// What a change left behind: the row as its writer may read it, and how many were written.
type Left = (Queried, Bytes, u64);

/// A change that wants only its COMMIT.
struct Ready {
    session: Session,
    left: Left,
    /// The transaction, if it wrote.
    mark: Option<Mark>,
}

/// Why there is nothing to commit.
enum Stop {
    Fault(Fault),
    /// It met another change: nothing was made, and it may well succeed now.
    Again(Fault),
}

impl Stop {
    fn is_refusal(&self) -> bool {
        let (Self::Fault(fault) | Self::Again(fault)) = self;
        is_refusal(fault)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Postgres {
    /// Makes the change that policy has approved, or none at all.
    pub async fn change(&self, approved: &Approved, change: &Change) -> Result<Left, Unanswered> {
        if !self.writable {
            return Err(crate::fault::read_only(self.pool.name()).into());
        }
        let began = Instant::now();
        let seconds = approved.limits().seconds;
        // What is given up before its COMMIT is undone with its connection.
        let ready = tokio::time::timeout(Duration::from_secs(seconds), self.prepare(approved, change)).await;
        let ready = ready.map_err(|_| timeout(seconds))??;
        let (mut queried, ipc, affected) = self.end(ready, seconds).await?;
        queried.exec_ms = began.elapsed().as_secs_f64() * 1e3;
        Ok((queried, ipc, affected))
    }

    async fn prepare(&self, approved: &Approved, change: &Change) -> Result<Ready, Fault> {
        match self.attempt(approved, change).await {
            Ok(ready) => Ok(ready),
            Err(Stop::Fault(fault)) => Err(fault),
            // Once: what it met is there now, to be found by its natural key.
            Err(Stop::Again(_)) => self.attempt(approved, change).await.map_err(|stop| match stop {
                Stop::Fault(fault) | Stop::Again(fault) => fault,
            }),
        }
    }

    async fn attempt(&self, approved: &Approved, change: &Change) -> Result<Ready, Stop> {
        let seconds = approved.limits().seconds;
        let who = Who::caller(approved.caller(), &self.roles)?;
        let session = Session::begin_to(Access::Write, &self.pool, &self.schemas, &who, seconds).await?;
        let steps = Steps { session: &session, change, source: self.pool.name(), seconds };
        match steps.make(approved.limits().bytes).await {
            Ok((left, mark)) => Ok(Ready { session, left, mark }),
            Err(stop) => {
                if stop.is_refusal() {
                    session.undo().await;
                }
                Err(stop)
            }
        }
    }

    async fn end(&self, ready: Ready, seconds: u64) -> Result<Left, Unanswered> {
        let Ready { session, left, mark } = ready;
        let answer = tokio::time::timeout(END, session.commit()).await;
        let lost = match answer {
            Ok(Ok(())) => return Ok(left),
            Ok(Err(error)) if fault::undid(&error) => {
                return Err(fault::changing(self.pool.name(), &error, seconds).into());
            }
            Ok(Err(error)) => fault::of(self.pool.name(), &error, seconds),
            Err(_) => timeout(END.as_secs()),
        };
        // Without an id nothing was written: there is nothing to lose.
        let Some(mark) = mark else { return Ok(left) };
        tracing::warn!(source = self.pool.name(), "the answer to a COMMIT was lost");
        match self.fate(&mark).await {
            Fate::Made => Ok(left),
            Fate::NotMade => {
                let message = format!("the change was not made: {}", lost.message);
                Err(Fault { message, ..lost }.hint("send it again").into())
            }
            Fate::Forgotten => Err(Unanswered::Unseen(lost)),
            Fate::Open => Err(Unanswered::Open(lost)),
        }
    }
}

/// The statements of a change, in their order.
struct Steps<'s> {
    session: &'s Session,
    change: &'s Change,
    source: &'s str,
    seconds: u64,
}

impl Steps<'_> {
    async fn make(&self, bytes: u64) -> Result<(Left, Option<Mark>), Stop> {
        let change = self.change;
        // What its caller cannot see is not waited for: neither does that tell that it is there, nor keep its owner from it.
        self.visible().await?;
        if let Some(lock) = change.lock() {
            // The lock of a natural key gives a row in any case.
            self.require(lock, Cause::Missing, "").await?;
            self.visible().await?;
        }
        for reference in change.references() {
            self.require(reference, Cause::Reference, NO_TARGET).await?;
        }
        let (key, affected) = match self.twin().await? {
            Some(key) => (key, 0),
            None => (self.write().await?, 1),
        };
        let (queried, ipc) = self.image(key, bytes).await?;
        match (queried.row_count, affected) {
            (1, _) => Ok(((queried, ipc, affected), self.mark().await?)),
            // Its twin belongs to somebody whose rows this caller does not see.
            (_, 0) => Err(stop(Cause::Taken, TAKEN)),
            _ => Err(stop(Cause::Outside, OUTSIDE)),
        }
    }

    /// The key of the row that a retry would insert again.
    async fn twin(&self) -> Result<Option<Vec<Value>>, Stop> {
        let Some(twin) = self.change.twin() else { return Ok(None) };
        let found = self.rows(twin).await?;
        match found.as_slice() {
            [] => Ok(None),
            [row] if row.try_get::<_, Option<bool>>(self.change.key()).ok().flatten() == Some(true) => {
                Ok(Some(self.key(row)?))
            }
            _ => Err(stop(Cause::Taken, TAKEN)),
        }
    }

    async fn write(&self) -> Result<Vec<Value>, Stop> {
        let written = self.rows(self.change.write()).await?;
        match written.as_slice() {
            [row] => Ok(self.key(row)?),
            [] if self.change.is_versioned() => Err(stop(Cause::Stale, STALE)),
            // Row-level security lets it be read, and not changed.
            [] => Err(stop(Cause::Missing, "")),
            _ => Err(stop(Cause::Protocol, SEVERAL)),
        }
    }

    /// The row afterwards, as its writer may read it.
    async fn image(&self, key: Vec<Value>, bytes: u64) -> Result<(Queried, Bytes), Stop> {
        let image = self.change.image();
        let values: Vec<Value> =
            key.into_iter().chain(image.params().iter().skip(self.change.key()).cloned()).collect();
        let (types, values) = params::open(&values, image.open());
        let client = self.session.client();
        let statement = client.prepare_typed(image.sql(), &types).await.map_err(|e| self.told(&e))?;
        let columns = columns::of(statement.columns()).map_err(|failed| from_worker(&failed))?;
        let rows = client.query_raw(&statement, values).await.map_err(|e| self.told(&e))?;
        let query = Query { sql: String::new(), rows: 1, bytes, ..Query::default() };
        let (source, seconds) = (self.source.to_owned(), self.seconds);
        let gathering = rows::Gathering { rows, columns, query };
        let pieces = Pieces::fed(move |outbox| async move {
            let poured = gathering.pour(outbox, |error| fault::of(&source, error, seconds)).await;
            poured.map(|(queried, _)| queried)
        });
        Ok(pieces.whole().await?)
    }

    async fn mark(&self) -> Result<Option<Mark>, Stop> {
        let row = self.session.client().query_one(Mark::ASKED, &[]).await;
        Ok(row.and_then(|row| Mark::of(&row)).map_err(|e| self.told(&e))?)
    }

    /// That the caller can see the row of an UPDATE.
    async fn visible(&self) -> Result<(), Stop> {
        match self.change.before() {
            Some(before) => self.require(before, Cause::Missing, "").await,
            None => Ok(()),
        }
    }

    async fn require(&self, statement: &Statement, cause: Cause, words: &str) -> Result<(), Stop> {
        if self.rows(statement).await?.is_empty() { Err(stop(cause, words)) } else { Ok(()) }
    }

    async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, Stop> {
        let (types, values) = params::open(statement.params(), statement.open());
        let typed: Vec<(&(dyn ToSql + Sync), Type)> =
            values.iter().zip(types).map(|(value, kind)| (value.as_ref() as &(dyn ToSql + Sync), kind)).collect();
        let rows = self.session.client().query_typed(statement.sql(), &typed).await;
        rows.map_err(|error| {
            let fault = self.told(&error);
            // Somebody whose lock is another one inserted what this change was about to.
            let met = fault.code == "change.unique" && self.change.twin().is_some();
            if met || fault::gave_way(&error) { Stop::Again(fault) } else { Stop::Fault(fault) }
        })
    }

    fn key(&self, row: &Row) -> Result<Vec<Value>, Fault> {
        let text = |at| row.try_get::<_, Option<String>>(at).map(|text| text.map_or(Value::Null, Value::Text));
        (0..self.change.key()).map(text).collect::<Result<_, _>>().map_err(|error| self.told(&error))
    }

    fn told(&self, error: &Error) -> Fault {
        fault::changing(self.source, error, self.seconds)
    }
}

fn stop(cause: Cause, words: &str) -> Stop {
    Stop::Fault(from_worker(&Failed::new(cause, words)))
}
