//! Batches in, a result in its form out, stopped at the caps on rows and bytes.
//!
//! An engine's batches show how it came to its rows: a filter that drops rows leaves small ones. They are therefore put
//! together and cut anew, at places that depend on nothing but the rows themselves.

use super::form::Writer;
use super::{Sink, clean, field_type};
use crate::protocol::{Cause, Failed, Queried, Query, column};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use domain::ResultColumn;

/// Rows of each batch that is sent, but for the last.
pub const BLOCK: usize = 64 * 1024;
/// Bytes of each batch at most, if it has more than one row: a reader holds all of it, and so does the writer.
const BLOCK_BYTES: u64 = 16 * 1024 * 1024;

/// What is to be written.
pub struct Wanted<'q> {
    pub schema: SchemaRef,
    /// The words of the house for the types.
    pub columns: Vec<ResultColumn>,
    pub query: &'q Query,
}

/// The columns of a result, by their Arrow types.
pub fn columns_of(schema: &Schema) -> Vec<ResultColumn> {
    schema.fields().iter().map(|f| column(f.name(), field_type(f.data_type()))).collect()
}

/// Writes batches until a cap is reached. One row more than the cap may come in: it tells that
/// there was more.
pub fn write_stream(
    wanted: Wanted<'_>,
    batches: impl Iterator<Item = Result<RecordBatch, Failed>>,
    out: &mut dyn Sink,
) -> Result<Queried, Failed> {
    let protocol = |e: ArrowError| Failed::new(Cause::Protocol, e.to_string());
    let Wanted { schema, columns, query } = wanted;
    out.columns(&columns).map_err(|e| Failed::new(Cause::Protocol, e.to_string()))?;
    let mut blocks = Blocks {
        writer: Writer::new(query.form, &schema, out).map_err(|e| unwritable(&e))?,
        pending: RecordBatch::new_empty(schema),
        gathered: Vec::new(),
        gathered_rows: 0,
        gathered_bytes: 0,
        written: 0,
        most_bytes: query.bytes,
        bytes_left: query.bytes,
        full: false,
    };
    let (mut rows_left, mut more) = (usize::try_from(query.rows).unwrap_or(usize::MAX), false);
    for batch in batches {
        let batch = batch?;
        let keep = batch.num_rows().min(rows_left);
        blocks.push(&batch.slice(0, keep)).map_err(protocol)?;
        rows_left -= keep;
        more = keep < batch.num_rows();
        if more || blocks.full {
            break;
        }
    }
    let (row_count, full) = blocks.finish().map_err(protocol)?;
    Ok(Queried { columns, row_count, truncated: more || full, exec_ms: 0.0 })
}

/// Parquet has no word for some types.
fn unwritable(error: &ArrowError) -> Failed {
    Failed::new(Cause::Statement, format!("the result cannot be written in this form: {error}"))
}

struct Blocks<'a> {
    writer: Writer<'a>,
    /// Rows put together, not sent yet.
    pending: RecordBatch,
    /// What came in since.
    gathered: Vec<RecordBatch>,
    gathered_rows: usize,
    gathered_bytes: u64,
    written: u64,
    most_bytes: u64,
    bytes_left: u64,
    /// The bytes have run out.
    full: bool,
}

impl Blocks<'_> {
    fn push(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let batch = clean::batch(batch)?;
        self.gathered_rows += batch.num_rows();
        self.gathered_bytes += size(&batch);
        self.gathered.push(batch);
        if self.pending.num_rows() + self.gathered_rows >= BLOCK
            || self.gathered_bytes + size(&self.pending) > self.bytes_left.min(BLOCK_BYTES)
        {
            self.gather()?;
            self.send(BLOCK)?;
        }
        Ok(())
    }

    fn gather(&mut self) -> Result<(), ArrowError> {
        let parts = std::iter::once(&self.pending).chain(&self.gathered);
        self.pending = concat_batches(self.pending.schema_ref(), parts)?;
        self.gathered.clear();
        (self.gathered_rows, self.gathered_bytes) = (0, 0);
        Ok(())
    }

    /// Sends whole blocks while there are `least` rows, and what still fits where the bytes run out.
    fn send(&mut self, least: usize) -> Result<(), ArrowError> {
        while !self.full && self.pending.num_rows() > 0 {
            // Cleaned again, since a part of an array may need no bitmap where the whole does.
            let mut block = clean::batch(&self.pending.slice(0, self.pending.num_rows().min(BLOCK)))?;
            let mut whole = self.pending.num_rows() >= least;
            if size(&block) > BLOCK_BYTES {
                block = clean::batch(&block.slice(0, fitting(&block, BLOCK_BYTES).max(1)))?;
                whole = true;
            }
            if size(&block) > self.bytes_left {
                self.full = true;
                // An answer has at least one row, if there is one.
                let least = usize::from(self.written == 0);
                block = clean::batch(&block.slice(0, fitting(&block, self.bytes_left).max(least)))?;
            } else if !whole {
                break;
            }
            self.bytes_left = self.bytes_left.saturating_sub(size(&block));
            self.written += block.num_rows() as u64;
            if block.num_rows() > 0 {
                self.writer.write(&block)?;
            }
            self.full |= self.writer.text_bytes() > self.most_bytes;
            self.pending = self.pending.slice(block.num_rows(), self.pending.num_rows() - block.num_rows());
        }
        Ok(())
    }

    /// Rows written, and whether the bytes ran out before they did.
    fn finish(mut self) -> Result<(u64, bool), ArrowError> {
        self.gather()?;
        self.send(1)?;
        self.writer.finish()?;
        Ok((self.written, self.full))
    }
}

/// What the rows themselves take, not what was set aside for them.
pub fn size(batch: &RecordBatch) -> u64 {
    let sizes = batch.columns().iter().map(|c| c.to_data().get_slice_memory_size().unwrap_or(usize::MAX));
    sizes.fold(0, |sum: u64, size| sum.saturating_add(size as u64))
}

/// How many of the first rows fit.
fn fitting(batch: &RecordBatch, bytes: u64) -> usize {
    let (mut fits, mut too_many) = (0, batch.num_rows() + 1);
    while too_many - fits > 1 {
        let middle = fits.midpoint(too_many);
        let fit = clean::batch(&batch.slice(0, middle)).is_ok_and(|rows| size(&rows) <= bytes);
        *(if fit { &mut fits } else { &mut too_many }) = middle;
    }
    fits
}
