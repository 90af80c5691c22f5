//! Connections: how many there may be, and for how long one that gets nowhere is kept.

use axum_server::accept::Accept;
use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_http::add_extension::AddExtension;

/// A reader that takes nothing for this long is let go, and what it was to read with it.
const STALLED: Duration = Duration::from_secs(30);
/// A peer that says nothing for this long is asked whether it is still there.
const QUIET: Duration = Duration::from_secs(60);
/// Files that the house needs for itself: the ledger, workers' pipes, data.
const KEPT_FOR_THE_HOUSE: u64 = 512;

/// Lets connections in, before anything is read from them.
#[derive(Clone)]
pub struct Connections {
    free: Arc<Semaphore>,
    first_byte: Duration,
}

/// Held by everything that belongs to one connection.
type Place = Arc<OwnedSemaphorePermit>;

impl Connections {
    /// As many as this process may have open files, less what it needs itself.
    pub fn new(first_byte: Duration) -> Self {
        let files = raise_file_limit();
        let most = files.saturating_sub(KEPT_FOR_THE_HOUSE).max(files / 2);
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(most)), first_byte }
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for Connections {
    type Stream = TcpStream;
    type Service = AddExtension<S, Place>;
    type Future = Pin<Box<dyn Future<Output = io::Result<(TcpStream, Self::Service)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        // One too many is closed at once: waiting, it would hold the file that the house is short of.
        let place = self.free.clone().try_acquire_owned();
        let first_byte = self.first_byte;
        Box::pin(async move {
            let place = place.map_err(|_| io::Error::other("too many connections"))?;
            // A word of an answer must not wait until the word before it is acknowledged.
            stream.set_nodelay(true)?;
            sockopt::set_tcp_user_timeout(&stream, u32::try_from(STALLED.as_millis()).unwrap_or(u32::MAX))?;
            sockopt::set_socket_keepalive(&stream, true)?;
            sockopt::set_tcp_keepidle(&stream, QUIET)?;
            // A client that never says anything is let go, too.
            tokio::time::timeout(first_byte, stream.readable()).await??;
            Ok((stream, AddExtension::new(service, Arc::new(place))))
        })
    }
}

/// Service managers start programs with room for 1,024 files and leave it to them to ask for what they may have.
fn raise_file_limit() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(1 << 20);
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        Ok(()) => wanted,
        Err(_) => current.unwrap_or(wanted),
    }
}
