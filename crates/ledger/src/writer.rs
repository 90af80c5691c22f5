//! One thread that writes.
//!
//! SQLite takes one writer at a time, and a commit costs a disk flush. So all work of the process
//! goes through one queue; whatever has gathered while the last commit was under way shares the
//! next one. A caller is answered only after COMMIT: a reply that says "done" is on disk.

use crate::LedgerError;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

/// How many pieces of work may wait before callers do.
const QUEUE: usize = 1024;
/// How many share one transaction at most, so that none waits for ever.
const BATCH: usize = 256;

pub(crate) struct Writer {
    queue: mpsc::Sender<Job>,
}

/// Does its work in the shared transaction, or is told why there is none.
type Job = Box<dyn FnOnce(Result<&Connection, LedgerError>) -> Done + Send>;

/// Work that is done, but whose caller must not know before the transaction's fate is sealed.
struct Done {
    failed: Option<LedgerError>,
    /// Called with what undid the transaction, if anything did.
    tell: Box<dyn FnOnce(Option<LedgerError>) + Send>,
}

impl Writer {
    pub(crate) fn start(conn: Connection) -> Result<Self, LedgerError> {
        let (queue, mut jobs) = mpsc::channel(QUEUE);
        let work = move || {
            while let Some(first) = jobs.blocking_recv() {
                let mut batch = vec![first];
                while batch.len() < BATCH {
                    let Ok(next) = jobs.try_recv() else { break };
                    batch.push(next);
                }
                commit(&conn, batch);
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
        work: impl FnOnce(&Connection) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |conn| {
            let result = conn.and_then(work);
            let failed = result.as_ref().err().cloned();
            // A caller that has gone away needs no answer.
            let tell = move |undone: Option<LedgerError>| drop(reply.send(undone.map_or(result, Err)));
            Done { failed, tell: Box::new(tell) }
        });
        self.queue.send(job).await.map_err(|_| LedgerError::Closed)?;
        answer.await.map_err(|_| LedgerError::Closed)?
    }
}

fn commit(conn: &Connection, jobs: Vec<Job>) {
    let mut undone = execute(conn, "BEGIN IMMEDIATE").err();
    let done: Vec<Done> = jobs.into_iter().map(|job| step(conn, job, &mut undone)).collect();
    if undone.is_none() {
        undone = execute(conn, "COMMIT").err();
    }
    if let Some(error) = &undone {
        tracing::error!(%error, callers = done.len(), "the ledger could not commit");
        if !conn.is_autocommit() {
            drop(execute(conn, "ROLLBACK"));
        }
    }
    for Done { tell, .. } in done {
        tell(undone.clone());
    }
}

/// One piece of work in a savepoint of its own: when it fails, the others of the batch still hold.
fn step(conn: &Connection, job: Job, undone: &mut Option<LedgerError>) -> Done {
    if undone.is_none() {
        *undone = execute(conn, "SAVEPOINT job").err();
    }
    if let Some(error) = undone {
        return job(Err(error.clone()));
    }
    let done = job(Ok(conn));
    let settled = match &done.failed {
        None => execute(conn, "RELEASE job"),
        // A full disk or an I/O error makes SQLite roll back everything, not only this savepoint.
        Some(error) if conn.is_autocommit() => Err(error.clone()),
        Some(error) => {
            tracing::warn!(%error, "work for the ledger failed");
            execute(conn, "ROLLBACK TO job").and_then(|()| execute(conn, "RELEASE job"))
        }
    };
    *undone = settled.err();
    done
}

fn execute(conn: &Connection, sql: &str) -> Result<(), LedgerError> {
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store;
    use std::sync::mpsc as std_mpsc;

    struct Place {
        writer: Writer,
        _dir: tempfile::TempDir,
    }

    fn place() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let conn = store::open_writer(&dir.path().join("ledger.sqlite")).unwrap();
        conn.execute_batch("CREATE TABLE notes (text TEXT NOT NULL)").unwrap();
        Place { writer: Writer::start(conn).unwrap(), _dir: dir }
    }

    impl Place {
        async fn pragma(&self, name: &'static str, value: i64) {
            self.writer.write(move |conn| Ok(conn.pragma_update(None, name, value)?)).await.unwrap();
        }

        async fn note(&self, size: i64) -> Result<(), LedgerError> {
            let sql = "INSERT INTO notes VALUES (hex(randomblob(?1)))";
            self.writer.write(move |conn| Ok(conn.execute(sql, [size]).map(drop)?)).await
        }

        async fn notes(&self) -> i64 {
            let count = |conn: &Connection| Ok(conn.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))?);
            self.writer.write(count).await.unwrap()
        }
    }

    #[tokio::test]
    async fn a_full_disk_is_an_error_until_there_is_space() {
        let place = place();
        // What SQLite does at the end of the disk, it does at the end of its pages.
        place.pragma("max_page_count", 1).await;
        let error = place.note(100_000).await.unwrap_err();
        assert!(matches!(error, LedgerError::DiskFull), "{error}");
        place.pragma("max_page_count", 1_000_000).await;
        place.note(100_000).await.unwrap();
        assert_eq!(place.notes().await, 1);
    }

    #[tokio::test]
    async fn a_read_only_ledger_is_an_error() {
        let place = place();
        place.pragma("query_only", 1).await;
        let error = place.note(1).await.unwrap_err();
        assert!(matches!(error, LedgerError::ReadOnly), "{error}");
    }

    /// Queues the notes while the writer is busy, so that they share one transaction.
    async fn in_one_batch(place: &Place, sizes: &[i64]) -> Vec<bool> {
        let (release, gate) = std_mpsc::channel::<()>();
        let (busy, is_busy) = oneshot::channel();
        let hold = place.writer.write(move |_| {
            let _ = busy.send(());
            let _ = gate.recv();
            Ok(())
        });
        let notes = async {
            is_busy.await.unwrap();
            let mut notes: Vec<_> = sizes.iter().map(|size| Box::pin(place.note(*size))).collect();
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(notes.iter_mut().all(|note| note.as_mut().poll(&mut context).is_pending()));
            drop(release);
            let mut kept = Vec::new();
            for note in notes {
                kept.push(note.await.is_ok());
            }
            kept
        };
        tokio::join!(hold, notes).1
    }

    #[tokio::test]
    async fn work_that_fails_takes_no_other_along() {
        let place = place();
        // hex(randomblob()) of more than a billion bytes is refused: an error of that statement alone.
        assert_eq!(in_one_batch(&place, &[1, 2_000_000_000, 1]).await, [true, false, true]);
        assert_eq!(place.notes().await, 2);
    }

    #[tokio::test]
    async fn what_shares_a_lost_transaction_is_told_so() {
        let place = place();
        place.pragma("max_page_count", 1).await;
        assert_eq!(in_one_batch(&place, &[1, 100_000, 1]).await, [false, false, false]);
        assert_eq!(place.notes().await, 0);
    }
}
