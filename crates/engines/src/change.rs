//! One write at a time to each source, each in a transaction of its own.

use crate::fault;
use crate::pool::{Engines, Profile};
use crate::protocol::{Bound, Change, Queried};
use crate::source::Source;
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
    /// Makes the change that policy has approved, or none at all. Whether a change whose worker was lost has been made
    /// is not known: its source is asked.
    pub async fn change<T: Send + 'static>(
        &self,
        source: &Source,
        approved: &Approved,
        turn: T,
    ) -> Result<(Written, T), Fault> {
        let Some(change) = approved.change().filter(|_| approved.source() == source.name) else {
            return Err(Fault::internal("engine.source"));
        };
        if !source.is_writable() {
            return Err(fault::read_only(&source.name));
        }
        let limits = approved.limits();
        let request = Change {
            table: change.table().to_owned(),
            columns: change.columns().to_vec(),
            insert: change.op() == domain::Op::Insert,
            key: change.key(),
            twin: change.twin().map(bound),
            before: change.before().map(bound),
            write: bound(change.write()),
            image: bound(change.image()),
            versioned: change.is_versioned(),
            bytes: limits.bytes,
        };
        let _pen = self.shared.pens.take(&source.name, self.shared.settings.queue).await?;
        let mut work = self.work(source, approved, Profile::Write, turn).await?;
        let answer =
            tokio::time::timeout(Duration::from_secs(limits.seconds), work.worker.get()?.change(request)).await;
        let answer = answer.map_err(|_| fault::timeout(limits.seconds))?;
        let told = work.worker.understand(answer);
        // A refusal of the database leaves its worker as it was: the transaction was undone.
        let (Queried { columns, row_count, truncated, exec_ms }, affected, ipc) = match told {
            Err(fault) if is_refusal(&fault) => {
                work.done()?;
                return Err(fault::named(fault, change.fields()));
            }
            told => told?,
        };
        let (turn, _) = work.done()?;
        let changed = Changed { rows: Rows { columns, ipc, row_count, truncated }, affected };
        Ok((Written { changed, exec_ms, data_version: source.data_version()? }, turn))
    }
}

fn is_refusal(fault: &Fault) -> bool {
    fault.code.starts_with("change.")
}

fn bound(statement: &Statement) -> Bound {
    Bound { sql: statement.sql().to_owned(), params: statement.params().to_vec() }
}
