//! A connection, driven by the thread that waits for its answers.

use super::Address;
use crate::LedgerError;
use std::cell::Cell;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Settings of every session. Commits are durable even where a database's default is not; a server that hangs in the
/// middle of a transaction must not keep all others from writing.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '10s'; SET client_min_messages = 'warning'; \
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Its methods wait, and must not be called on a thread that runs async code.
pub(super) struct Link {
    pub client: Client,
    pub deadline: Cell<Instant>,
    driver: Driver,
}

impl Link {
    pub(super) fn connect(address: &Address, writes: bool, deadline: Instant) -> Result<Self, LedgerError> {
        let tls = MakeRustlsConnect::new(address.tls()?);
        let (config, driver) = (address.config(writes), Driver::new()?);
        let connected = driver.wait(deadline, async {
            let (client, connection) = config.connect(tls).await?;
            // Ends with an error when the connection is lost; whoever waits for an answer is told it.
            tokio::spawn(connection);
            client.batch_execute(SESSION).await?;
            Ok::<_, tokio_postgres::Error>(client)
        });
        Ok(Self { client: connected??, deadline: Cell::new(deadline), driver })
    }

    /// Waits for an answer, until the deadline.
    pub(super) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, LedgerError> {
        Ok(self.driver.wait(self.deadline.get(), answer)??)
    }
}

/// Runs a connection on whatever thread waits for it: between two threads each answer would take longer than the
/// database needs for it.
struct Driver(Option<Runtime>);

impl Driver {
    fn new() -> Result<Self, LedgerError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self(Some(runtime.map_err(LedgerError::file("open a connection for", "ledger"))?)))
    }

    fn wait<T>(&self, deadline: Instant, answer: impl Future<Output = T>) -> Result<T, LedgerError> {
        let runtime = self.0.as_ref().ok_or(LedgerError::Closed)?;
        let answer = async { tokio::time::timeout_at(deadline.into(), answer).await };
        runtime.block_on(answer).map_err(|_| LedgerError::Unreachable("it does not answer".into()))
    }
}

impl Drop for Driver {
    /// Also where async code drops it: a runtime would wait there for its threads, and may not.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
