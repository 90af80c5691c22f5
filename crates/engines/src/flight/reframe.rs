//! Flight's messages as an Arrow IPC stream, without a look at their values.
//!
//! A `FlightData` is a message of IPC in two parts: its header (a flatbuffer) and its body. Put one behind the other, with
//! a mark and a length before them, they are the bytes that a stream holds.

use arrow_flight::FlightData;
use arrow_ipc::{MessageHeader, root_as_message};
use bytes::{BufMut, Bytes, BytesMut};
use domain::Fault;

/// What stands before every message of a stream.
const MARK: u32 = u32::MAX;
/// Messages begin at multiples of this.
const ALIGNED: usize = 8;
/// What ends a stream: a mark, and a message of no length.
pub const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Schema,
    Dictionary,
    Rows(u64),
}

/// Reads what a message is for; none for one that carries nothing but metadata of the application.
pub fn purpose(data: &FlightData) -> Result<Option<Purpose>, Fault> {
    if data.data_header.is_empty() {
        return Ok(None);
    }
    let message = root_as_message(&data.data_header).map_err(|_| unreadable())?;
    if usize::try_from(message.bodyLength()).ok() != Some(data.data_body.len()) {
        return Err(unreadable());
    }
    match message.header_type() {
        MessageHeader::Schema => Ok(Some(Purpose::Schema)),
        MessageHeader::DictionaryBatch => Ok(Some(Purpose::Dictionary)),
        MessageHeader::RecordBatch => {
            let rows = message.header_as_record_batch().and_then(|batch| u64::try_from(batch.length()).ok());
            rows.map(|rows| Some(Purpose::Rows(rows))).ok_or_else(unreadable)
        }
        _ => Err(unreadable()),
    }
}

/// Gathers messages into pieces of a useful size.
#[derive(Debug, Default)]
pub struct Frames {
    gathered: BytesMut,
}

/// A piece that is worth sending.
const PIECE: usize = 256 * 1024;

impl Frames {
    /// One message. A large body is handed on as it came, a small one gathered with others.
    pub fn message(&mut self, header: &[u8], body: Bytes) -> Vec<Bytes> {
        let padding = (ALIGNED - header.len() % ALIGNED) % ALIGNED;
        self.gathered.put_u32_le(MARK);
        self.gathered.put_u32_le(u32::try_from(header.len() + padding).unwrap_or_default());
        self.gathered.put_slice(header);
        self.gathered.put_bytes(0, padding);
        if body.len() >= PIECE {
            return vec![self.gathered.split().freeze(), body];
        }
        self.gathered.put_slice(&body);
        if self.gathered.len() >= PIECE { vec![self.gathered.split().freeze()] } else { Vec::new() }
    }

    /// Bytes of messages that are written already.
    pub fn written(&mut self, bytes: &[u8]) {
        self.gathered.put_slice(bytes);
    }

    /// The end of the stream, with what is left.
    pub fn end(&mut self) -> Bytes {
        self.gathered.put_slice(&END);
        self.gathered.split().freeze()
    }
}

/// The engine sent something that is no Arrow.
pub fn unreadable() -> Fault {
    Fault::internal("flight.message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use arrow_flight::utils::batches_to_flight_data;
    use arrow_ipc::reader::StreamReader;
    use std::sync::Arc;

    fn batch(rows: i64) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter((0..rows).map(|n| (n % 7 != 0).then_some(n))));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(|n| "x".repeat(n as usize % 50))));
        RecordBatch::try_from_iter_with_nullable([("n", numbers, true), ("t", texts, false)]).unwrap()
    }

    #[test]
    fn a_reader_of_streams_reads_what_was_sent() {
        // Smaller and larger than a piece, and of no rows at all.
        for sizes in [vec![0], vec![3, 0, 5], vec![20_000, 1, 20_000], vec![]] {
            let batches: Vec<RecordBatch> = sizes.iter().map(|rows| batch(*rows)).collect();
            let sent = batches_to_flight_data(&batch(0).schema(), &batches).unwrap();
            let mut frames = Frames::default();
            let mut rows = Vec::new();
            let mut stream = Vec::new();
            for data in sent {
                if let Some(Purpose::Rows(count)) = purpose(&data).unwrap() {
                    rows.push(i64::try_from(count).unwrap());
                }
                stream.extend(frames.message(&data.data_header, data.data_body).concat());
            }
            stream.extend_from_slice(&frames.end());
            assert_eq!(rows, sizes);
            let read: Vec<RecordBatch> =
                StreamReader::try_new(stream.as_slice(), None).unwrap().collect::<Result<_, _>>().unwrap();
            assert_eq!(read, batches);
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let sent = batches_to_flight_data(&batch(0).schema(), &[batch(3)]).unwrap();
        let whole = sent.last().unwrap();
        assert!(purpose(&FlightData { data_body: whole.data_body.slice(8..), ..whole.clone() }).is_err());
        assert!(purpose(&FlightData { data_header: Bytes::from_static(b"nothing"), ..whole.clone() }).is_err());
        assert_eq!(purpose(&FlightData::default()).unwrap(), None);
    }
}
