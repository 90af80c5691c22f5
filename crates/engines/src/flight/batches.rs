//! Results that are decoded and written anew: in another form, or so that nothing but their rows shows.

use super::connect::Connection;
use super::fault;
use crate::fault::from_worker;
use crate::protocol::{Cause, Failed, Queried, Query};
use crate::remote::{Outbox, encode};
use crate::worker::encode::columns_of;
use arrow_array::RecordBatch;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::{FlightInfo, Ticket};
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
    let planned = info.clone().try_decode_schema();
    let mut results = Results::of(connection, info);
    let first = results.next().await?;
    // Of no rows some engines give no messages at all.
    let schema = match (&results.schema, planned) {
        (Some(schema), _) => schema.clone(),
        (None, Ok(schema)) => Arc::new(schema),
        (None, Err(_)) => return Err(super::reframe::unreadable()),
    };
    let (sender, mut received) = mpsc::channel::<Result<RecordBatch, Failed>>(WAITING);
    let writing = tokio::task::spawn_blocking(move || {
        let columns = columns_of(&schema);
        encode(&query, schema, columns, std::iter::from_fn(move || received.blocking_recv()), outbox)
    });
    let fed = feed(first, results, &sender).await;
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
    first: Option<RecordBatch>,
    mut results: Results<'_>,
    sender: &mpsc::Sender<Result<RecordBatch, Failed>>,
) -> Result<(), Fault> {
    let mut next = first;
    while let Some(batch) = next {
        if sender.send(Ok(batch)).await.is_err() {
            return Ok(());
        }
        next = results.next().await?;
    }
    Ok(())
}

/// The batches of all parts of a result, one part after the other.
struct Results<'a> {
    connection: &'a Connection,
    tickets: std::vec::IntoIter<Ticket>,
    part: Option<FlightRecordBatchStream>,
    /// As the rows themselves come with it. What an engine plans may have other names: Ballista at times tells those of a
    /// step on the way.
    schema: Option<SchemaRef>,
}

impl<'a> Results<'a> {
    fn of(connection: &'a Connection, info: FlightInfo) -> Self {
        let tickets: Vec<Ticket> = info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket).collect();
        Self { connection, tickets: tickets.into_iter(), part: None, schema: None }
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>, Fault> {
        loop {
            if let Some(part) = &mut self.part {
                let batch = part.try_next().await.map_err(|e| fault::from_flight(&self.connection.name, e))?;
                if self.schema.is_none() {
                    self.schema = part.schema().cloned();
                }
                if batch.is_some() {
                    return Ok(batch);
                }
            }
            let Some(ticket) = self.tickets.next() else { return Ok(None) };
            self.part = Some(self.connection.batches(ticket).await?);
        }
    }
}
