//! Parts of a result as one Arrow message, without putting them together first.
//!
//! Engines hand out small batches. A message of many rows takes the values of all of them from where they are, one after the
//! other; only offsets and bitmaps are made anew. Its bytes are those that [`StreamWriter`] writes of the same rows in one
//! batch, so that nobody can tell how they came.
//!
//! [`StreamWriter`]: arrow_ipc::writer::StreamWriter

use arrow_array::{Array, OffsetSizeTrait, RecordBatch};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, Buffer};
use arrow_data::ArrayData;
use arrow_ipc::{FieldNode, MessageBuilder, MessageHeader, MetadataVersion, RecordBatchBuilder};
use arrow_schema::{ArrowError, DataType, Schema};
use flatbuffers::FlatBufferBuilder;

/// What each buffer begins at a multiple of, as `StreamWriter` has it.
const ALIGNMENT: usize = 64;
/// Before the length of a message's head.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// A message, ready to be written.
pub struct Message {
    head: Vec<u8>,
    body: Vec<Buffer>,
    pub rows: u64,
    /// What the rows take: [`super::size`] of all of them in one batch.
    pub size: u64,
}

impl Message {
    /// All of it, in the order in which it is to be written.
    pub fn pieces(&self) -> Vec<&[u8]> {
        std::iter::once(self.head.as_slice()).chain(self.body.iter().map(Buffer::as_slice)).collect()
    }
}

/// Whether all columns are of a kind that can be sent in parts.
pub fn knows(schema: &Schema) -> bool {
    schema.fields().iter().all(|field| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary | DataType::Boolean => true,
        kind => kind.is_primitive(),
    })
}

/// The message of these parts. They are [clean](super::clean), and of one schema that is [known](knows).
pub fn message(parts: &[RecordBatch]) -> Result<Message, ArrowError> {
    let columns = parts.first().map_or(0, RecordBatch::num_columns);
    let mut body = Body { zeros: Buffer::from_vec(vec![0u8; ALIGNMENT]), ..Body::default() };
    for column in 0..columns {
        let parts: Vec<ArrayData> = parts.iter().map(|part| part.column(column).to_data()).collect();
        body.column(&parts)?;
    }
    let rows = parts.iter().map(RecordBatch::num_rows).sum();
    Ok(Message { head: body.head(rows), rows: rows as u64, size: body.size, body: body.pieces })
}

/// The buffers of all columns, and where each of them is.
#[derive(Default)]
struct Body {
    pieces: Vec<Buffer>,
    length: usize,
    /// Without what only fills up.
    size: u64,
    nodes: Vec<FieldNode>,
    buffers: Vec<arrow_ipc::Buffer>,
    zeros: Buffer,
}

impl Body {
    fn column(&mut self, parts: &[ArrayData]) -> Result<(), ArrowError> {
        let kind = parts.first().map_or(&DataType::Null, ArrayData::data_type);
        let rows: usize = parts.iter().map(ArrayData::len).sum();
        let nulls: usize = parts.iter().map(ArrayData::null_count).sum();
        self.nodes.push(FieldNode::new(rows as i64, nulls as i64));
        self.buffer((nulls > 0).then(|| bitmap(parts, rows)));
        match kind {
            DataType::Utf8 | DataType::Binary => self.texts::<i32>(parts, rows),
            DataType::LargeUtf8 | DataType::LargeBinary => self.texts::<i64>(parts, rows),
            DataType::Boolean => {
                let bits = parts.iter().filter_map(|part| {
                    Some(BooleanBuffer::new(part.buffers().first()?.clone(), part.offset(), part.len()))
                });
                self.buffer([joined(bits, rows)]);
                Ok(())
            }
            kind => {
                let width = kind.primitive_width().ok_or_else(|| unknown(kind))?;
                self.buffer(parts.iter().filter_map(|part| {
                    Some(part.buffers().first()?.slice_with_length(part.offset() * width, part.len() * width))
                }));
                Ok(())
            }
        }
    }

    /// Offsets from the first text of all on, then the texts.
    fn texts<O: OffsetSizeTrait>(&mut self, parts: &[ArrayData], rows: usize) -> Result<(), ArrowError> {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(O::default());
        let (mut texts, mut end) = (Vec::with_capacity(parts.len()), O::default());
        for part in parts {
            let [there, values] = part.buffers() else { return Err(unknown(part.data_type())) };
            let there = there.typed_data::<O>().get(part.offset()..=part.offset() + part.len());
            let Some([first, rest @ ..]) = there else { return Err(unknown(part.data_type())) };
            let last = *rest.last().unwrap_or(first);
            offsets.extend(rest.iter().map(|offset| *offset - *first + end));
            end += last - *first;
            texts.push(values.slice_with_length(first.as_usize(), (last - *first).as_usize()));
        }
        self.buffer([Buffer::from_vec(offsets)]);
        self.buffer(texts);
        Ok(())
    }

    /// One buffer, of pieces.
    fn buffer(&mut self, pieces: impl IntoIterator<Item = Buffer>) {
        let begin = self.length;
        for piece in pieces {
            self.length += piece.len();
            self.pieces.push(piece);
        }
        let length = self.length - begin;
        self.size += length as u64;
        self.buffers.push(arrow_ipc::Buffer::new(begin as i64, length as i64));
        let fill = length.next_multiple_of(ALIGNMENT) - length;
        self.length += fill;
        self.pieces.push(self.zeros.slice_with_length(0, fill));
    }

    /// What comes before it all: how long it is, and what is where in it.
    fn head(&self, rows: usize) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let buffers = builder.create_vector(&self.buffers);
        let nodes = builder.create_vector(&self.nodes);
        let mut batch = RecordBatchBuilder::new(&mut builder);
        batch.add_length(rows as i64);
        batch.add_nodes(nodes);
        batch.add_buffers(buffers);
        let batch = batch.finish();
        let mut message = MessageBuilder::new(&mut builder);
        message.add_version(MetadataVersion::V5);
        message.add_header_type(MessageHeader::RecordBatch);
        message.add_bodyLength(self.length as i64);
        message.add_header(batch.as_union_value());
        let message = message.finish();
        builder.finish(message, None);
        framed(builder.finished_data())
    }
}

/// A message's head as it stands in a stream.
pub fn framed(metadata: &[u8]) -> Vec<u8> {
    const PREFIX: usize = 8;
    let length = (PREFIX + metadata.len()).next_multiple_of(ALIGNMENT);
    let told = u32::try_from(length - PREFIX).unwrap_or(u32::MAX);
    let mut head = Vec::with_capacity(length);
    head.extend(CONTINUATION);
    head.extend(told.to_le_bytes());
    head.extend(metadata);
    head.resize(length, 0);
    head
}

fn bitmap(parts: &[ArrayData], rows: usize) -> Buffer {
    let all = |part: &ArrayData| BooleanBuffer::new_set(part.len());
    joined(parts.iter().map(|part| part.nulls().map_or_else(|| all(part), |nulls| nulls.inner().clone())), rows)
}

fn joined(parts: impl Iterator<Item = BooleanBuffer>, rows: usize) -> Buffer {
    let mut bits = BooleanBufferBuilder::new(rows);
    parts.for_each(|part| bits.append_buffer(&part));
    bits.finish().into_inner()
}

/// Only for columns that [`knows`] does not know.
fn unknown(kind: &DataType) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("a column of {kind} is not sent in parts"))
}
