//! A result on its way from another machine.

use crate::client::Piece;
use crate::protocol::Queried;
use bytes::{Bytes, BytesMut};
use domain::Fault;
use std::future::Future;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Pieces that may wait for a slow reader; then the engine waits.
const WAITING: usize = 2;

/// Where an engine puts its pieces.
pub(crate) type Outbox = mpsc::Sender<Result<Piece, Fault>>;

/// What a statement gives, piece by piece: first its columns, last that it is done. Dropping it ends the statement.
pub(crate) struct Pieces {
    received: mpsc::Receiver<Result<Piece, Fault>>,
    feeder: JoinHandle<()>,
}

impl Pieces {
    /// Lets `feed` make them, in a task that ends with the last or when nobody wants more.
    pub fn fed<F>(feed: impl FnOnce(Outbox) -> F) -> Self
    where
        F: Future<Output = Result<Queried, Fault>> + Send + 'static,
    {
        let (outbox, received) = mpsc::channel(WAITING);
        let feeding = feed(outbox.clone());
        let feeder = tokio::spawn(async move {
            let end = feeding.await.map(Piece::Done);
            // Whoever has gone needs no end.
            drop(outbox.send(end).await);
        });
        Self { received, feeder }
    }

    pub async fn next(&mut self) -> Result<Piece, Fault> {
        self.received.recv().await.unwrap_or_else(|| Err(Fault::internal("engine.feeder")))
    }

    /// Everything, for small results.
    pub async fn whole(mut self) -> Result<(Queried, Bytes), Fault> {
        let mut bytes = BytesMut::new();
        loop {
            match self.next().await? {
                Piece::Columns(_) => {}
                Piece::Bytes(more) => bytes.extend_from_slice(&more),
                Piece::Done(queried) => return Ok((queried, bytes.freeze())),
            }
        }
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        self.feeder.abort();
    }
}
