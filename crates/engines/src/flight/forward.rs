//! Results that are handed on as they come: framed anew, not decoded, but for the batch in which a cap is reached.

use super::connect::Connection;
use super::fault;
use super::reframe::{Frames, Purpose, purpose, unreadable};
use crate::client::Piece;
use crate::protocol::{Queried, Query};
use crate::remote::Outbox;
use crate::worker::encode::{columns_of, ending};
use arrow_array::ArrayRef;
use arrow_flight::utils::flight_data_to_arrow_batch;
use arrow_flight::{FlightData, FlightInfo};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::read_dictionary;
use arrow_ipc::root_as_message;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use domain::{Fault, ResultColumn};
use std::collections::HashMap;
use std::sync::Arc;

pub async fn forward(
    connection: &Connection,
    info: FlightInfo,
    query: &Query,
    outbox: &Outbox,
) -> Result<Queried, Fault> {
    let mut forwarding = Forwarding::new(query, outbox);
    let schema = info.clone().try_decode_schema();
    for ticket in info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket) {
        let mut messages = connection.messages(ticket).await?;
        while let Some(data) = messages.message().await.map_err(|s| fault::from_status(&connection.name, &s))? {
            if !forwarding.message(data).await? {
                return forwarding.end().await;
            }
        }
    }
    // Of no rows some engines give no messages at all.
    if forwarding.schema.is_none()
        && let Ok(schema) = schema
    {
        forwarding.nothing(Arc::new(schema)).await?;
    }
    forwarding.end().await
}

struct Forwarding<'a> {
    outbox: &'a Outbox,
    frames: Frames,
    schema: Option<SchemaRef>,
    columns: Vec<ResultColumn>,
    /// Dictionaries by their id: needed where a batch is cut.
    dictionaries: HashMap<i64, ArrayRef>,
    rows: u64,
    rows_left: u64,
    bytes_left: u64,
    truncated: bool,
}

impl<'a> Forwarding<'a> {
    fn new(query: &Query, outbox: &'a Outbox) -> Self {
        Self {
            outbox,
            frames: Frames::default(),
            schema: None,
            columns: Vec::new(),
            dictionaries: HashMap::new(),
            rows: 0,
            rows_left: query.rows,
            bytes_left: query.bytes,
            truncated: false,
        }
    }

    /// Hands one message on. Gives whether more is wanted.
    async fn message(&mut self, data: FlightData) -> Result<bool, Fault> {
        match (purpose(&data)?, &self.schema) {
            (None, _) => Ok(true),
            (Some(Purpose::Schema), None) => self.begin(data).await,
            // Each endpoint says it again.
            (Some(Purpose::Schema), Some(_)) => Ok(true),
            (Some(_), None) => Err(unreadable()),
            (Some(Purpose::Dictionary), Some(schema)) => {
                let schema = schema.clone();
                self.dictionary(&schema, &data)?;
                self.send(data).await
            }
            (Some(Purpose::Rows(rows)), Some(schema)) => {
                let schema = schema.clone();
                self.batch(&schema, data, rows).await
            }
        }
    }

    async fn begin(&mut self, data: FlightData) -> Result<bool, Fault> {
        let message = root_as_message(&data.data_header).map_err(|_| unreadable())?;
        let schema = message.header_as_schema().ok_or_else(unreadable)?;
        let schema = try_fb_to_schema(schema).map_err(|_| unreadable())?;
        self.columns = columns_of(&schema);
        self.schema = Some(Arc::new(schema));
        self.put(Piece::Columns(self.columns.clone())).await;
        self.send(data).await
    }

    async fn nothing(&mut self, schema: SchemaRef) -> Result<(), Fault> {
        let head = StreamWriter::try_new(Vec::new(), &schema).map(|writer| writer.get_ref().clone());
        self.frames.written(&head.map_err(|_| unreadable())?);
        self.columns = columns_of(&schema);
        self.schema = Some(schema);
        self.put(Piece::Columns(self.columns.clone())).await;
        Ok(())
    }

    fn dictionary(&mut self, schema: &Schema, data: &FlightData) -> Result<(), Fault> {
        let message = root_as_message(&data.data_header).map_err(|_| unreadable())?;
        let batch = message.header_as_dictionary_batch().ok_or_else(unreadable)?;
        let body = arrow_buffer::Buffer::from(data.data_body.clone());
        read_dictionary(&body, batch, schema, &mut self.dictionaries, &message.version()).map_err(|_| unreadable())
    }

    async fn batch(&mut self, schema: &SchemaRef, data: FlightData, rows: u64) -> Result<bool, Fault> {
        let bytes = data.data_body.len() as u64;
        if rows <= self.rows_left && bytes <= self.bytes_left {
            self.rows += rows;
            self.rows_left -= rows;
            self.bytes_left -= bytes;
            return self.send(data).await;
        }
        // The rows that still fit, by their share of the bytes; an answer has at least one row, if there is one.
        let share = u128::from(rows) * u128::from(self.bytes_left) / u128::from(bytes.max(1));
        let fitting = u64::try_from(share).unwrap_or(rows).min(self.rows_left).min(rows);
        let kept = fitting.max(u64::from(self.rows == 0)).min(rows).min(self.rows_left);
        self.truncated = true;
        if kept > 0 {
            let batch =
                flight_data_to_arrow_batch(&data, schema.clone(), &self.dictionaries).map_err(|_| unreadable())?;
            let cut = batch.slice(0, usize::try_from(kept).map_err(|_| unreadable())?);
            self.frames.written(&messages_of(schema, &cut)?);
            self.rows += kept;
        }
        Ok(false)
    }

    async fn send(&mut self, data: FlightData) -> Result<bool, Fault> {
        let mut wanted = true;
        for bytes in self.frames.message(&data.data_header, data.data_body) {
            wanted &= self.put(Piece::Bytes(bytes)).await;
        }
        Ok(wanted)
    }

    async fn put(&self, piece: Piece) -> bool {
        self.outbox.send(Ok(piece)).await.is_ok()
    }

    async fn end(mut self) -> Result<Queried, Fault> {
        let schema = self.schema.as_ref().ok_or_else(unreadable)?;
        if self.truncated {
            self.frames.written(&ending::cut(schema).map_err(|_| unreadable())?);
        }
        let last: Bytes = self.frames.end();
        self.put(Piece::Bytes(last)).await;
        let Self { columns, rows, truncated, .. } = self;
        Ok(Queried { columns, row_count: rows, truncated, exec_ms: 0.0 })
    }
}

/// A batch as messages of a stream, without the schema before them and the mark of the end behind.
fn messages_of(schema: &SchemaRef, batch: &arrow_array::RecordBatch) -> Result<Vec<u8>, Fault> {
    let written = || -> Result<(usize, Vec<u8>), arrow_schema::ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
        let head = writer.get_ref().len();
        writer.write(batch)?;
        Ok((head, writer.get_ref().clone()))
    };
    let (head, mut bytes) = written().map_err(|_| unreadable())?;
    Ok(bytes.split_off(head))
}
