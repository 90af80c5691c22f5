//! Arrow out: an IPC stream cut into frames, stopped at the caps on rows and bytes.

use crate::protocol::{Cause, Failed, Queried, TAG_ARROW, column, write_frame};
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use domain::FieldType;
use std::io::{self, Write};

/// Gathers what is written and sends it as frames of a useful size.
pub struct ArrowFrames<'a, W: Write> {
    out: &'a mut W,
    buffer: Vec<u8>,
}

const FRAME: usize = 1024 * 1024;

impl<'a, W: Write> ArrowFrames<'a, W> {
    pub fn new(out: &'a mut W) -> Self {
        Self { out, buffer: Vec::with_capacity(64 * 1024) }
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            write_frame(self.out, TAG_ARROW, &self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl<W: Write> Write for ArrowFrames<'_, W> {
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

/// Writes batches until a cap is reached. One row more than `rows` may come in: it tells that
/// there was more.
pub fn write_stream(
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Failed>>,
    rows: u64,
    bytes: u64,
    out: &mut dyn Write,
) -> Result<Queried, Failed> {
    let protocol = |e: arrow_schema::ArrowError| Failed::new(Cause::Protocol, e.to_string());
    let mut writer = StreamWriter::try_new(out, &schema).map_err(protocol)?;
    let (mut row_count, mut byte_count, mut truncated) = (0u64, 0u64, false);
    for batch in batches {
        let batch = batch?;
        let left = rows - row_count;
        let size = batch.get_array_memory_size() as u64;
        if byte_count + size > bytes && row_count > 0 {
            truncated = true;
            break;
        }
        let batch = fit(batch, left, bytes.saturating_sub(byte_count), size, &mut truncated);
        row_count += batch.num_rows() as u64;
        byte_count += size;
        writer.write(&batch).map_err(protocol)?;
        if truncated {
            break;
        }
    }
    writer.finish().map_err(protocol)?;
    let columns = schema.fields().iter().map(|f| column(f.name(), field_type(f.data_type()))).collect();
    Ok(Queried { columns, row_count, truncated, exec_ms: 0.0 })
}

/// As much of a batch as the caps leave room for.
fn fit(batch: RecordBatch, rows_left: u64, bytes_left: u64, size: u64, truncated: &mut bool) -> RecordBatch {
    let rows = batch.num_rows() as u64;
    let by_bytes = if size > bytes_left { (rows * bytes_left / size).max(1) } else { rows };
    let keep = rows.min(rows_left).min(by_bytes);
    if keep < rows {
        *truncated = true;
        return batch.slice(0, usize::try_from(keep).unwrap_or(usize::MAX));
    }
    batch
}

/// The word of the house for an Arrow type.
pub fn field_type(data_type: &DataType) -> FieldType {
    match data_type {
        DataType::Boolean => FieldType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => FieldType::Integer,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => FieldType::Integer,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => FieldType::Number,
        // DuckDB hands out HUGEINT (the sum of integers) as a decimal without fraction.
        DataType::Decimal128(_, 0) | DataType::Decimal256(_, 0) => FieldType::Integer,
        DataType::Decimal128(..) | DataType::Decimal256(..) => FieldType::Decimal,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => FieldType::String,
        DataType::Dictionary(_, values) => field_type(values),
        DataType::Date32 | DataType::Date64 => FieldType::Date,
        DataType::Time32(_) | DataType::Time64(_) => FieldType::Time,
        DataType::Timestamp(TimeUnit::Second | TimeUnit::Millisecond, _)
        | DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _) => FieldType::Timestamp,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            FieldType::Bytes
        }
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => FieldType::List,
        DataType::Struct(_) | DataType::Map(..) => FieldType::Struct,
        _ => FieldType::Other,
    }
}
