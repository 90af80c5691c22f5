//! The one path, for results that are sent while they are made.
//!
//! ```text
//! identify ─► plan ─► check ─► set aside ─► run ═► reply ═► record
//! ```
//!
//! The steps are those of [`crate::path`]. What differs is the end: a quota is set aside in the ledger before anything
//! runs, which also says that the run has begun; bytes go out while the engine makes them; the record is complete before
//! the last of them does. A small result is recorded before its first byte goes.

mod fetch;

use crate::House;
use crate::active::Watch;
use crate::doors::scan::hybrid::Joined;
use bytes::Bytes;
use domain::{Ask, Caller, Fault, ResultColumn, RunId};
use engines::Form;
use futures_util::FutureExt;
use ledger::OverQuota;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::DropGuard;

/// Frames that may wait for a slow reader; then the engine waits.
const WAITING: usize = 2;

/// A result on its way. Dropping it ends the run.
#[derive(Debug)]
pub struct Streamed {
    pub head: Head,
    pieces: mpsc::Receiver<Result<Piece, Fault>>,
    _guard: DropGuard,
}

/// What a result is wanted as, and how much of it.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub form: Form,
    /// Besides the caps that hold anyway.
    pub rows: u64,
}

impl Wanted {
    pub fn all(form: Form) -> Self {
        Self { form, rows: u64::MAX }
    }
}

/// What is known before the first byte.
#[derive(Debug, Clone)]
pub struct Head {
    pub run_id: RunId,
    pub columns: Vec<ResultColumn>,
    pub filtered_by: Vec<String>,
    /// For who may see all of the data.
    pub data_version: Option<String>,
    /// Known already, if the result is small.
    pub tail: Option<Tail>,
}

/// What is known after the last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    pub rows: u64,
    pub bytes: u64,
    pub truncated: bool,
}

#[derive(Debug)]
pub enum Piece {
    Bytes(Bytes),
    Tail(Tail),
}

/// Why there is no result.
#[derive(Debug)]
pub enum NotStreamed {
    Fault(Fault),
    OverQuota(OverQuota),
}

impl From<Fault> for NotStreamed {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Streamed {
    /// The next piece; none after the tail.
    pub async fn next(&mut self) -> Option<Result<Piece, Fault>> {
        self.pieces.recv().await
    }

    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Piece, Fault>>> {
        self.pieces.poll_recv(context)
    }

    /// Everything, for small results.
    pub async fn whole(mut self) -> Result<(Vec<u8>, Tail), Fault> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next().await {
            match piece? {
                Piece::Bytes(more) => bytes.extend_from_slice(&more),
                Piece::Tail(tail) => return Ok((bytes, tail)),
            }
        }
        Err(Fault::internal("stream.cut"))
    }
}

type Beginning = Result<(Head, mpsc::Receiver<Result<Piece, Fault>>), NotStreamed>;

/// Whoever waits for the result: first for its head, then for pieces.
struct Reader {
    head: Option<oneshot::Sender<Beginning>>,
    pieces: Option<mpsc::Sender<Result<Piece, Fault>>>,
}

impl Reader {
    fn refuse(&mut self, why: NotStreamed) {
        if let Some(head) = self.head.take() {
            // Whoever has gone needs no answer.
            drop(head.send(Err(why)));
        }
    }

    /// Room for one more piece, as soon as there is some. None when nobody reads any more.
    async fn room(&self) -> Option<mpsc::Permit<'_, Result<Piece, Fault>>> {
        self.pieces.as_ref()?.reserve().await.ok()
    }
}

impl House {
    /// Sends a request on its way whose result is streamed; answers when its first bytes are there.
    pub async fn stream(self: &Arc<Self>, caller: Caller, ask: Ask, wanted: Wanted) -> Result<Streamed, NotStreamed> {
        self.stream_over(caller, ask, wanted, None).await
    }

    /// The same, over a source that exists for this request alone.
    pub async fn stream_over(
        self: &Arc<Self>,
        caller: Caller,
        ask: Ask,
        wanted: Wanted,
        joined: Option<Joined>,
    ) -> Result<Streamed, NotStreamed> {
        self.disk.admit()?;
        let watch = Watch::new(&caller);
        let guard = watch.cancel.clone().drop_guard();
        self.active.insert(watch.clone());
        let (head, heard) = oneshot::channel();
        let house = self.clone();
        self.tasks.spawn(async move {
            let mut reader = Reader { head: Some(head), pieces: None };
            let walked =
                AssertUnwindSafe(fetch::walk(&house, (&caller, &ask), wanted, joined.as_ref(), &watch, &mut reader))
                    .catch_unwind()
                    .await;
            house.active.remove(watch.run_id);
            if walked.is_err() {
                reader.refuse(Fault::internal("path.panic").into());
            }
        });
        match heard.await {
            Ok(Ok((head, pieces))) => Ok(Streamed { head, pieces, _guard: guard }),
            Ok(Err(why)) => Err(why),
            Err(_) => Err(Fault::internal("path.task").into()),
        }
    }
}
