//! Rows as they come in, on their way to whoever writes them.
//!
//! Rows are taken off the connection in chunks, and become Arrow in a thread of their own: while that works, the next ones
//! come in. Neither holds more than a few chunks.

use super::cells::{Gathered, digits};
use super::columns::{self, Column};
use crate::fault::from_worker;
use crate::protocol::{Cause, Failed, Queried, Query};
use crate::remote::{Outbox, encode};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use domain::Fault;
use futures_util::StreamExt;
use std::pin::{Pin, pin};
use tokio::sync::mpsc;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Error, Row, RowStream};

/// A chunk has so many rows, or so many bytes.
const CHUNK_ROWS: usize = 4_096;
const CHUNK_BYTES: usize = 1024 * 1024;
/// Chunks that may wait for the writer.
const WAITING: usize = 2;

/// Rows, or the sign that no more will come because something failed.
type Chunk = Result<Vec<Row>, Failed>;

/// A statement whose rows come in.
pub struct Gathering {
    pub rows: RowStream,
    pub columns: Vec<Column>,
    pub query: Query,
}

impl Gathering {
    /// Sends everything on. Also says whether that was all there was: otherwise the statement still runs.
    pub async fn pour(self, outbox: Outbox, told: impl Fn(&Error) -> Fault) -> Result<(Queried, bool), Fault> {
        let Self { rows, columns, query } = self;
        let (chunks, received) = mpsc::channel(WAITING);
        let writing = tokio::task::spawn_blocking(move || write(&query, columns, received, outbox));
        let fed = feed(pin!(rows), chunks, told).await;
        let written = writing.await.map_err(|_| Fault::internal("engine.writer"))?;
        let ended = fed?;
        written.map(|queried| (queried, ended)).map_err(|failed| from_worker(&failed))
    }
}

async fn feed(
    mut rows: Pin<&mut RowStream>,
    chunks: mpsc::Sender<Chunk>,
    told: impl Fn(&Error) -> Fault,
) -> Result<bool, Fault> {
    loop {
        let (chunk, ended) = match chunk(rows.as_mut()).await {
            Ok(chunk) => chunk,
            Err(error) => {
                // What was written so far must not be taken for the whole.
                drop(chunks.send(Err(Failed::new(Cause::Source, "cut"))).await);
                return Err(told(&error));
            }
        };
        let wanted = chunk.is_empty() || chunks.send(Ok(chunk)).await.is_ok();
        if ended || !wanted {
            // The row that told that there was more is mostly the last one.
            return Ok(ended || rows.next().await.is_none());
        }
    }
}

/// The next rows, and whether they are the last.
async fn chunk(mut rows: Pin<&mut RowStream>) -> Result<(Vec<Row>, bool), Error> {
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    while chunk.len() < CHUNK_ROWS && bytes < CHUNK_BYTES {
        match rows.next().await.transpose()? {
            Some(row) => {
                bytes += row.raw_size_bytes();
                chunk.push(row);
            }
            None => return Ok((chunk, true)),
        }
    }
    Ok((chunk, false))
}

/// The writer's side. It blocks.
fn write(
    query: &Query,
    mut columns: Vec<Column>,
    mut chunks: mpsc::Receiver<Chunk>,
    outbox: Outbox,
) -> Result<Queried, Failed> {
    let first = chunks.blocking_recv().transpose()?;
    settle(&mut columns, first.as_deref().unwrap_or_default());
    let (schema, words) = (columns::schema(&columns), columns::words(&columns));
    let mut gathered: Vec<Gathered> = columns.iter().map(Gathered::new).collect();
    let later = std::iter::from_fn(move || chunks.blocking_recv());
    let whole = first.map(Ok).into_iter().chain(later);
    let batches = {
        let schema = schema.clone();
        whole.map(move |chunk| batch(&schema, &mut gathered, &chunk?))
    };
    encode(query, schema, words, batches, outbox)
}

/// Exact numbers whose type does not say how many digits they have get as many as the first rows show.
fn settle(columns: &mut [Column], rows: &[Row]) {
    for (index, column) in columns.iter_mut().enumerate().filter(|(_, column)| column.cell.is_unsettled()) {
        let shown = rows.iter().filter_map(|row| digits(&column.cell, raw(row, index).ok()??));
        let most = shown.max().unwrap_or_default();
        column.cell.settle(most);
    }
}

fn batch(schema: &SchemaRef, gathered: &mut [Gathered], rows: &[Row]) -> Result<RecordBatch, Failed> {
    for row in rows {
        for (index, column) in gathered.iter_mut().enumerate() {
            column.push(raw(row, index)?)?;
        }
    }
    let arrays = gathered.iter_mut().map(Gathered::finish).collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
        .map_err(|e| Failed::new(Cause::Protocol, e.to_string()))
}

/// A value as it came, of whatever type.
pub struct Raw<'a>(pub &'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn raw(row: &Row, index: usize) -> Result<Option<&[u8]>, Failed> {
    let found = row.try_get::<usize, Option<Raw<'_>>>(index);
    found.map(|raw| raw.map(|Raw(bytes)| bytes)).map_err(|_| Failed::new(Cause::Protocol, "a row without its columns"))
}
