//! Connections, kept between statements and thrown away on any doubt.

use super::{fault, tls};
use crate::source::PostgresSource;
use domain::{Fault, Kind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that lives longer would keep a role's old rights, and an old server, for ever.
const MAX_AGE: Duration = Duration::from_secs(600);

pub struct Pool {
    name: String,
    config: Config,
    tls: MakeRustlsConnect,
    places: Arc<Semaphore>,
    /// How long a statement may wait for a place.
    queue: Duration,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    client: Client,
    born: Instant,
}

/// A connection in use, and its place among those that there may be.
pub struct Connection {
    pub client: Client,
    born: Instant,
    place: OwnedSemaphorePermit,
}

impl Pool {
    pub fn new(name: &str, settings: &PostgresSource, queue: Duration) -> Result<Self, Fault> {
        // The parser's words may hold parts of the address, and with it the password.
        let mut config: Config = settings.url.expose().parse().map_err(|_| {
            Fault::new(Kind::Unavailable, "source.address", format!("the address of source `{name}` is not one"))
                .hint("write postgres://user:password@host:port/database")
        })?;
        config.application_name("gatehouse").connect_timeout(CONNECT_TIMEOUT);
        config.ssl_mode(if settings.tls.is_some() { SslMode::Require } else { SslMode::Disable });
        let tls = tls::connector(name, settings.tls.as_ref())?;
        let places = Arc::new(Semaphore::new(settings.connections));
        Ok(Self { name: name.to_owned(), config, tls, places, queue, idle: Mutex::default() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection that was idle, or a new one.
    pub async fn take(&self) -> Result<Connection, Fault> {
        let place = self.place().await?;
        match self.take_idle() {
            Some(Idle { client, born }) => Ok(Connection { client, born, place }),
            None => self.connect(place).await,
        }
    }

    /// A new one, after an idle one turned out to be dead. The others are no better.
    pub async fn replace(&self, dead: Connection) -> Result<Connection, Fault> {
        self.lock().clear();
        self.connect(dead.place).await
    }

    async fn place(&self) -> Result<OwnedSemaphorePermit, Fault> {
        match tokio::time::timeout(self.queue, self.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(crate::fault::busy()),
        }
    }

    async fn connect(&self, place: OwnedSemaphorePermit) -> Result<Connection, Fault> {
        let connecting = self.config.connect(self.tls.clone());
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        let (client, connection) = match connected {
            Ok(Ok(connected)) => connected,
            Ok(Err(error)) => return Err(fault::connecting(&self.name, &error)),
            Err(_) => return Err(fault::unreachable(&self.name)),
        };
        // Ends with its client. What breaks it shows at the next statement.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Connection { client, born: Instant::now(), place })
    }

    pub fn put_back(&self, connection: Connection) {
        let Connection { client, born, .. } = connection;
        if !client.is_closed() && born.elapsed() < MAX_AGE {
            self.lock().push(Idle { client, born });
        }
    }

    /// Stops what runs on a connection, from another one, and lets the connection go.
    pub fn cancel(&self, connection: Connection) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (token, tls) = (connection.client.cancel_token(), self.tls.clone());
        runtime.spawn(async move {
            let cancelled = tokio::time::timeout(CONNECT_TIMEOUT, token.cancel_query(tls)).await;
            if !matches!(cancelled, Ok(Ok(()))) {
                // The server's own time-out ends it then.
                tracing::warn!("a statement on Postgres could not be cancelled");
            }
            // Its place is free only now: what still runs there counts.
            drop(connection);
        });
    }

    fn take_idle(&self) -> Option<Idle> {
        let mut idle = self.lock();
        idle.retain(|idle| !idle.client.is_closed() && idle.born.elapsed() < MAX_AGE);
        idle.pop()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
