//! Rows from another machine, written as a worker would write them.

use super::Outbox;
use crate::client::Piece;
use crate::protocol::{Failed, Queried, Query};
use crate::worker::encode::{FRAME, Sink, Wanted, write_stream};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use domain::ResultColumn;
use std::io::{self, Write};

/// Writes batches in the form that they are wanted in, up to the caps. Blocks while nobody takes the pieces: not for the
/// threads that serve everybody.
pub(crate) fn encode(
    query: &Query,
    schema: SchemaRef,
    columns: Vec<ResultColumn>,
    batches: impl Iterator<Item = Result<RecordBatch, Failed>>,
    outbox: Outbox,
) -> Result<Queried, Failed> {
    sending(outbox, |sink| write_stream(Wanted { schema, columns, query }, batches, sink))
}

/// Sends what is written in pieces. Blocks as well.
pub(crate) fn sending(
    outbox: Outbox,
    write: impl FnOnce(&mut dyn Sink) -> Result<Queried, Failed>,
) -> Result<Queried, Failed> {
    let mut sending = Sending { outbox, buffer: Vec::with_capacity(64 * 1024) };
    let queried = write(&mut sending)?;
    // Nobody reads any more: the statement is over in any case.
    drop(sending.send());
    Ok(queried)
}

/// Gathers what is written into pieces of a useful size.
struct Sending {
    outbox: Outbox,
    buffer: Vec<u8>,
}

impl Sending {
    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::replace(&mut self.buffer, Vec::with_capacity(FRAME + FRAME / 8));
        self.put(Piece::Bytes(bytes.into()))
    }

    fn put(&self, piece: Piece) -> io::Result<()> {
        self.outbox.blocking_send(Ok(piece)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}

impl Sink for Sending {
    fn columns(&mut self, columns: &[ResultColumn]) -> io::Result<()> {
        self.put(Piece::Columns(columns.to_vec()))
    }
}

impl Write for Sending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= FRAME {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
