//! What server and worker say to each other: frames over a pipe.
//!
//! A frame is a tag byte, a length (u32, little endian) and that many bytes. The worker is not
//! trusted by the server either: every length is capped before anything is allocated for it.

use domain::{FieldType, ResultColumn, SourceSchema, Value};
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, Read, Write};
use std::path::PathBuf;

/// A frame never carries more than this.
pub const MAX_FRAME: u32 = 64 * 1024 * 1024;

pub const TAG_REQUEST: u8 = b'Q';
/// The columns of a result, before the first piece of it, for whoever asked to be told.
pub const TAG_COLUMNS: u8 = b'C';
/// A piece of the result: of an Arrow IPC stream, or of what it was wanted as.
pub const TAG_ARROW: u8 = b'A';
/// The same, put into the window that both see: which pane, and how much is in it (two u32, little endian).
pub const TAG_WINDOW: u8 = b'W';
/// The end of a request that went well.
pub const TAG_DONE: u8 = b'D';
/// The end of a request that did not.
pub const TAG_FAILED: u8 = b'F';

#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// First of all: open this and lock the engine down.
    Open(Open),
    /// Instead of all that: make a copy of a table in DuckDB's own format and send it.
    Copy(CopyOut),
    /// What tables are there?
    Describe,
    Query(Query),
    /// One write, in one transaction.
    Change(Change),
    /// Try to open the source's files for writing. It must fail.
    TryToWrite,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Open {
    pub engine: OpenEngine,
    pub memory_bytes: u64,
    /// What DuckDB may use to read; one is enough for small questions.
    #[serde(default = "one")]
    pub threads: u32,
    /// Rows are hidden from the statements that it is for: what the engine knows of all rows must not decide what it
    /// evaluates.
    #[serde(default)]
    pub hides_rows: bool,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Serialize, Deserialize)]
pub enum OpenEngine {
    Files(Vec<OpenTable>),
    Sqlite(PathBuf),
    /// A database that others write to meanwhile.
    SqliteLive(PathBuf),
    /// A database to write to.
    SqliteWriter(PathBuf),
}

/// A table over one file, at its path inside the jail.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OpenTable {
    pub name: String,
    pub path: PathBuf,
    /// The same table in DuckDB's own format.
    pub copy: Option<PathBuf>,
}

/// What is to be copied, and where inside the jail.
#[derive(Debug, Serialize, Deserialize)]
pub struct CopyOut {
    pub path: PathBuf,
    pub to: PathBuf,
    pub memory_bytes: u64,
    pub threads: u32,
}

impl OpenEngine {
    pub fn paths(&self) -> Vec<&PathBuf> {
        match self {
            Self::Files(tables) => tables.iter().flat_map(|t| [Some(&t.path), t.copy.as_ref()]).flatten().collect(),
            Self::Sqlite(path) | Self::SqliteLive(path) | Self::SqliteWriter(path) => vec![path],
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Query {
    pub sql: String,
    pub params: Vec<Value>,
    pub rows: u64,
    pub bytes: u64,
    #[serde(default)]
    pub form: Form,
    /// The tables that it reads.
    #[serde(default)]
    pub tables: Vec<String>,
    /// Whether the columns come first, in a frame of their own.
    #[serde(default)]
    pub announce: bool,
    /// Whether a row filter applies: what is estimated then says nothing that only other rows could tell.
    #[serde(default)]
    pub filtered: bool,
    /// Whether its caller sees all of the source, so that the sizes of files tell nothing else.
    #[serde(default)]
    pub sees_all: bool,
    /// Whether large pieces may come through the window.
    #[serde(default)]
    pub window: bool,
}

/// The statements of one write, as `policy::Change` has them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Change {
    /// All that may be written: this table, and these columns of a row that is there.
    pub table: String,
    pub columns: Vec<String>,
    pub insert: bool,
    pub key: usize,
    pub references: Vec<Bound>,
    pub twin: Option<Bound>,
    pub before: Option<Bound>,
    pub write: Bound,
    pub image: Bound,
    pub versioned: bool,
    /// Bytes that the row afterwards may have.
    pub bytes: u64,
}

/// A statement and its values.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Bound {
    pub sql: String,
    pub params: Vec<Value>,
}

/// What rows are written as. The worker writes them: the server forwards bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Form {
    /// An Arrow IPC stream.
    #[default]
    Arrow,
    /// The same, smaller.
    Packed(Packing),
    Parquet,
    /// With a line of names first.
    Csv,
    /// An array of objects.
    Json,
    /// Not the rows, but an [`Estimate`] of them as JSON.
    Estimate,
    /// Not the rows, but the SHA-256 of them as an Arrow stream, in hex.
    Digest,
}

/// How an Arrow stream is made smaller. Every reader of Arrow unpacks it by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Packing {
    /// Of its buffers.
    pub compression: Option<Compression>,
    /// Whether each text is sent once a batch, and by its number after that.
    pub dictionary: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Compression {
    Lz4,
    Zstd,
}

/// What a statement would read and give. What is not known is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// Bytes of the files that would be read.
    pub scan_bytes: Option<u64>,
    pub result_rows: Option<u64>,
    pub result_bytes: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Done {
    Opened,
    Copied,
    Described(SourceSchema),
    /// The row afterwards, and how many rows were written.
    Changed(Queried, u64),
    Queried(Queried),
    CouldNotWrite,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Queried {
    pub columns: Vec<ResultColumn>,
    pub row_count: u64,
    pub truncated: bool,
    pub exec_ms: f64,
}

/// Why a worker could not do it. The message is the engine's, already free of data values.
#[derive(Debug, Serialize, Deserialize)]
pub struct Failed {
    pub cause: Cause,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The engine reads the statement otherwise than the check did, and cannot parse it.
    Syntax,
    /// The engine does not accept the statement.
    Statement,
    /// The statement failed on the data.
    Data,
    Memory,
    /// The source cannot be opened.
    Source,
    /// The engine's own lockdown refused it: an escape that the check let through.
    Denied,
    Protocol,
    /// There is no such row for whoever wants to change it.
    Missing,
    /// Another row has this natural key.
    Taken,
    /// The row has been changed since.
    Stale,
    /// The row would not be its writer's to see.
    Outside,
    /// Constraints of the table.
    Unique,
    Reference,
    Check,
    /// A field must have a value. The message is its name.
    Required,
    /// Somebody else holds the database.
    Busy,
}

impl Failed {
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }
}

pub fn column(name: &str, kind: FieldType) -> ResultColumn {
    ResultColumn { name: name.to_owned(), kind }
}

/// Writes one frame (the worker's side; the server has its own asynchronous one).
pub fn write_frame(out: &mut impl Write, tag: u8, payload: &[u8]) -> io::Result<()> {
    write_frame_of(out, tag, &[payload])
}

/// Writes one frame of several pieces, in as few calls as they take.
pub fn write_frame_of(out: &mut impl Write, tag: u8, pieces: &[&[u8]]) -> io::Result<()> {
    let length = u32::try_from(pieces.iter().map(|piece| piece.len()).sum::<usize>())
        .ok()
        .filter(|l| *l <= MAX_FRAME)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "frame too large"))?;
    let [a, b, c, d] = length.to_le_bytes();
    let head = [tag, a, b, c, d];
    let pieces = pieces.iter().filter(|piece| !piece.is_empty()).map(|piece| IoSlice::new(piece));
    let mut slices: Vec<IoSlice<'_>> = std::iter::once(IoSlice::new(&head)).chain(pieces).collect();
    let mut left = slices.as_mut_slice();
    while !left.is_empty() {
        match out.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut left, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads one frame; `None` at the end of the pipe.
pub fn read_frame(input: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut tag = [0u8; 1];
    match input.read_exact(&mut tag) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut length = [0u8; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "frame too large"));
    }
    let mut payload = vec![0u8; length as usize];
    input.read_exact(&mut payload)?;
    Ok(Some((tag[0], payload)))
}
