//! Groups that fail, in whole and in part.

use super::*;
use std::sync::{Mutex, mpsc as std_mpsc};
use tokio::sync::oneshot;

struct Place {
    writer: Writer,
    _dir: tempfile::TempDir,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let conn = file::open_writer(&dir.path().join("ledger.sqlite")).unwrap();
    conn.0.execute_batch("CREATE TABLE notes (text TEXT NOT NULL)").unwrap();
    Place { writer: Writer::start(move |tasks| commit(&conn, tasks)).unwrap(), _dir: dir }
}

impl Place {
    async fn pragma(&self, name: &'static str, value: i64) {
        let sql = format!("PRAGMA {name} = {value}");
        self.writer.write(move |conn| conn.query(&sql, &[]).map(drop)).await.unwrap();
    }

    async fn note(&self, size: i64) -> Result<(), LedgerError> {
        let sql = "INSERT INTO notes VALUES (hex(randomblob($1)))";
        self.writer.write(move |conn| conn.execute(sql, &[size.into()]).map(drop)).await
    }

    async fn notes(&self) -> i64 {
        let count = |conn: &dyn Conn| conn.only("SELECT count(*) AS notes FROM notes", &[])?.get("notes");
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
    let (busy, gate) = (Mutex::new(Some(busy)), Mutex::new(gate));
    let hold = place.writer.write(move |_| {
        let _ = busy.lock().unwrap().take().unwrap().send(());
        let _ = gate.lock().unwrap().recv();
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
