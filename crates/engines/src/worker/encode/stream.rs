//! Batches in, a result in its form out, stopped at the caps on rows and bytes.
//!
//! An engine's batches show how it came to its rows: a filter that drops rows leaves small ones. They are therefore put
//! together and cut anew, at places that depend on nothing but the rows themselves.

use super::digest::write_digest;
use super::form::Writer;
use super::{Sink, clean, field_type, splice};
use crate::protocol::{Cause, Failed, Form, Queried, Query, column};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use domain::ResultColumn;

/// Rows of each batch that is sent, but for the first ones and the last.
pub const BLOCK: usize = 64 * 1024;
/// Rows of the first batch: a reader has something to do early. Each of the next has twice as many.
const FIRST_BLOCK: usize = 8 * 1024;
/// Bytes of each batch at most, if it has more than one row: a reader holds all of it, and so does the writer.
const BLOCK_BYTES: u64 = 16 * 1024 * 1024;
/// Rows that parts have on average to be sent as they came: many small pieces cost more than putting them together.
const SPLICED: usize = 256;

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
    if wanted.query.form == Form::Digest {
        return write_digest(wanted, batches, out);
    }
    let protocol = |e: ArrowError| Failed::new(Cause::Protocol, e.to_string());
    let Wanted { schema, columns, query } = wanted;
    out.columns(&columns).map_err(|e| Failed::new(Cause::Protocol, e.to_string()))?;
    let mut blocks = Blocks {
        spliced: query.form == Form::Arrow && splice::knows(&schema),
        writer: Writer::new(query.form, &schema, out).map_err(|e| unwritable(&e))?,
        schema,
        parts: Vec::new(),
        rows: 0,
        bytes: 0,
        block: FIRST_BLOCK,
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
    let (row_count, truncated) = blocks.finish(more).map_err(protocol)?;
    Ok(Queried { columns, row_count, truncated, exec_ms: 0.0 })
}

/// Parquet has no word for some types.
fn unwritable(error: &ArrowError) -> Failed {
    Failed::new(Cause::Statement, format!("the result cannot be written in this form: {error}"))
}

struct Blocks<'a> {
    writer: Writer<'a>,
    schema: SchemaRef,
    /// Whether parts may be sent without being put together.
    spliced: bool,
    /// Rows not sent yet, as they came.
    parts: Vec<RecordBatch>,
    rows: usize,
    /// What they take at most: each part counts for itself.
    bytes: u64,
    /// Rows of the next block.
    block: usize,
    written: u64,
    most_bytes: u64,
    bytes_left: u64,
    /// The bytes have run out.
    full: bool,
}

impl Blocks<'_> {
    fn push(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.hold(clean::batch(batch)?);
        if self.rows >= self.block || !self.fit() { self.send(false) } else { Ok(()) }
    }

    fn hold(&mut self, part: RecordBatch) {
        self.rows += part.num_rows();
        self.bytes += size(&part);
        self.parts.push(part);
    }

    /// Whether all that is held can be sent in one block, as far as bytes go.
    fn fit(&self) -> bool {
        self.bytes <= self.bytes_left.min(BLOCK_BYTES)
    }

    /// Sends whole blocks, and `last` what is left.
    fn send(&mut self, last: bool) -> Result<(), ArrowError> {
        while !self.full && self.rows > 0 {
            let sent = if self.spliced && self.fit() && self.rows / self.parts.len() >= SPLICED {
                self.splice(last)?
            } else {
                self.join(last)?
            };
            if !sent {
                break;
            }
            self.block = (self.block * 2).min(BLOCK);
            self.full |= self.writer.text_bytes() > self.most_bytes;
        }
        Ok(())
    }

    /// Sends a block as the parts that it came in, which is the same to a reader.
    fn splice(&mut self, last: bool) -> Result<bool, ArrowError> {
        if self.rows < self.block && !last {
            return Ok(false);
        }
        let parts = self.take(self.block);
        let message = splice::message(&parts)?;
        self.bytes_left = self.bytes_left.saturating_sub(message.size);
        self.written += message.rows;
        self.writer.write_spliced(&message)?;
        Ok(true)
    }

    /// The first rows of those that are held.
    fn take(&mut self, rows: usize) -> Vec<RecordBatch> {
        let (mut taken, mut missing) = (Vec::new(), rows);
        for part in std::mem::take(&mut self.parts) {
            let here = part.num_rows().min(missing);
            if here > 0 {
                taken.push(part.slice(0, here));
            }
            if here < part.num_rows() {
                self.parts.push(part.slice(here, part.num_rows() - here));
            }
            missing -= here;
        }
        self.rows = self.parts.iter().map(RecordBatch::num_rows).sum();
        self.bytes = self.parts.iter().map(size).sum();
        taken
    }

    /// Sends a block out of all parts put together, or what still fits where the bytes run out.
    fn join(&mut self, last: bool) -> Result<bool, ArrowError> {
        let all = concat_batches(&self.schema, &std::mem::take(&mut self.parts))?;
        (self.rows, self.bytes) = (0, 0);
        // Cleaned again, since a part of an array may need no bitmap where the whole does.
        let mut block = clean::batch(&all.slice(0, all.num_rows().min(self.block)))?;
        let mut whole = last || all.num_rows() >= self.block;
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
            self.hold(all);
            return Ok(false);
        }
        self.bytes_left = self.bytes_left.saturating_sub(size(&block));
        self.written += block.num_rows() as u64;
        if block.num_rows() > 0 {
            self.writer.write(&block)?;
        }
        self.hold(all.slice(block.num_rows(), all.num_rows() - block.num_rows()));
        Ok(true)
    }

    /// Rows written, and whether there were more: those that the cap kept out, or because the bytes ran out.
    fn finish(mut self, more: bool) -> Result<(u64, bool), ArrowError> {
        self.send(true)?;
        let truncated = more || self.full;
        self.writer.finish(truncated)?;
        Ok((self.written, truncated))
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
