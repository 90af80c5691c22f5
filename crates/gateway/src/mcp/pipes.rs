//! A server for the one client that holds the other ends of two pipes.

use super::{Offer, Server};
use crate::House;
use domain::{Caller, Fault};
use rmcp::ServiceExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;

/// How long statements may take to be recorded after the client has gone.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How often contracts are looked at for changes.
const RELOAD: Duration = Duration::from_millis(500);

impl Server {
    /// Serves one client of a house that goes on without it.
    pub async fn over_socket(self, client: UnixStream) {
        // Its end cancels what it was given.
        let until = self.house.shutdown.child_token();
        let (from_client, to_client) = client.into_split();
        if let Ok(running) = self.serve_with_ct((from_client, to_client), until).await {
            let _ = running.waiting().await;
        }
    }

    /// Serves until the client goes, or the house is shut down.
    pub async fn over_pipes(
        self,
        from_client: impl AsyncRead + Send + Unpin + 'static,
        to_client: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), Fault> {
        let house = self.house.clone();
        // What cannot work is said at once, not with the first call.
        let caller = self.caller().await?;
        seen(&house, &caller, &self.offer).await?;
        let reloading = tokio::spawn(reload(house.clone()));
        // A client that goes before it has said who it is, or says it wrongly, has been served too.
        if let Ok(running) = self.serve_with_ct((from_client, to_client), house.shutdown.clone()).await {
            let _ = running.waiting().await;
        }
        reloading.abort();
        house.active.cancel_all();
        house.tasks.close();
        let _ = tokio::time::timeout(LAST_WORDS, house.tasks.wait()).await;
        house.engines.close();
        Ok(())
    }
}

async fn seen(house: &House, caller: &Caller, offer: &Offer) -> Result<(), Fault> {
    match offer {
        Offer::Chat => Ok(()),
        Offer::Sqlite { dataset } => house.dataset(caller, dataset).await.map(drop),
    }
}

/// A contract that changes while the client is connected binds its next call.
async fn reload(house: Arc<House>) {
    let mut ticks = tokio::time::interval(RELOAD);
    loop {
        ticks.tick().await;
        house.contracts.reload(&house.ledger).await;
        house.engines.sweep(std::time::Instant::now());
    }
}
