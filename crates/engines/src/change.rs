//! Writes, each in a transaction of its own; to a file one at a time.

use crate::client::Lost;
use crate::fault;
use crate::places::Attempt;
use crate::pool::{Engines, Profile, Work};
use crate::protocol::{Bound, Cause, Change, Queried};
use crate::source::Source;
use bytes::Bytes;
use domain::{Changed, Fault, Rows};
use policy::{Approved, Statement};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as Pen, OwnedMutexGuard};

/// What a write left behind, and what it took.
#[derive(Debug)]
pub struct Written {
    pub changed: Changed,
    pub exec_ms: f64,
    pub data_version: String,
}

/// Why there is no answer to a change.
#[derive(Debug)]
pub enum Unanswered {
    /// It was not made.
    NotMade(Fault),
    /// Nobody saw its end, and it has ended: its source is to be asked.
    Unseen(Fault),
    /// It may still be made: what its source says now is not its last word.
    Open(Fault),
}

impl From<Fault> for Unanswered {
    fn from(fault: Fault) -> Self {
        Self::NotMade(fault)
    }
}

/// One pen for each source that is written to.
#[derive(Default)]
pub(crate) struct Pens(Mutex<HashMap<String, Arc<Pen<()>>>>);

impl Pens {
    async fn take(&self, source: &str, patience: Duration) -> Result<OwnedMutexGuard<()>, Fault> {
        let pen = self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(source.to_owned()).or_default().clone();
        tokio::time::timeout(patience, pen.lock_owned()).await.map_err(|_| fault::busy())
    }
}

impl Engines {
    /// Makes the change that policy has approved, or none at all.
    pub async fn change<T: Send + 'static>(
        &self,
        source: &Source,
        approved: &Approved,
        turn: T,
    ) -> Result<(Written, T), Unanswered> {
        let Some(change) = approved.change().filter(|_| approved.source() == source.name) else {
            return Err(Fault::internal("engine.source").into());
        };
        if !source.is_writable() {
            return Err(fault::read_only(&source.name).into());
        }
        let named = |unanswered| match unanswered {
            Unanswered::NotMade(fault) => Unanswered::NotMade(fault::named(fault, change.fields())),
            unknown @ (Unanswered::Unseen(_) | Unanswered::Open(_)) => unknown,
        };
        let ((queried, ipc, affected), turn) = match self.remote(source)? {
            Some(remote) => (remote.change(approved, change).await.map_err(named)?, turn),
            None => self.write(source, approved, change, turn).await.map_err(named)?,
        };
        let Queried { columns, row_count, truncated, exec_ms } = queried;
        let changed = Changed { rows: Rows { columns, ipc, row_count, truncated }, affected };
        // What was written is written, whatever its file looks like now.
        let data_version = source.data_version().unwrap_or_default();
        Ok((Written { changed, exec_ms, data_version }, turn))
    }

    /// Whether a change that began longer ago than this may still be made. Those of workers end with their server.
    pub async fn is_changing(&self, source: &Source, since: Duration) -> Result<bool, Fault> {
        match self.remote(source)? {
            Some(remote) => remote.is_changing(since).await,
            None => Ok(false),
        }
    }

    /// By a worker, with the source's pen. Of one whose end nobody saw, nothing is at work any more when this returns.
    async fn write<T: Send + 'static>(
        &self,
        source: &Source,
        approved: &Approved,
        change: &policy::Change,
        turn: T,
    ) -> Result<((Queried, Bytes, u64), T), Unanswered> {
        let limits = approved.limits();
        let _pen = self.shared.pens.take(&source.name, self.shared.settings.queue).await?;
        let mut work = self.work(source, approved, (Profile::Write, Attempt::First), turn).await?;
        let asked = work.worker.get()?.change(request(change, limits.bytes));
        let answer = tokio::select! {
            answer = tokio::time::timeout(Duration::from_secs(limits.seconds), asked) => answer,
            // A write is never broken off for others.
            never = work.place.counted() => match never {},
        };
        let lost = match answer {
            Ok(Ok((queried, affected, ipc))) => return Ok(((queried, ipc, affected), work.done()?.0)),
            Ok(Err(Lost::Told(failed))) if failed.cause != Cause::Protocol => {
                let fault = fault::from_worker(&failed);
                // A refusal of the database leaves its worker as it was: the transaction was undone.
                if is_refusal(&fault) {
                    work.done()?;
                }
                return Err(fault.into());
            }
            Ok(Err(lost)) => work.worker.understand::<()>(Err(lost)).err(),
            Err(_) => Some(fault::timeout(limits.seconds)),
        };
        self.end(source, work).await;
        Err(Unanswered::Unseen(lost.unwrap_or_else(fault::worker_lost)))
    }

    /// Ends a writer that has not answered, and undoes what it left half done.
    async fn end<T: Send + 'static>(&self, source: &Source, mut work: Work<T>) {
        work.worker.end().await;
        if let Err(fault) = self.recover(source).await {
            tracing::error!(source = source.name, %fault, "a writer was lost, and no other can be started");
        }
    }
}

pub(crate) fn request(change: &policy::Change, bytes: u64) -> Change {
    Change {
        table: change.table().to_owned(),
        columns: change.columns().to_vec(),
        insert: change.op() == domain::Op::Insert,
        key: change.key(),
        references: change.references().iter().map(bound).collect(),
        twin: change.twin().map(bound),
        before: change.before().map(bound),
        write: bound(change.write()),
        image: bound(change.image()),
        versioned: change.is_versioned(),
        bytes,
    }
}

/// Whether it says no by a rule, after which everything is as it was.
pub(crate) fn is_refusal(fault: &Fault) -> bool {
    fault.code.starts_with("change.")
}

fn bound(statement: &Statement) -> Bound {
    Bound { sql: statement.sql().to_owned(), params: statement.params().to_vec() }
}
