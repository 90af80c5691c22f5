//! Arrow out: an IPC stream cut into frames, stopped at the caps on rows and bytes.

mod clean;
mod stream;
#[cfg(test)]
mod tests;

pub use stream::write_stream;

use crate::protocol::{TAG_ARROW, write_frame};
use arrow_schema::{DataType, TimeUnit};
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
