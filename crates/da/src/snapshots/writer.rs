//! Arrow batches into a Parquet file as they arrive. Memory is one row group, however long the result is.

use super::fingerprint::Fingerprint;
use crate::problem::{Problem, Result};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::coalesce::BatchCoalescer;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::{self, BufWriter};

/// As many rows as DuckDB puts into a group; it reads groups side by side.
const GROUP_ROWS: usize = 122_880;
const GROUP_BYTES: usize = 32 * 1024 * 1024;
/// Rows that are encoded at a time, and bytes of them: rows may be as long as they like.
const BLOCK: usize = 16 * 1024;
const BLOCK_BYTES: usize = 4 * 1024 * 1024;

pub struct Writer {
    schema: SchemaRef,
    file: ArrowWriter<BufWriter<File>>,
    blocks: BatchCoalescer,
    /// Bytes that wait in `blocks`.
    waiting: usize,
    print: Fingerprint,
    rows: u64,
}

/// What was written.
#[derive(Debug)]
pub struct Written {
    pub rows: u64,
    pub hash: String,
}

impl Writer {
    pub fn new(file: File, schema: SchemaRef) -> Result<Self> {
        if let Some(field) = schema.fields().iter().find(|f| matches!(f.data_type(), DataType::Interval(_))) {
            let message = format!("column `{}` is an interval, which Parquet cannot hold", field.name());
            return Err(Problem::invalid("unsupported_type", message, "leave it out of --select"));
        }
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let file = BufWriter::with_capacity(1024 * 1024, file);
        Ok(Self {
            file: ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(failed)?,
            blocks: BatchCoalescer::new(schema.clone(), BLOCK),
            waiting: 0,
            print: Fingerprint::new(&schema)?,
            schema,
            rows: 0,
        })
    }

    pub fn write(&mut self, batch: RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.print.add(&batch)?;
        // Engines hand out batches of every size; small ones would cost more than their rows.
        let bytes = size(&batch);
        if (batch.num_rows() >= BLOCK || bytes >= BLOCK_BYTES) && self.blocks.is_empty() {
            return self.file.write(&batch).map_err(failed);
        }
        self.waiting += bytes;
        let unwritten = |error| Problem::unexpected("a batch cannot be written", error);
        self.blocks.push_batch(batch).map_err(unwritten)?;
        if self.waiting >= BLOCK_BYTES {
            self.blocks.finish_buffered_batch().map_err(unwritten)?;
        }
        self.drain()
    }

    pub fn finish(mut self) -> Result<Written> {
        self.blocks.finish_buffered_batch().map_err(|error| Problem::unexpected("a batch cannot be written", error))?;
        self.drain()?;
        // Closing writes the footer and what is buffered.
        self.file.close().map_err(failed)?;
        Ok(Written { rows: self.rows, hash: self.print.finish(&self.schema) })
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn drain(&mut self) -> Result<()> {
        while let Some(block) = self.blocks.next_completed_batch() {
            self.file.write(&block).map_err(failed)?;
        }
        if self.blocks.is_empty() {
            self.waiting = 0;
        }
        Ok(())
    }
}

/// What the rows of a batch take. (Columns of one message share its memory, which is none of their size.)
fn size(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|array| array.to_data().get_slice_memory_size().unwrap_or_default()).sum()
}

/// A full disk hides in the errors of the encoder.
pub fn failed(error: ParquetError) -> Problem {
    let ParquetError::External(source) = &error else {
        return from_text(&error.to_string());
    };
    match source.downcast_ref::<io::Error>() {
        Some(error) => Problem::file("the snapshot cannot be written", error),
        None => from_text(&error.to_string()),
    }
}

fn from_text(text: &str) -> Problem {
    match text.contains("No space left") || text.contains("quota exceeded") {
        true => Problem::file("the snapshot cannot be written", &io::ErrorKind::StorageFull.into()),
        false => Problem::unexpected("the snapshot cannot be written", text),
    }
}
