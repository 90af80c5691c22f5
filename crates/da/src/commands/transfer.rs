//! From the server into a part: one thread reads and decodes, another hashes and writes.

use super::progress::Progress;
use crate::client::{Arrived, Client, Stream};
use crate::problem::{Exit, Problem, Result};
use crate::show::duckdb_name;
use crate::snapshots::{ColumnMeta, Part, Writer};
use jiff::Timestamp;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// Batches that may wait to be written.
const WAITING: usize = 2;
/// A server that sends nothing for so long has gone. Its own limit on a scan is shorter.
const SILENCE: Duration = Duration::from_secs(360);

/// A slice that is on the disk, whole.
pub struct Transferred {
    pub arrived: Arrived,
    pub hash: String,
    pub bytes_local: u64,
    /// As they came; the server's own names of types may differ.
    pub columns: Vec<ColumnMeta>,
    pub effective_as_of: Timestamp,
    pub filtered_by: Vec<String>,
    pub run_id: Option<String>,
}

pub struct Shown<'a> {
    pub name: &'a str,
    pub rows: Option<u64>,
    pub quiet: bool,
}

pub fn transfer(client: &Client, stream: Stream, part: &Part, shown: Shown<'_>) -> Result<Transferred> {
    let progress = Progress::begin(shown.name, stream.counter(), shown.rows, shown.quiet);
    let effective_as_of = stream.effective_as_of().unwrap_or_else(Timestamp::now);
    let (filtered_by, run_id) = (stream.filtered_by(), stream.run_id());
    let mut batches = stream.batches()?;
    let (schema, ending) = (batches.schema(), batches.ending());
    let mut writer = Writer::new(part.writer()?, schema.clone())?;

    let (sender, receiver) = sync_channel(WAITING);
    // Not joined: a read that hangs must not hold up the end.
    thread::spawn(move || {
        while let Some(batch) = batches.next_batch().transpose() {
            let last = batch.is_err();
            if sender.send(Some(batch)).is_err() || last {
                return;
            }
        }
        drop(sender.send(None));
    });
    loop {
        match receiver.recv_timeout(SILENCE) {
            Ok(Some(batch)) => {
                writer.write(batch?)?;
                progress.rows(writer.rows());
            }
            Ok(None) => break,
            Err(RecvTimeoutError::Timeout) => return Err(silent()),
            Err(RecvTimeoutError::Disconnected) => return Err(Problem::unexpected("reading stopped", "no end came")),
        }
    }
    let written = writer.finish()?;
    let arrived = ending.check(client, written.rows)?;
    let column = |field: &arrow_schema::FieldRef| ColumnMeta {
        name: field.name().clone(),
        kind: duckdb_name(field.data_type()),
    };
    Ok(Transferred {
        arrived,
        hash: written.hash,
        bytes_local: part.sync()?,
        columns: schema.fields().iter().map(column).collect(),
        effective_as_of,
        filtered_by,
        run_id,
    })
}

fn silent() -> Problem {
    let message = format!("the server has sent nothing for {} s", SILENCE.as_secs());
    Problem::new(Exit::Network, "stream_cut", message, "nothing was changed; try again")
}
