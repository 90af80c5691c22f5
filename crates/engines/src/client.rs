//! The server's end of one worker.

use crate::protocol::{
    Change, CopyOut, Done, Failed, MAX_FRAME, Open, OpenEngine, OpenTable, Queried, Query, Request, TAG_ARROW,
    TAG_COLUMNS, TAG_DONE, TAG_FAILED, TAG_REQUEST, TAG_WINDOW,
};
use crate::source::{FileTable, Source, SourceKind};
use crate::{fault, worker};
use bytes::{Bytes, BytesMut};
use domain::{Fault, Kind, ResultColumn, SourceSchema};
use sandbox::{Death, Jail, JailLimits, Jailed, Sandbox, View};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// Opening reads whole CSV and JSON files once, to find their types.
const OPEN_TIMEOUT: Duration = Duration::from_secs(60);
/// Beyond the cap that the worker itself keeps: a worker that sends more is not believed any more.
const SLACK: u64 = 4 * 1024 * 1024;
/// Bytes that a worker may write ahead of the server.
const PIPE: usize = 1024 * 1024;
/// Bytes read at once while it is not known yet how many come.
const HEADS: usize = 16 * 1024;
/// A statement that takes longer gives way to those that do not.
const SHORT: Duration = Duration::from_millis(20);

/// What a worker may use.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub jail: JailLimits,
    /// Of DuckDB; one is enough for small questions.
    pub threads: u32,
    /// Whether it is to write.
    pub writes: bool,
    /// Whether its results are large.
    pub window: bool,
    /// Rows are hidden from its statements.
    pub hides_rows: bool,
}

pub struct Worker {
    jailed: Jailed,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    pub born: Instant,
    pub served: u32,
    /// Which state of the data it opened.
    pub data_version: String,
    /// Whether the result of its statement may come through its window.
    windowed: bool,
}

/// The hot copies of a source's tables, by table.
pub type Copies = BTreeMap<String, PathBuf>;

/// What a worker says while it runs a statement.
pub enum Piece {
    Columns(Vec<ResultColumn>),
    Bytes(Bytes),
    Done(Queried),
}

/// Why a request to a worker failed, and whether the worker can be used again.
pub enum Lost {
    Told(Failed),
    Broken(io::Error),
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl Worker {
    /// Starts a worker that can read this source, the copies of its tables, and nothing else; opens the source in it.
    ///
    /// `unhurried` is for one that nobody waits for.
    pub async fn start(
        sandbox: Arc<Sandbox>,
        source: &Source,
        (copies, data_version): (&Copies, String),
        room: Room,
        unhurried: bool,
    ) -> Result<Self, Fault> {
        let mut jail = Jail { limits: room.jail, window: room.window, unhurried, ..cell(source, room.writes) };
        jail.read.extend(copies.values().cloned());
        let mut worker = Self::spawn(sandbox, jail, data_version).await?;
        worker.open(source, copies, &room).await?;
        if unhurried {
            worker.jailed.weight().reset();
        }
        Ok(worker)
    }

    /// Has a table copied in a jail of its own, and writes down what comes out of it.
    pub async fn copy_out(
        sandbox: Arc<Sandbox>,
        table: &FileTable,
        room: Room,
        most: u64,
        into: &mut tokio::fs::File,
    ) -> Result<(), Fault> {
        // Its engine locks the copy that it makes. No statement of a caller runs in there.
        let read = vec![table.path.clone()];
        let jail = Jail { read, limits: room.jail, unhurried: true, locks: true, ..Jail::default() };
        let mut worker = Self::spawn(sandbox, jail, String::new()).await?;
        let path = worker.jailed.inside(&table.path).ok_or_else(|| Fault::internal("engine.paths"))?;
        let to = worker.jailed.tmp().join("copy.duckdb");
        let memory_bytes = room.jail.memory_bytes.saturating_sub(most);
        let request = Request::Copy(CopyOut { path, to, memory_bytes, threads: room.threads });
        let copied = worker.forward(&request, most, into).await;
        match copied {
            Ok(()) => {
                worker.kill();
                Ok(())
            }
            Err(Lost::Told(failed)) => Err(fault::from_worker(&failed)),
            Err(Lost::Broken(error)) => Err(worker.autopsy(&error)),
        }
    }

    async fn forward(&mut self, request: &Request, most: u64, into: &mut tokio::fs::File) -> Result<(), Lost> {
        self.send(request).await?;
        let mut came = 0;
        loop {
            let (tag, payload) = self.frame().await?;
            came += payload.len() as u64;
            match tag {
                TAG_ARROW if came <= most => into.write_all(&payload).await?,
                TAG_DONE => return Ok(into.sync_all().await?),
                TAG_FAILED => return Err(Lost::Told(serde_json::from_slice(&payload).map_err(io::Error::from)?)),
                _ => return Err(unexpected().into()),
            }
        }
    }

    async fn spawn(sandbox: Arc<Sandbox>, jail: Jail, data_version: String) -> Result<Self, Fault> {
        let jailed = tokio::task::spawn_blocking(move || sandbox.spawn(&jail, &[]))
            .await
            .map_err(|_| Fault::internal("engine.spawn"))?
            .map_err(|error| {
                tracing::error!(%error, "no worker");
                Fault::from(&error)
            })?;
        Self::adopt(jailed, data_version).map_err(|e| lost("worker pipes", &e))
    }

    fn adopt(mut jailed: Jailed, data_version: String) -> io::Result<Self> {
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "a pipe of the worker is missing");
        let stdin = ChildStdin::from_std(jailed.stdin.take().ok_or_else(gone)?)?;
        let stdout = jailed.stdout.take().ok_or_else(gone)?;
        // Whole frames fit then. Where many pipes are large already, the usual size has to do.
        let _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE);
        let stdout = ChildStdout::from_std(stdout)?;
        let stderr = ChildStderr::from_std(jailed.stderr.take().ok_or_else(gone)?)?;
        tokio::spawn(log_stderr(stderr));
        // Small, for heads and short answers: what is longer goes past it into its place.
        let stdout = BufReader::with_capacity(HEADS, stdout);
        Ok(Self { jailed, stdin, stdout, born: Instant::now(), served: 0, data_version, windowed: false })
    }

    async fn open(&mut self, source: &Source, copies: &Copies, room: &Room) -> Result<(), Fault> {
        let engine = self.engine(&source.kind, copies, room.writes).ok_or_else(|| Fault::internal("engine.paths"))?;
        let Room { jail, threads, hides_rows, .. } = *room;
        let request = Request::Open(Open { engine, memory_bytes: jail.memory_bytes, threads, hides_rows });
        match tokio::time::timeout(OPEN_TIMEOUT, self.ask(&request, SLACK)).await {
            Ok(Ok((Done::Opened, _))) => Ok(()),
            Ok(Ok(_)) => Err(Fault::internal("engine.protocol")),
            Ok(Err(Lost::Told(failed))) => {
                tracing::warn!(source = source.name, reason = failed.message, "source cannot be opened");
                Err(fault::from_worker(&failed))
            }
            Ok(Err(Lost::Broken(error))) => Err(match self.autopsy(&error) {
                fault if fault.kind == Kind::ResourceExceeded => fault,
                _ => fault::crashed_on_opening(&source.name),
            }),
            Err(_) => Err(fault::timeout(OPEN_TIMEOUT.as_secs())),
        }
    }

    fn engine(&self, kind: &SourceKind, copies: &Copies, writes: bool) -> Option<OpenEngine> {
        let open = |table: &FileTable| {
            let copy = copies.get(&table.table).and_then(|copy| self.jailed.inside(copy));
            Some(OpenTable { name: table.table.clone(), path: self.jailed.inside(&table.path)?, copy })
        };
        Some(match kind {
            SourceKind::Files(tables) => OpenEngine::Files(tables.iter().map(open).collect::<Option<_>>()?),
            SourceKind::Sqlite(path) => OpenEngine::Sqlite(self.jailed.inside(path)?),
            SourceKind::Joined { local, parts } => {
                OpenEngine::Files(local.iter().chain(parts).map(open).collect::<Option<_>>()?)
            }
            SourceKind::SqliteWritable(path) if writes => OpenEngine::SqliteWriter(self.jailed.inside(path)?),
            SourceKind::SqliteWritable(path) => OpenEngine::SqliteLive(self.jailed.inside(path)?),
            // No worker reads it.
            SourceKind::Postgres(_) | SourceKind::Flight(_) | SourceKind::BigQuery(_) | SourceKind::Rest(_) => {
                return None;
            }
        })
    }

    pub async fn describe(&mut self) -> Result<SourceSchema, Lost> {
        match self.ask(&Request::Describe, SLACK).await? {
            (Done::Described(schema), _) => Ok(schema),
            _ => Err(unexpected().into()),
        }
    }

    pub async fn query(&mut self, query: Query) -> Result<(Queried, Bytes), Lost> {
        let most = query.bytes.saturating_mul(2).saturating_add(SLACK);
        self.served += 1;
        let weight = self.jailed.weight();
        let request = Request::Query(query);
        let mut asked = pin!(self.ask(&request, most));
        let answer = match tokio::time::timeout(SHORT, &mut asked).await {
            Ok(answer) => answer,
            Err(_) => {
                weight.give_way();
                let answer = asked.await;
                weight.reset();
                answer
            }
        };
        match answer? {
            (Done::Queried(queried), arrow) => Ok((queried, arrow)),
            _ => Err(unexpected().into()),
        }
    }

    pub async fn change(&mut self, change: Change) -> Result<(Queried, u64, Bytes), Lost> {
        let most = change.bytes.saturating_mul(2).saturating_add(SLACK);
        self.served += 1;
        match self.ask(&Request::Change(change), most).await? {
            (Done::Changed(queried, affected), arrow) => Ok((queried, affected, arrow)),
            _ => Err(unexpected().into()),
        }
    }

    /// Begins a statement whose result is taken piece by piece.
    pub async fn begin(&mut self, query: Query) -> Result<(), Lost> {
        self.served += 1;
        self.windowed = query.window;
        Ok(self.send(&Request::Query(query)).await?)
    }

    /// Whether somebody still reads the end of a result here. Until then nobody else's statement comes near its memory.
    pub fn is_read(&self) -> bool {
        self.jailed.window.as_ref().is_some_and(|window| !window.is_clear())
    }

    fn look(&self, told: &[u8]) -> io::Result<View> {
        let [pane, length] = told.as_chunks().0 else { return Err(unexpected()) };
        let window = self.jailed.window.as_ref().filter(|_| self.windowed).ok_or_else(unexpected)?;
        window.look(u32::from_le_bytes(*pane), u32::from_le_bytes(*length)).ok_or_else(unexpected)
    }

    /// The next piece. Not to be given up in the middle: what was read of it would be lost.
    pub async fn piece(&mut self) -> Result<Piece, Lost> {
        let (tag, payload) = self.frame().await?;
        match tag {
            TAG_COLUMNS => Ok(Piece::Columns(serde_json::from_slice(&payload).map_err(io::Error::from)?)),
            TAG_ARROW => Ok(Piece::Bytes(payload.into())),
            TAG_WINDOW => Ok(Piece::Bytes(Bytes::from_owner(self.look(&payload)?))),
            TAG_DONE => match serde_json::from_slice(&payload).map_err(io::Error::from)? {
                Done::Queried(queried) => Ok(Piece::Done(queried)),
                _ => Err(unexpected().into()),
            },
            TAG_FAILED => Err(Lost::Told(serde_json::from_slice(&payload).map_err(io::Error::from)?)),
            _ => Err(unexpected().into()),
        }
    }

    pub fn weight(&self) -> sandbox::Weight {
        self.jailed.weight()
    }

    pub async fn try_to_write(&mut self) -> Result<(), Lost> {
        match self.ask(&Request::TryToWrite, SLACK).await? {
            (Done::CouldNotWrite, _) => Ok(()),
            _ => Err(unexpected().into()),
        }
    }

    async fn ask(&mut self, request: &Request, most: u64) -> Result<(Done, Bytes), Lost> {
        self.send(request).await?;
        let mut arrow = BytesMut::new();
        loop {
            let (tag, payload) = self.frame().await?;
            match tag {
                TAG_ARROW if (arrow.len() + payload.len()) as u64 <= most => arrow.extend_from_slice(&payload),
                TAG_DONE => {
                    let done = serde_json::from_slice(&payload).map_err(io::Error::from)?;
                    return Ok((done, arrow.freeze()));
                }
                TAG_FAILED => {
                    return Err(Lost::Told(serde_json::from_slice(&payload).map_err(io::Error::from)?));
                }
                _ => return Err(unexpected().into()),
            }
        }
    }

    async fn send(&mut self, request: &Request) -> io::Result<()> {
        let payload = serde_json::to_vec(request)?;
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        self.stdin.write_u8(TAG_REQUEST).await?;
        self.stdin.write_u32_le(length).await?;
        self.stdin.write_all(&payload).await?;
        self.stdin.flush().await
    }

    async fn frame(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let tag = self.stdout.read_u8().await?;
        let length = self.stdout.read_u32_le().await?;
        if length > MAX_FRAME {
            return Err(unexpected());
        }
        // Into memory that nobody has to clear first.
        let mut payload = Vec::with_capacity(length as usize);
        let came = (&mut self.stdout).take(u64::from(length)).read_to_end(&mut payload).await?;
        if came < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((tag, payload))
    }

    /// Ends a worker whose pipe broke, and finds out why it died.
    pub fn autopsy(&mut self, error: &io::Error) -> Fault {
        let death = self.jailed.kill();
        tracing::warn!(?death, %error, "worker lost");
        match death {
            Death::OutOfMemory => fault::out_of_memory(),
            // An engine whose allocation fails where it cannot say so ends itself with SIGABRT.
            Death::Signal(6) => fault::out_of_memory(),
            _ => fault::worker_lost(),
        }
    }

    pub fn is_alive(&mut self) -> bool {
        self.jailed.try_wait().is_none()
    }

    /// Ends the worker with everything in it.
    pub fn kill(&mut self) {
        self.jailed.kill();
    }
}

/// What a worker for this source can reach. A database that changes is reached with its directory: only there is its
/// journal, and only with locks are its pages of one state.
fn cell(source: &Source, writes: bool) -> Jail {
    match &source.kind {
        SourceKind::SqliteWritable(path) => {
            let dir = vec![path.parent().unwrap_or(Path::new("/")).to_owned()];
            let (read, write) = if writes { (Vec::new(), dir) } else { (dir, Vec::new()) };
            Jail { read, write, locks: true, ..Jail::default() }
        }
        _ => Jail { read: source.paths().into_iter().map(Into::into).collect(), ..Jail::default() },
    }
}

fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "unexpected frame from a worker")
}

fn lost(what: &str, error: &io::Error) -> Fault {
    tracing::error!(%error, "{what}");
    Fault::new(Kind::Internal, "engine.worker_lost", "a worker could not be started")
}

/// What an engine prints about itself is for the log of the server, at most some lines of it.
async fn log_stderr(stderr: ChildStderr) {
    use tokio::io::AsyncBufReadExt;
    let mut lines = BufReader::new(stderr.take(64 * 1024)).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        tracing::debug!(target: "worker", "{line}");
    }
}

/// What the binary's `runner` subcommand becomes after the sandbox has locked it down.
pub fn run_worker() -> io::Result<()> {
    let window = sandbox::WindowInside::find()?;
    // As a plain file: Rust's own stdout looks for line ends in everything that it is given.
    let stdout = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    worker::serve(io::stdin().lock(), stdout, window)
}
