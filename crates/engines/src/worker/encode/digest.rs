//! A result's digest in its place: the state of some rows, told without sending them.

use super::Sink;
use super::stream::{Wanted, write_stream};
use crate::protocol::{Cause, Failed, Form, Packing, Queried, Query};
use arrow_array::RecordBatch;
use domain::ResultColumn;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Takes rows in, and keeps their digest.
struct Hasher(Sha256);

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Hasher {
    fn columns(&mut self, _: &[ResultColumn]) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the digest of what [`write_stream`] would have written.
pub fn write_digest(
    wanted: Wanted<'_>,
    batches: impl Iterator<Item = Result<RecordBatch, Failed>>,
    out: &mut dyn Sink,
) -> Result<Queried, Failed> {
    let broken = |e: io::Error| Failed::new(Cause::Protocol, e.to_string());
    out.columns(&wanted.columns).map_err(broken)?;
    // A packed stream has its blocks put together: the same rows are the same bytes, however they came.
    let form = Form::Packed(Packing::default());
    let query = Query { rows: wanted.query.rows, bytes: wanted.query.bytes, form, ..Query::default() };
    let mut hasher = Hasher(Sha256::new());
    let queried = write_stream(Wanted { query: &query, ..wanted }, batches, &mut hasher)?;
    out.write_all(hex::encode(hasher.0.finalize()).as_bytes()).map_err(broken)?;
    Ok(queried)
}
