//! One thread that writes.
//!
//! The chain takes one writer at a time, and a commit costs a disk flush. So all work of the process goes through one
//! queue; whatever has gathered while the last commit was under way shares the next one. A caller is answered only after
//! COMMIT: a reply that says "done" is on disk.

use super::{Conn, Session};
use crate::LedgerError;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// How many pieces of work may wait before callers do.
const QUEUE: usize = 1024;
/// How many share one transaction at most, so that none waits for ever.
const BATCH: usize = 256;

pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn Task>>,
}

/// A piece of work, and the caller who waits for it.
pub(crate) trait Task: Send {
    /// When it was asked for.
    fn asked(&self) -> Instant;
    /// Does the work in the shared transaction. May be called again if that was lost.
    fn attempt(&mut self, conn: &dyn Conn) -> Result<(), LedgerError>;
    /// Tells the caller, once the fate of the transaction is sealed: what undid it, if anything did.
    fn tell(self: Box<Self>, undone: Option<LedgerError>);
}

struct Piece<T, F> {
    work: F,
    asked: Instant,
    result: Result<T, LedgerError>,
    reply: oneshot::Sender<Result<T, LedgerError>>,
}

impl<T, F> Task for Piece<T, F>
where
    T: Send,
    F: Fn(&dyn Conn) -> Result<T, LedgerError> + Send,
{
    fn asked(&self) -> Instant {
        self.asked
    }

    fn attempt(&mut self, conn: &dyn Conn) -> Result<(), LedgerError> {
        self.result = (self.work)(conn);
        self.result.as_ref().map(drop).map_err(LedgerError::clone)
    }

    fn tell(self: Box<Self>, undone: Option<LedgerError>) {
        // A caller that has gone away needs no answer.
        drop(self.reply.send(undone.map_or(self.result, Err)));
    }
}

impl Writer {
    /// `commit` is given what has gathered, carries it out and tells everybody.
    pub(crate) fn start(mut commit: impl FnMut(Vec<Box<dyn Task>>) + Send + 'static) -> Result<Self, LedgerError> {
        let (queue, mut tasks) = mpsc::channel(QUEUE);
        let work = move || {
            while let Some(first) = tasks.blocking_recv() {
                let mut batch = vec![first];
                while batch.len() < BATCH {
                    let Ok(next) = tasks.try_recv() else { break };
                    batch.push(next);
                }
                commit(batch);
            }
        };
        let thread = std::thread::Builder::new().name("ledger-writer".into());
        thread.spawn(work).map_err(LedgerError::file("start the writer of", "ledger"))?;
        Ok(Self { queue })
    }

    /// Runs `work` in a transaction; answers when it is committed. All of it happens, or nothing.
    /// Once queued it runs to its end, even when the caller stops waiting.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let (reply, answer) = oneshot::channel();
        let piece = Piece { work, asked: Instant::now(), result: Err(LedgerError::Closed), reply };
        self.queue.send(Box::new(piece)).await.map_err(|_| LedgerError::Closed)?;
        answer.await.map_err(|_| LedgerError::Closed)?
    }
}

/// Does the work of all of them in the transaction that has begun. An error undoes it as a whole.
pub(crate) fn carry_out(session: &dyn Session, tasks: &mut [Box<dyn Task>]) -> Result<(), LedgerError> {
    session.memo().forget();
    tasks.iter_mut().try_for_each(|task| step(session, task.as_mut()))
}

/// One piece of work in a savepoint of its own: when it fails, the others of the batch still hold.
fn step(session: &dyn Session, task: &mut dyn Task) -> Result<(), LedgerError> {
    session.control("SAVEPOINT job")?;
    match task.attempt(session) {
        Ok(()) => session.control("RELEASE job"),
        // A full disk, an I/O error or a lost connection undoes everything, not only this savepoint.
        Err(error) if !session.is_begun() => Err(error),
        Err(error) => {
            tracing::warn!(%error, "work for the ledger failed");
            session.memo().forget();
            session.control("ROLLBACK TO job").and_then(|()| session.control("RELEASE job"))
        }
    }
}

/// Tells all of them how their transaction ended.
pub(crate) fn tell(tasks: Vec<Box<dyn Task>>, undone: Option<&LedgerError>) {
    if let Some(error) = undone {
        tracing::error!(%error, callers = tasks.len(), "the ledger could not commit");
    }
    for task in tasks {
        task.tell(undone.cloned());
    }
}
