//! The last word of an Arrow stream that was cut.
//!
//! A header comes too early to say it of a long result, and few clients ask for trailers. A batch without rows comes last, its
//! message saying `gatehouse.truncated`: who looks for it finds it, who does not reads no row more.

use super::splice::framed;
use arrow_array::RecordBatch;
use arrow_ipc::convert::metadata_to_fb;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow_ipc::{MessageBuilder, MessageHeader, MetadataVersion, RecordBatchBuilder, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use flatbuffers::FlatBufferBuilder;

/// Also the key of the file's metadata in Parquet.
pub const TRUNCATED: &str = "gatehouse.truncated";

/// The message, framed for a stream of this schema.
pub fn cut(schema: &SchemaRef) -> Result<Vec<u8>, ArrowError> {
    let nothing = RecordBatch::new_empty(schema.clone());
    let (mut tracker, options) = (DictionaryTracker::new(false), IpcWriteOptions::default());
    // Numbers for the dictionaries of the schema; none of them is sent again.
    IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(schema, &mut tracker, &options);
    let mut context = IpcWriteContext::default();
    let (_, batch) = IpcDataGenerator::default().encode(&nothing, &mut tracker, &options, &mut context)?;
    let unreadable = || ArrowError::IpcError("an empty batch cannot be read back".to_owned());
    let message = root_as_message(&batch.ipc_message).map_err(|_| unreadable())?;
    let header = message.header_as_record_batch().ok_or_else(unreadable)?;

    let mut builder = FlatBufferBuilder::new();
    let nodes: Vec<_> = header.nodes().into_iter().flatten().copied().collect();
    let buffers: Vec<_> = header.buffers().into_iter().flatten().copied().collect();
    let (nodes, buffers) = (builder.create_vector(&nodes), builder.create_vector(&buffers));
    let mut rows = RecordBatchBuilder::new(&mut builder);
    rows.add_length(0);
    rows.add_nodes(nodes);
    rows.add_buffers(buffers);
    let rows = rows.finish();
    let said = metadata_to_fb(&mut builder, &[(TRUNCATED.to_owned(), "true".to_owned())].into_iter().collect());
    let mut last = MessageBuilder::new(&mut builder);
    last.add_version(MetadataVersion::V5);
    last.add_header_type(MessageHeader::RecordBatch);
    last.add_bodyLength(batch.arrow_data.len() as i64);
    last.add_header(rows.as_union_value());
    last.add_custom_metadata(said);
    let last = last.finish();
    builder.finish(last, None);
    let mut bytes = framed(builder.finished_data());
    bytes.extend(batch.arrow_data);
    Ok(bytes)
}
