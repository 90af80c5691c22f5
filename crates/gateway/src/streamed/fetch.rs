//! One walk whose result is streamed, step by step.

use super::{Head, NotStreamed, Piece, Reader, Tail, WAITING, Wanted};
use crate::House;
use crate::active::Watch;
use crate::doors::scan::audit::{self, Figures};
use crate::doors::scan::hybrid::Joined;
use crate::doors::scan::results::{KeptResult, Key};
use crate::path::{self, Stop};
use bytes::Bytes;
use domain::{Ask, Caller, Fault, Kind, ResultColumn, Run, Status};
use engines::{Caps, Form, Next, Streaming, Total};
use ledger::{OverQuota, ScanQuota};
use policy::Approved;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A result that is shorter is recorded before any of it is sent. Of a longer one, the first bytes go as soon as they come.
const SMALL: usize = 512 * 1024;

/// A walk, and what it has come to so far.
struct Fetch<'a> {
    house: &'a Arc<House>,
    caller: &'a Caller,
    ask: &'a Ask,
    wanted: Wanted,
    /// What it reads, where that is no source of the house.
    joined: Option<&'a Joined>,
    run: Run,
    began: Instant,
    /// Whether quota is asked for before anything else, also for a result that is at hand.
    asks_first: bool,
    quota: Quota,
    over: Option<OverQuota>,
    /// Bytes that went out.
    sent: u64,
    total: Option<Total>,
    columns: Vec<ResultColumn>,
    /// What is kept back until the run is on record.
    held: Vec<Bytes>,
    /// Whether they were sent before.
    cached: bool,
    /// Of what goes out, where that is a file which somebody keeps.
    digest: Option<Sha256>,
}

/// How far a walk has come with the quota of its actor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quota {
    /// Nothing is asked for yet.
    Open,
    /// Some is set aside, and has to be settled.
    SetAside,
    /// The result is at hand: so many bytes are asked for when it is recorded.
    AtHand(u64),
}

/// All of it, from the check to the last word.
pub async fn walk(
    house: &Arc<House>,
    (caller, ask): (&Caller, &Ask),
    wanted: Wanted,
    joined: Option<&Joined>,
    watch: &Watch,
    reader: &mut Reader,
) {
    house.metrics.scans.began(&caller.actor);
    let begin = || path::begin(caller, ask, watch, house.policy().fingerprint());
    let mut fetch = Fetch::new(house, (caller, ask), wanted, joined, begin());
    let mut recorded = fetch.go(watch, reader).await;
    if let Ok(false) = recorded {
        fetch = Fetch { asks_first: true, ..Fetch::new(house, (caller, ask), wanted, joined, begin()) };
        recorded = fetch.go(watch, reader).await;
    }
    house.metrics.scans.ended(&caller.actor);
    fetch.tell(reader, recorded.map(drop)).await;
}

impl<'a> Fetch<'a> {
    fn new(
        house: &'a Arc<House>,
        (caller, ask): (&'a Caller, &'a Ask),
        wanted: Wanted,
        joined: Option<&'a Joined>,
        run: Run,
    ) -> Self {
        Self {
            house,
            caller,
            ask,
            wanted,
            joined,
            run,
            began: Instant::now(),
            asks_first: false,
            quota: Quota::Open,
            over: None,
            sent: 0,
            total: None,
            columns: Vec::new(),
            held: Vec::new(),
            cached: false,
            digest: (wanted.form == Form::Parquet).then(Sha256::new),
        }
    }

    /// Up to the record; whether it is there.
    async fn go(&mut self, watch: &Watch, reader: &mut Reader) -> Result<bool, Fault> {
        let end = tokio::select! {
            biased;
            // Dropping the steps kills the worker that they hold.
            () = watch.cancel.cancelled() => Ok(Status::Cancelled),
            end = self.steps(watch, reader) => end.map(|()| Status::Succeeded),
        };
        self.conclude(end);
        self.record().await
    }

    async fn steps(&mut self, watch: &Watch, reader: &mut Reader) -> Result<(), Stop> {
        let proposal = self.house.propose(self.caller, self.ask, watch, &mut self.run).await?;
        let approved = match self.joined {
            None => self.house.check(self.caller, &proposal, &mut self.run).await?,
            Some(joined) => {
                let over = (&joined.source, &joined.schema);
                let approved = self.house.check_over(self.caller, over, &proposal, &mut self.run).await?;
                self.run.filtered_by.extend(joined.filtered_by.iter().cloned());
                self.run.filtered_by.sort();
                self.run.filtered_by.dedup();
                approved
            }
        };
        let dataset = self.house.datasets.get(approved.source());
        let source = self.joined.map(|joined| &joined.source).or(dataset.map(|dataset| &dataset.source));
        let source = source.ok_or_else(|| Fault::internal("path.source"))?;
        self.house.note_sandbox(source, &mut self.run);
        let version = source.data_version()?;
        // What one caller was given is nobody's to be shown again; and what the house itself writes to may change twice before
        // its file looks changed.
        let shared = self.joined.is_none() && !source.is_writable();
        let (house, Wanted { form, rows }) = (self.house, self.wanted);
        let key = |bytes| Key::of(&approved, version.clone(), form, rows, bytes).filter(|_| shared);
        let known = |key: Key| Some((house.results.get(&key)?, key));
        let most = approved.limits().bytes;
        if let Some((known, key)) = key(most).and_then(known).filter(|_| !self.asks_first) {
            self.quota = Quota::AtHand(most);
            self.run.dataset_version_hash = self.shown(&approved, key.data_version());
            self.repeat(&known);
            return Ok(());
        }
        let granted = self.set_aside(most).await?;
        let caps = Caps { rows: self.wanted.rows, bytes: granted };
        let key = key(granted);
        if let Some((known, key)) = key.clone().and_then(known) {
            self.run.dataset_version_hash = self.shown(&approved, key.data_version());
            self.repeat(&known);
            return Ok(());
        }
        let start = Instant::now();
        // The only line of the house that gives a statement to an engine to be streamed.
        let streaming = self.house.engines.stream(source, &approved, self.wanted.form, caps, ()).await;
        let mut streaming = streaming.inspect_err(|fault| {
            dataset.into_iter().for_each(|dataset| self.house.note_change(dataset, fault));
        })?;
        self.run.dataset_version_hash = self.shown(&approved, streaming.data_version());
        self.columns = streaming.columns().to_vec();
        // A change between the two looks at the data would file the result under the wrong one.
        let key = key.filter(|key| key.is_of(streaming.data_version()));
        let mut gathered = key.as_ref().map(|_| Vec::new());
        let poured = self.pour(&mut streaming, reader, &mut gathered).await;
        self.run.timings.run_ms = path::milliseconds(start);
        if let (Ok(()), Some(key), Some(pieces), Some(total)) = (&poured, key, gathered, self.total) {
            self.house.results.put(key, KeptResult { pieces, columns: self.columns.clone(), total });
        }
        poured.map_err(Stop::from)
    }

    /// A result that was sent before, and is still right.
    fn repeat(&mut self, known: &KeptResult) {
        self.columns.clone_from(&known.columns);
        self.held.clone_from(&known.pieces);
        self.total = Some(Total { exec_ms: 0.0, ..known.total });
        self.cached = true;
    }

    /// The version of the data, if its reader may know it. A digest of what is shown comes too late for a header.
    fn shown(&self, approved: &Approved, data_version: &str) -> Option<String> {
        approved.sees_all().then(|| data_version.to_owned())
    }

    /// Digests are the house's own wish: they count for nobody, and no quota cuts them.
    fn allowed(&self) -> ScanQuota {
        let settings = &self.house.config.scan;
        if self.wanted.form == Form::Digest {
            return ScanQuota { concurrent: i64::MAX.unsigned_abs(), daily_bytes: i64::MAX.unsigned_abs() };
        }
        ScanQuota { concurrent: settings.max_concurrent_per_user, daily_bytes: settings.max_daily_bytes_per_user }
    }

    async fn set_aside(&mut self, bytes: u64) -> Result<u64, Fault> {
        match self.house.ledger.begin_scan(self.run.run_id, self.caller, bytes, self.allowed()).await? {
            Ok(granted) => {
                self.quota = Quota::SetAside;
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
    ///
    /// They are gathered as well, as long as they are few enough to be kept.
    async fn pour(
        &mut self,
        streaming: &mut Streaming<()>,
        reader: &mut Reader,
        gathered: &mut Option<Vec<Bytes>>,
    ) -> Result<(), Fault> {
        let (mut first, mut came) = (Vec::new(), 0);
        while came < SMALL {
            match streaming.next().await? {
                Next::Bytes(bytes) => {
                    came += bytes.len();
                    first.push(if gathered.is_some() { kept(&bytes) } else { bytes });
                }
                Next::End(total) => {
                    *gathered = gathered.take().map(|_| first.clone());
                    self.held = first;
                    self.total = Some(total);
                    return Ok(());
                }
            }
        }
        self.open(reader, None);
        for bytes in first {
            self.pass_on(bytes, reader, gathered).await?;
        }
        loop {
            match streaming.next().await? {
                Next::Bytes(bytes) if gathered.is_some() => self.pass_on(kept(&bytes), reader, gathered).await?,
                Next::Bytes(bytes) => self.pass_on(bytes, reader, gathered).await?,
                Next::End(total) => {
                    self.total = Some(total);
                    return Ok(());
                }
            }
        }
    }

    async fn pass_on(&mut self, bytes: Bytes, reader: &Reader, gathered: &mut Option<Vec<Bytes>>) -> Result<(), Fault> {
        let length = bytes.len() as u64;
        if self.sent + length > self.house.results.most_of_one() {
            *gathered = None;
        } else if let Some(gathered) = gathered {
            gathered.push(bytes.clone());
        }
        if let Some(digest) = &mut self.digest {
            digest.update(&bytes);
        }
        self.room(reader).await?.send(Ok(Piece::Bytes(bytes)));
        self.sent += length;
        Ok(())
    }

    /// A place for one more piece. A reader that takes none holds up the engine, but not beyond the time of the scan.
    async fn room<'r>(&self, reader: &'r Reader) -> Result<mpsc::Permit<'r, Result<Piece, Fault>>, Fault> {
        let seconds = self.house.config.scan.limits.seconds;
        let left = Duration::from_secs(seconds).saturating_sub(self.began.elapsed());
        match tokio::time::timeout(left, reader.room()).await {
            Ok(room) => room.ok_or_else(gone),
            Err(_) => {
                let message = format!("the scan took longer than {seconds} s, and its reader did not read");
                Err(Fault::new(Kind::Timeout, "engine.timeout", message).hint("read faster, or fetch less"))
            }
        }
    }

    fn open(&self, reader: &mut Reader, tail: Option<Tail>) {
        let (pieces, received) = mpsc::channel(WAITING);
        let head = Head {
            run_id: self.run.run_id,
            columns: self.columns.clone(),
            filtered_by: self.run.filtered_by.clone(),
            data_version: self.run.dataset_version_hash.clone(),
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
                let refused = self.quota == Quota::Open && !path::is_ours(&fault);
                path::fail(run, if refused { Status::Refused } else { Status::Failed }, fault);
            }
        }
        self.sent += self.held.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        run.exec_time_ms = self.total.map(|total| total.exec_ms);
        if self.quota != Quota::Open {
            let digest = self.digest.take().filter(|_| self.total.is_some()).map(|mut digest| {
                self.held.iter().for_each(|bytes| digest.update(bytes));
                hex::encode(digest.finalize())
            });
            run.result_json = audit::result(&self.columns, self.total, self.sent, self.cached, digest);
        }
    }

    /// False, and nothing is on record, where a result is at hand that the quota does not cover.
    async fn record(&self) -> Result<bool, Fault> {
        let figures = Figures {
            latency: self.began.elapsed(),
            rows: self.total.map(|total| total.rows),
            bytes: (self.quota != Quota::Open).then_some(self.sent),
            truncated: self.total.is_some_and(|total| total.truncated),
            over_quota: self.over.is_some(),
            estimated_scan_bytes: self.estimated_scan_bytes(),
        };
        let event = audit::event(self.ask, &self.run, &figures);
        let ledger = &self.house.ledger;
        let recorded = match self.quota {
            Quota::SetAside => ledger.end_scan(&self.run, self.sent, event).await.map(|()| true),
            Quota::Open => ledger.refuse_scan(&self.run, event).await.map(|()| true),
            Quota::AtHand(most) => ledger.record_whole_scan(&self.run, (most, self.sent), self.allowed(), event).await,
        };
        if let Ok(false) = recorded {
            return Ok(false);
        }
        self.house.metrics.ran(&self.run);
        self.house.metrics.scans.done(&self.run.actor, figures.status(&self.run), self.sent, figures.latency);
        path::log(&self.run);
        recorded.map_err(|error| {
            tracing::error!(%error, run_id = %self.run.run_id, "run cannot be recorded");
            Fault::from(error)
        })
    }

    fn estimated_scan_bytes(&self) -> Option<u64> {
        let figures = self.held.first().filter(|_| self.wanted.form == Form::Estimate)?;
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
        let bytes = std::mem::take(&mut self.held).into_iter().map(|bytes| Ok(Piece::Bytes(bytes)));
        for piece in bytes.chain([end.map(Piece::Tail)]) {
            match self.room(reader).await {
                Ok(room) => room.send(piece),
                // Nobody reads any more. The record has it.
                Err(_) => return,
            }
        }
    }
}

/// A copy, to be sent and to be sent again: what came may be a pane of its worker's window, which the worker waits for and
/// could change meanwhile.
fn kept(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// Nobody is there to read.
fn gone() -> Fault {
    Fault::new(Kind::Unavailable, "request.cancelled", "the scan was taken back before it ended")
}
