//! What rows are written as: Arrow, Parquet, CSV or JSON, all through one writer of batches.

use super::dictionary::Dictionaries;
use super::splice::Message;
use super::{Sink, ending};
use crate::json::{Capped, write_cell};
use crate::protocol::{Compression, Form, Packing};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as ParquetCompression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};

/// Rows of a Parquet row group: a group is held in memory until it is whole.
const GROUP: usize = 2 * super::BLOCK;

/// One of the forms, being written.
pub enum Writer<'a> {
    Arrow(Box<ArrowStream<'a>>),
    Parquet(Box<ArrowWriter<&'a mut dyn Sink>>),
    Text(Text<'a>),
}

impl<'a> Writer<'a> {
    pub fn new(form: Form, schema: &SchemaRef, out: &'a mut dyn Sink) -> Result<Self, ArrowError> {
        let arrow = |out, Packing { compression, dictionary }| {
            let options = IpcWriteOptions::default().try_with_compression(compression.map(|c| match c {
                Compression::Lz4 => CompressionType::LZ4_FRAME,
                Compression::Zstd => CompressionType::ZSTD,
            }))?;
            let dictionaries = dictionary.then(|| Dictionaries::of(schema));
            let schema = dictionaries.as_ref().map_or(schema, Dictionaries::schema).clone();
            let writer = StreamWriter::try_new_with_options(out, &schema, options)?;
            Ok(Self::Arrow(Box::new(ArrowStream { writer, schema, dictionaries })))
        };
        match form {
            Form::Arrow => arrow(out, Packing::default()),
            Form::Packed(packing) => arrow(out, packing),
            Form::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(ParquetCompression::SNAPPY)
                    .set_max_row_group_row_count(Some(GROUP))
                    .build();
                Ok(Self::Parquet(Box::new(ArrowWriter::try_new(out, schema.clone(), Some(properties))?)))
            }
            Form::Csv => Text::csv(schema, out).map(Self::Text),
            Form::Json | Form::Estimate | Form::Digest => Ok(Self::Text(Text { out, csv: false, rows: 0, bytes: 0 })),
        }
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::Arrow(stream) => stream.write(batch),
            Self::Parquet(writer) => Ok(writer.write(batch)?),
            Self::Text(text) => text.write(batch),
        }
    }

    /// One batch, of parts. Only for Arrow as it is.
    pub fn write_spliced(&mut self, message: &Message) -> Result<(), ArrowError> {
        match self {
            Self::Arrow(stream) => Ok(stream.writer.get_mut().pieces(&message.pieces())?),
            _ => Err(ArrowError::InvalidArgumentError("only Arrow is sent in parts".to_owned())),
        }
    }

    /// Bytes of text so far: a bit may become a word, so that the size of the rows says little of it.
    pub fn text_bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.bytes,
            _ => 0,
        }
    }

    /// `truncated` is told in the result itself, where its form has a place for that.
    pub fn finish(self, truncated: bool) -> Result<(), ArrowError> {
        match self {
            Self::Arrow(stream) => stream.finish(truncated),
            Self::Parquet(mut writer) => {
                if truncated {
                    writer.append_key_value_metadata(KeyValue::new(ending::TRUNCATED.to_owned(), "true".to_owned()));
                }
                Ok(writer.close().map(drop)?)
            }
            Self::Text(text) => text.finish(),
        }
    }
}

/// An Arrow IPC stream, its texts numbered or not.
pub struct ArrowStream<'a> {
    writer: StreamWriter<&'a mut dyn Sink>,
    schema: SchemaRef,
    dictionaries: Option<Dictionaries>,
}

impl ArrowStream<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match &self.dictionaries {
            None => self.writer.write(batch),
            Some(dictionaries) => self.writer.write(&dictionaries.encode(batch)?),
        }
    }

    fn finish(mut self, truncated: bool) -> Result<(), ArrowError> {
        if truncated {
            self.writer.get_mut().write_all(&ending::cut(&self.schema)?)?;
        }
        self.writer.finish()
    }
}

/// CSV (RFC 4180) or an array of JSON objects. Values are those that Chat shows.
pub struct Text<'a> {
    out: &'a mut dyn Sink,
    csv: bool,
    rows: u64,
    bytes: u64,
}

impl<'a> Text<'a> {
    fn csv(schema: &SchemaRef, out: &'a mut dyn Sink) -> Result<Self, ArrowError> {
        let mut text = Self { out, csv: true, rows: 0, bytes: 0 };
        let names: Vec<String> = schema.fields().iter().map(|field| csv_text(field.name())).collect();
        text.send((names.join(",") + "\r\n").as_bytes())?;
        Ok(text)
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let mut block = Capped::for_result(usize::try_from(super::size(batch)).unwrap_or(usize::MAX));
        for row in 0..batch.num_rows() {
            match self.csv {
                true => csv_row(&mut block, batch, row)?,
                false => {
                    block.write_all(if self.rows == 0 { b"[" } else { b",\n" })?;
                    json_row(&mut block, batch, row)?;
                }
            }
            self.rows += 1;
        }
        self.send(block.into_text()?.as_bytes())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), ArrowError> {
        self.bytes += bytes.len() as u64;
        Ok(self.out.write_all(bytes)?)
    }

    fn finish(mut self) -> Result<(), ArrowError> {
        match (self.csv, self.rows) {
            (true, _) => Ok(()),
            (false, 0) => self.send(b"[]\n"),
            (false, _) => self.send(b"]\n"),
        }
    }
}

fn json_row(out: &mut Capped, batch: &RecordBatch, row: usize) -> io::Result<()> {
    out.write_all(b"{")?;
    for (index, (field, column)) in batch.schema_ref().fields().iter().zip(batch.columns()).enumerate() {
        out.comma_after(index)?;
        serde_json::to_writer(&mut *out, field.name())?;
        out.write_all(b":")?;
        write_cell(out, field, column, row)?;
    }
    out.write_all(b"}")
}

/// Text as it is, other values as in JSON, NULL as nothing.
fn csv_row(out: &mut Capped, batch: &RecordBatch, row: usize) -> io::Result<()> {
    for (index, (field, column)) in batch.schema_ref().fields().iter().zip(batch.columns()).enumerate() {
        out.comma_after(index)?;
        if column.is_null(row) {
            continue;
        }
        let mut cell = out.inner();
        write_cell(&mut cell, field, column, row)?;
        let cell = cell.into_text()?;
        let cell = if cell.starts_with('"') { serde_json::from_str::<String>(&cell)? } else { cell };
        out.write_all(csv_text(&cell).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

/// An empty text is quoted, so that it is not taken for NULL.
fn csv_text(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains([',', '"', '\r', '\n']) && text.trim() == text;
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
