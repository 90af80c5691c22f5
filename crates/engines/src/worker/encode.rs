//! Results out: cut into frames, stopped at the caps on rows and bytes.

mod clean;
mod dictionary;
mod digest;
pub mod ending;
mod form;
mod splice;
mod stream;
#[cfg(test)]
mod tests;

pub use stream::{BLOCK, Wanted, columns_of, size, write_stream};

use crate::protocol::{TAG_ARROW, TAG_COLUMNS, TAG_WINDOW, write_frame, write_frame_of};
use arrow_schema::{DataType, TimeUnit};
use domain::{FieldType, ResultColumn};
use sandbox::{PANE, WindowInside};
use std::io::{self, Write};

/// Where a result goes.
pub trait Sink: Write + Send {
    /// What the columns are, before any of their values.
    fn columns(&mut self, columns: &[ResultColumn]) -> io::Result<()>;

    /// Writes these one after the other.
    fn pieces(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| self.write_all(piece))
    }
}

/// Gathers what is written and sends it as frames of a useful size.
pub struct Frames<'a, W: Write + Send> {
    out: &'a mut W,
    window: Option<&'a mut WindowInside>,
    buffer: Vec<u8>,
    announce: bool,
}

/// What is gathered before it is sent.
pub const FRAME: usize = PANE;
/// What goes by the window. Shorter frames are gathered by their reader, who would hold up all of it.
const WINDOWED: usize = 256 * 1024;
/// What goes as it is, without being gathered.
const LARGE: usize = 128 * 1024;

impl<'a, W: Write + Send> Frames<'a, W> {
    /// `announce` says whether columns are told in a frame of their own.
    pub fn new(out: &'a mut W, announce: bool) -> Self {
        Self { out, window: None, buffer: Vec::with_capacity(64 * 1024), announce }
    }

    /// Large frames go this way, if there is one.
    pub fn through(self, window: Option<&'a mut WindowInside>) -> Self {
        Self { window, ..self }
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            for piece in self.buffer.chunks(FRAME) {
                put(self.out, &mut self.window, &[piece])?;
            }
            self.buffer.clear();
        }
        Ok(())
    }
}

impl<W: Write + Send> Sink for Frames<'_, W> {
    fn columns(&mut self, columns: &[ResultColumn]) -> io::Result<()> {
        match self.announce {
            true => write_frame(self.out, TAG_COLUMNS, &serde_json::to_vec(columns)?),
            false => Ok(()),
        }
    }

    /// Straight from where they are, without waiting for more: a result is copied once, by the kernel.
    fn pieces(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        self.send()?;
        let (mut frame, mut length) = (Vec::new(), 0);
        for mut piece in pieces.iter().copied() {
            while !piece.is_empty() {
                let (here, rest) = piece.split_at(piece.len().min(FRAME - length));
                frame.push(here);
                length += here.len();
                piece = rest;
                if length == FRAME {
                    put(self.out, &mut self.window, &frame)?;
                    frame.clear();
                    length = 0;
                }
            }
        }
        if length > 0 {
            put(self.out, &mut self.window, &frame)?;
        }
        self.out.flush()
    }
}

impl<W: Write + Send> Write for Frames<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() >= LARGE {
            // Large enough for frames of their own: not copied once more.
            self.send()?;
            for piece in bytes.chunks(FRAME) {
                put(self.out, &mut self.window, &[piece])?;
            }
            return Ok(bytes.len());
        }
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

/// One frame, by the window if it is large enough for that to be worth it.
fn put<W: Write>(out: &mut W, window: &mut Option<&mut WindowInside>, frame: &[&[u8]]) -> io::Result<()> {
    let length: usize = frame.iter().map(|piece| piece.len()).sum();
    match window {
        Some(window) if length >= WINDOWED => {
            let (pane, length) = window.fill(frame)?;
            write_frame_of(out, TAG_WINDOW, &[&pane.to_le_bytes(), &length.to_le_bytes()])?;
            out.flush()
        }
        _ => write_frame_of(out, TAG_ARROW, frame),
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
