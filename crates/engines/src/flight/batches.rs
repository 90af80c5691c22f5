//! Results that are decoded and written anew: in another form, or so that nothing but their rows shows.

use super::connect::Connection;
use super::fault;
use crate::fault::from_worker;
use crate::protocol::{Cause, Failed, Queried, Query};
use crate::remote::{Outbox, encode};
use crate::worker::encode::columns_of;
use arrow_array::RecordBatch;
use arrow_flight::FlightInfo;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_schema::SchemaRef;
use domain::Fault;
use futures_util::TryStreamExt;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Batches that may wait for the writer.
const WAITING: usize = 2;

pub async fn encoded(
    connection: &Connection,
    info: FlightInfo,
    query: Query,
    outbox: Outbox,
) -> Result<Queried, Fault> {
    let schema = info.clone().try_decode_schema().map_err(|_| super::reframe::unreadable())?;
    let schema: SchemaRef = Arc::new(schema);
    let (sender, mut received) = mpsc::channel::<Result<RecordBatch, Failed>>(WAITING);
    let writing = tokio::task::spawn_blocking(move || {
        let columns = columns_of(&schema);
        encode(&query, schema, columns, std::iter::from_fn(move || received.blocking_recv()), outbox)
    });
    let fed = feed(connection, info, &sender).await;
    if fed.is_err() {
        // What was written so far must not be taken for the whole.
        drop(sender.send(Err(Failed::new(Cause::Source, "cut"))).await);
    }
    drop(sender);
    let written = writing.await.map_err(|_| Fault::internal("engine.writer"))?;
    fed?;
    written.map_err(|failed| from_worker(&failed))
}

/// Everything, or until the writer has enough.
async fn feed(
    connection: &Connection,
    info: FlightInfo,
    sender: &mpsc::Sender<Result<RecordBatch, Failed>>,
) -> Result<(), Fault> {
    for ticket in info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket) {
        let mut batches: FlightRecordBatchStream = connection.batches(ticket).await?;
        while let Some(batch) = batches.try_next().await.map_err(|e| fault::from_flight(&connection.name, e))? {
            if sender.send(Ok(batch)).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}
