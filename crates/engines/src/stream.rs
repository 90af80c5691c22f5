//! Results that are handed on while they are made.
//!
//! The worker writes, the server forwards, and neither holds more than a few frames: who takes no more pieces stops the
//! engine, and who drops the [`Streaming`] kills its worker, or cancels the statement on another machine.

use crate::client::Piece;
use crate::fault;
use crate::places::{Attempt, Place};
use crate::pool::{Engines, Profile, Work};
use crate::protocol::{Form, Queried, Query};
use crate::remote::Pieces;
use crate::source::{Source, SourceKind};
use bytes::Bytes;
use domain::{Fault, ResultColumn};
use policy::Approved;
use std::future::pending;
use std::pin::pin;
use std::time::{Duration, Instant};

/// A statement that takes longer gives way to those that do not.
const SHORT: Duration = Duration::from_millis(20);
/// Beyond the cap that the worker itself keeps, for the frames around the rows.
const SLACK: u64 = 4 * 1024 * 1024;

/// A statement at work, piece by piece.
pub struct Streaming<T: Send + 'static> {
    work: Option<At<T>>,
    columns: Vec<ResultColumn>,
    data_version: String,
    began: Instant,
    /// When it had waited for its place and worker.
    at_work: Instant,
    seconds: u64,
    gave_way: bool,
    /// Bytes that came so far, and those after which the worker is not believed any more.
    came: u64,
    most: u64,
    /// Whether there may be rows that its caller may not see.
    hides_rows: bool,
}

/// Where a statement is at work.
enum At<T: Send + 'static> {
    Worker(Box<Work<T>>),
    /// On another machine. The turn is kept with it, and where they are shared out a place.
    Elsewhere(Pieces, Option<Place>, T),
}

/// How much is wanted or granted, whatever more policy allows.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    pub rows: u64,
    pub bytes: u64,
}

/// What comes next.
#[derive(Debug)]
pub enum Next {
    Bytes(Bytes),
    /// Nothing more. The worker is somebody else's from here on.
    End(Total),
}

/// What it all came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Total {
    pub rows: u64,
    /// In the form that was wanted, as they were sent.
    pub bytes: u64,
    pub truncated: bool,
    pub exec_ms: f64,
}

impl Engines {
    /// Begins what policy has approved, within its limits and these caps. The columns are known when this returns.
    ///
    /// `turn` is kept as long as the statement runs, and after a failure until its worker has been replaced.
    pub async fn stream<T: Send + 'static>(
        &self,
        source: &Source,
        approved: &Approved,
        form: Form,
        caps: Caps,
        turn: T,
    ) -> Result<Streaming<T>, Fault> {
        if approved.source() != source.name || approved.change().is_some() {
            // It was checked against the tables of another source, or is no read.
            return Err(Fault::internal("engine.source"));
        }
        let limits = approved.limits();
        let query = Query {
            sql: approved.sql().to_owned(),
            params: approved.params().to_vec(),
            rows: limits.rows.min(caps.rows),
            bytes: limits.bytes.min(caps.bytes),
            form,
            tables: approved.tables().to_vec(),
            announce: true,
            filtered: approved.hides_rows(),
            sees_all: approved.sees_all(),
            // Only what is passed on as it comes: nobody here reads it twice, or decides by it.
            window: form == Form::Arrow,
        };
        let most = match form {
            // Text is cut at the end of a block of rows, and may be longer than what it says.
            Form::Csv | Form::Json => query.bytes.saturating_mul(2).saturating_add(64 * SLACK),
            _ => query.bytes.saturating_mul(2).saturating_add(SLACK),
        };
        let began = Instant::now();
        let begun = self.begin(source, approved, query, turn).await;
        let (work, data_version) = begun.map_err(|fault| fault::on_data(approved.hides_rows(), fault))?;
        let mut streaming = Streaming {
            work: Some(work),
            columns: Vec::new(),
            data_version,
            began,
            at_work: Instant::now(),
            seconds: limits.seconds,
            gave_way: false,
            came: 0,
            most,
            hides_rows: approved.hides_rows(),
        };
        match streaming.piece().await? {
            Piece::Columns(columns) => streaming.columns = columns,
            _ => return Err(Fault::internal("engine.protocol")),
        }
        Ok(streaming)
    }

    /// Gives the statement to whoever runs it; also says which state of the data it reads.
    async fn begin<T: Send + 'static>(
        &self,
        source: &Source,
        approved: &Approved,
        query: Query,
        turn: T,
    ) -> Result<(At<T>, String), Fault> {
        if let Some(remote) = self.remote(source)? {
            let seconds = approved.limits().seconds;
            let place = remote.place(approved, Attempt::First).await?;
            let beginning = tokio::time::timeout(Duration::from_secs(seconds), remote.begin(approved, query));
            let pieces = tokio::select! {
                pieces = beginning => pieces.map_err(|_| fault::timeout(seconds))??,
                () = needed(place.as_ref()) => return Err(fault::busy()),
            };
            return Ok((At::Elsewhere(pieces, place, turn), source.data_version()?));
        }
        let profile = if matches!(source.kind, SourceKind::Joined { .. }) { Profile::Joined } else { Profile::Scan };
        let mut work = self.work(source, approved, (profile, Attempt::First), turn).await?;
        let worker = work.worker.get()?;
        let data_version = worker.data_version.clone();
        let begun = worker.begin(query).await;
        work.worker.understand(begun)?;
        Ok((At::Worker(Box::new(work)), data_version))
    }
}

impl<T: Send + 'static> Streaming<T> {
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Which state of the data is read.
    pub fn data_version(&self) -> &str {
        &self.data_version
    }

    /// The next piece. Any failure, the time running out among them, kills the worker.
    pub async fn next(&mut self) -> Result<Next, Fault> {
        match self.piece().await? {
            Piece::Bytes(bytes) => {
                self.came += bytes.len() as u64;
                if self.came > self.most {
                    self.work = None;
                    return Err(Fault::internal("engine.protocol"));
                }
                Ok(Next::Bytes(bytes))
            }
            Piece::Done(Queried { row_count, truncated, exec_ms, .. }) => {
                if let At::Worker(mut work) = self.work.take().ok_or_else(over)? {
                    if self.gave_way {
                        work.worker.get()?.weight().reset();
                    }
                    work.done()?;
                }
                Ok(Next::End(Total { rows: row_count, bytes: self.came, truncated, exec_ms }))
            }
            Piece::Columns(_) => Err(Fault::internal("engine.protocol")),
        }
    }

    async fn piece(&mut self) -> Result<Piece, Fault> {
        let hides_rows = self.hides_rows;
        self.raw_piece().await.map_err(|fault| fault::on_data(hides_rows, fault))
    }

    async fn raw_piece(&mut self) -> Result<Piece, Fault> {
        let mut work = self.work.take().ok_or_else(over)?;
        let left = Duration::from_secs(self.seconds).saturating_sub(self.began.elapsed());
        let seconds = self.seconds;
        let late = move |_| fault::timeout(seconds);
        let piece = match &mut work {
            At::Worker(work) => {
                let piece = {
                    let weight = work.worker.get()?.weight();
                    let mut piece = pin!(tokio::time::timeout(left, work.worker.get()?.piece()));
                    loop {
                        // A statement may take its time before its first piece: giving way cannot wait for that.
                        let short = SHORT.saturating_sub(self.at_work.elapsed());
                        tokio::select! {
                            piece = &mut piece => break piece,
                            () = work.place.needed() => return Err(fault::busy()),
                            () = tokio::time::sleep(short), if !self.gave_way => {
                                weight.give_way();
                                self.gave_way = true;
                            }
                        }
                    }
                };
                work.worker.understand(piece.map_err(late)?)?
            }
            At::Elsewhere(pieces, place, _) => tokio::select! {
                piece = tokio::time::timeout(left, pieces.next()) => piece.map_err(late)??,
                () = needed(place.as_ref()) => return Err(fault::busy()),
            },
        };
        // Only what answered is kept: otherwise it ends here.
        self.work = Some(work);
        Ok(piece)
    }
}

/// Returns when the place of a statement on another machine is needed by a short one.
async fn needed(place: Option<&Place>) {
    match place {
        Some(place) => place.needed().await,
        None => pending().await,
    }
}

/// Somebody asks for more after the end.
fn over() -> Fault {
    Fault::internal("engine.stream_over")
}
