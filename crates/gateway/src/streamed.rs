//! The one path, for results that are sent while they are made.
//!
//! ```text
//! identify ─► plan ─► check ─► set aside ─► run ═► reply ═► record
//! ```
//!
//! The steps are those of [`crate::path`]. What differs is the end: a quota is set aside in the ledger before anything
//! runs, which also says that the run has begun; bytes go out while the engine makes them; the record is complete before
//! the last of them does. A small result is recorded before its first byte goes.

use crate::House;
use crate::active::Watch;
use crate::doors::scan::audit::{self, Figures};
use crate::path::{self, Stop};
use bytes::Bytes;
use domain::{Ask, Caller, Fault, Kind, ResultColumn, Run, RunId, Status};
use engines::{Caps, Form, Next, Streaming, Total};
use futures_util::FutureExt;
use ledger::{OverQuota, ScanQuota};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::DropGuard;

/// Frames that may wait for a slow reader; then the engine waits.
const WAITING: usize = 2;
/// A worker's first frame is shorter than this only if it is the last as well.
const FRAME: usize = 1024 * 1024;

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
    pub data_version: String,
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

/// A walk, and what it has come to so far.
struct Fetch<'a> {
    house: &'a Arc<House>,
    caller: &'a Caller,
    ask: &'a Ask,
    wanted: Wanted,
    run: Run,
    began: Instant,
    /// Whether a quota is set aside that has to be settled.
    begun: bool,
    over: Option<OverQuota>,
    /// Bytes that went out.
    sent: u64,
    total: Option<Total>,
    columns: Vec<ResultColumn>,
    /// What is kept back until the run is on record.
    held: Option<Bytes>,
}

impl House {
    /// Sends a request on its way whose result is streamed; answers when its first bytes are there.
    pub async fn stream(self: &Arc<Self>, caller: Caller, ask: Ask, wanted: Wanted) -> Result<Streamed, NotStreamed> {
        let watch = Watch::new(&caller);
        let guard = watch.cancel.clone().drop_guard();
        self.active.insert(watch.clone());
        let (head, heard) = oneshot::channel();
        let house = self.clone();
        self.tasks.spawn(async move {
            let mut reader = Reader { head: Some(head), pieces: None };
            let walked = AssertUnwindSafe(house.fetch(&caller, &ask, wanted, &watch, &mut reader)).catch_unwind().await;
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

    async fn fetch(self: &Arc<Self>, caller: &Caller, ask: &Ask, wanted: Wanted, watch: &Watch, reader: &mut Reader) {
        let run = path::begin(caller, ask, watch, self.policy().fingerprint());
        let mut fetch = Fetch {
            house: self,
            caller,
            ask,
            wanted,
            run,
            began: Instant::now(),
            begun: false,
            over: None,
            sent: 0,
            total: None,
            columns: Vec::new(),
            held: None,
        };
        self.metrics.scans.began(&caller.actor);
        let end = tokio::select! {
            biased;
            // Dropping the steps kills the worker that they hold.
            () = watch.cancel.cancelled() => Ok(Status::Cancelled),
            end = fetch.steps(reader) => end.map(|()| Status::Succeeded),
        };
        fetch.conclude(end);
        let recorded = fetch.record().await;
        self.metrics.scans.ended(&caller.actor);
        fetch.tell(reader, recorded).await;
    }
}

impl Fetch<'_> {
    async fn steps(&mut self, reader: &mut Reader) -> Result<(), Stop> {
        let proposal = self.house.propose(self.caller, self.ask, &mut self.run).await?;
        let approved = self.house.check(self.caller, &proposal, &mut self.run).await?;
        let granted = self.set_aside(approved.limits().bytes).await?;
        let dataset = self.house.datasets.get(approved.source()).ok_or_else(|| Fault::internal("path.source"))?;
        let sandbox = self.house.engines.sandbox();
        self.run.sandbox_tier = Some(sandbox.tier.to_string());
        self.run.unenforced.clone_from(&sandbox.unenforced);
        let start = Instant::now();
        // The only line of the house that gives a statement to an engine to be streamed.
        let caps = Caps { rows: self.wanted.rows, bytes: granted };
        let mut streaming = self.house.engines.stream(&dataset.source, &approved, self.wanted.form, caps, ()).await?;
        self.run.dataset_version_hash = Some(streaming.data_version().to_owned());
        self.columns = streaming.columns().to_vec();
        let poured = self.pour(&mut streaming, reader).await;
        self.run.timings.run_ms = path::milliseconds(start);
        poured.map_err(Stop::from)
    }

    async fn set_aside(&mut self, bytes: u64) -> Result<u64, Fault> {
        let settings = &self.house.config.scan;
        let quota =
            ScanQuota { concurrent: settings.max_concurrent_per_user, daily_bytes: settings.max_daily_bytes_per_user };
        match self.house.ledger.begin_scan(self.run.run_id, self.caller, bytes, quota).await? {
            Ok(granted) => {
                self.begun = true;
                Ok(granted)
            }
            Err(over) => {
                self.over = Some(over);
                let message =
                    format!("the quota `{}` is used up: {} of {}", over.kind.as_str(), over.current, over.limit);
                Err(Fault::new(Kind::RateLimited, "scan.quota_exceeded", message))
            }
        }
    }

    /// Forwards pieces as fast as they are read, and no faster.
    async fn pour(&mut self, streaming: &mut Streaming<()>, reader: &mut Reader) -> Result<(), Fault> {
        let first = match streaming.next().await? {
            Next::Bytes(first) => first,
            Next::End(total) => return Ok(self.total = Some(total)),
        };
        if first.len() < FRAME
            && let Next::End(total) = streaming.next().await?
        {
            self.held = Some(first);
            self.total = Some(total);
            return Ok(());
        }
        self.open(reader, None);
        let mut next = Next::Bytes(first);
        loop {
            match next {
                Next::Bytes(bytes) => {
                    let length = bytes.len() as u64;
                    let Some(room) = reader.room().await else { return Err(gone()) };
                    room.send(Ok(Piece::Bytes(bytes)));
                    self.sent += length;
                }
                Next::End(total) => return Ok(self.total = Some(total)),
            }
            next = streaming.next().await?;
        }
    }

    fn open(&self, reader: &mut Reader, tail: Option<Tail>) {
        let (pieces, received) = mpsc::channel(WAITING);
        let head = Head {
            run_id: self.run.run_id,
            columns: self.columns.clone(),
            filtered_by: self.run.filtered_by.clone(),
            data_version: self.run.dataset_version_hash.clone().unwrap_or_default(),
            tail,
        };
        reader.pieces = Some(pieces);
        if let Some(waiting) = reader.head.take() {
            drop(waiting.send(Ok((head, received))));
        }
    }

    fn conclude(&mut self, end: Result<Status, Stop>) {
        let run = &mut self.run;
        match end {
            Ok(Status::Succeeded) => {
                run.status = Status::Succeeded;
                run.assistant_message = "Sent.".to_owned();
            }
            Ok(status) => {
                run.status = status;
                run.assistant_message = "Cancelled.".to_owned();
            }
            Err(Stop::Clarify(_)) => path::fail(run, Status::Failed, Fault::internal("path.clarify")),
            Err(Stop::Fault(fault)) => {
                let refused = !self.begun && !path::is_ours(&fault);
                path::fail(run, if refused { Status::Refused } else { Status::Failed }, fault);
            }
        }
        self.sent += self.held.as_ref().map_or(0, |bytes| bytes.len() as u64);
        run.exec_time_ms = self.total.map(|total| total.exec_ms);
        if self.begun {
            run.result_json = audit::result(&self.columns, self.total, self.sent);
        }
    }

    async fn record(&self) -> Result<(), Fault> {
        let figures = Figures {
            latency: self.began.elapsed(),
            rows: self.total.map(|total| total.rows),
            bytes: self.begun.then_some(self.sent),
            truncated: self.total.is_some_and(|total| total.truncated),
            over_quota: self.over.is_some(),
            estimated_scan_bytes: self.estimated_scan_bytes(),
        };
        let event = audit::event(self.ask, &self.run, &figures);
        self.house.metrics.ran(&self.run);
        self.house.metrics.scans.done(&self.run.actor, figures.status(&self.run), self.sent, figures.latency);
        path::log(&self.run);
        let recorded = match self.begun {
            true => self.house.ledger.end_scan(&self.run, self.sent, event).await,
            false => self.house.ledger.refuse_scan(&self.run, event).await,
        };
        recorded.map_err(|error| {
            tracing::error!(%error, run_id = %self.run.run_id, "run cannot be recorded");
            Fault::from(error)
        })
    }

    fn estimated_scan_bytes(&self) -> Option<u64> {
        let figures = self.held.as_ref().filter(|_| self.wanted.form == Form::Estimate)?;
        serde_json::from_slice::<engines::Estimate>(figures).ok()?.scan_bytes
    }

    /// The last word: what was held back and the tail, or what went wrong.
    async fn tell(&mut self, reader: &mut Reader, recorded: Result<(), Fault>) {
        let tail = self.total.map(|t| Tail { rows: t.rows, bytes: self.sent, truncated: t.truncated });
        let end = match (recorded, self.run.error_json.take(), tail) {
            (Err(fault), _, _) | (Ok(()), Some(fault), _) => Err(fault),
            (Ok(()), None, Some(tail)) => Ok(tail),
            (Ok(()), None, None) => Err(gone()),
        };
        if reader.pieces.is_none() {
            match (&end, self.over) {
                (Err(_), Some(over)) => return reader.refuse(NotStreamed::OverQuota(over)),
                (Err(fault), None) => return reader.refuse(fault.clone().into()),
                (Ok(tail), _) => self.open(reader, Some(*tail)),
            }
        }
        let bytes = self.held.take().map(|bytes| Ok(Piece::Bytes(bytes)));
        for piece in bytes.into_iter().chain([end.map(Piece::Tail)]) {
            match reader.room().await {
                Some(room) => room.send(piece),
                None => return,
            }
        }
    }
}

/// Nobody is there to read.
fn gone() -> Fault {
    Fault::new(Kind::Unavailable, "request.cancelled", "the scan was taken back before it ended")
}
