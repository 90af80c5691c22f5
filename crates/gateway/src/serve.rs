//! Opens the house to the world, and closes it without losing anything.

use crate::House;
use crate::changes::keep_reconciling;
use crate::connections::Connections;
use crate::doors::{analyst, records};
use crate::house::{CannotOpen, keep_house};
use crate::http::router::router;
use crate::servers;
use axum_server::Handle;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use ledger::AuditEvent;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// How long running statements may go on after the signal. After it they are cancelled; all in all
/// a stop takes less than 5 s.
const GRACE: Duration = Duration::from_millis(2_500);
/// How long cancelled runs may take to be recorded, and then replies to reach their readers.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long the ledger may take for the last entries. Under load a disk may need a while.
const LEAVE: Duration = Duration::from_secs(5);

/// A server that answers.
pub struct Serving {
    pub address: SocketAddr,
    pub scheme: &'static str,
    house: Arc<House>,
    handle: Handle<SocketAddr>,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
}

/// Binds the address and begins to answer.
pub async fn serve(house: Arc<House>) -> Result<Serving, CannotOpen> {
    house.planning.check()?;
    analyst::examine(&house).await?;
    house.audit_lines.reopen();
    let listener = bind(house.config.server.listen)?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    let _ = house.port.set(address.port());
    servers::join(&house, address).await.map_err(|e| e.to_string())?;
    let unexported = house.ledger.take_up_chain().await.map_err(|e| e.to_string())?;
    if unexported > 0 {
        tracing::warn!(unexported, "signed heads were missing in `audit-heads.jsonl`, and are in it again");
    }
    records::examine(&house).await?;
    house.resume_scripts().await.map_err(|fault| fault.to_string())?;
    let handle = Handle::new();
    let app = router(house.clone()).into_make_service_with_connect_info::<SocketAddr>();
    let header_timeout = house.config.server.header_timeout;
    let connections = Connections::new(header_timeout);
    let (server, scheme) = match &house.config.tls {
        None => {
            // Without TLS nobody speaks HTTP/2, and telling the two apart would wait for ever for a
            // client that begins and does not go on.
            let server = axum_server::from_tcp(listener).map_err(|e| e.to_string())?.handle(handle.clone());
            let mut server = server.acceptor(connections).http1_only();
            patient(server.http_builder(), header_timeout);
            (tokio::spawn(server.serve(app)), "http")
        }
        Some(tls) => {
            let config = RustlsConfig::from_pem_file(&tls.cert, &tls.key)
                .await
                .map_err(|e| format!("`tls.cert` or `tls.key` cannot be used: {e} (hint: both are PEM files)"))?;
            let acceptor = RustlsAcceptor::new(config).acceptor(connections);
            let server = axum_server::from_tcp(listener).map_err(|e| e.to_string())?.handle(handle.clone());
            let mut server = server.acceptor(acceptor);
            patient(server.http_builder(), header_timeout);
            (tokio::spawn(server.serve(app)), "https")
        }
    };
    tokio::spawn(keep_house(house.clone()));
    tokio::spawn(servers::keep_beating(house.clone()));
    tokio::spawn(keep_reconciling(house.clone()));
    let started = AuditEvent::new("server.started").detail(serde_json::json!({ "version": env!("CARGO_PKG_VERSION") }));
    house.ledger.append(started).await.map_err(|e| e.to_string())?;
    tokio::spawn(warm_up(house.clone()));
    Ok(Serving { address, scheme, house, handle, server })
}

fn bind(address: SocketAddr) -> Result<TcpListener, CannotOpen> {
    let listener = TcpListener::bind(address).map_err(|e| {
        let hint = match e.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another program has this port: choose one with `--listen`, or `make run PORT=…`"
            }
            std::io::ErrorKind::PermissionDenied => "ports below 1024 are for root: choose a higher one",
            _ => "`--listen` takes an address of this machine, like 127.0.0.1:8080",
        };
        CannotOpen(vec![format!("cannot listen on `{address}`: {e}"), format!("hint: {hint}")])
    })?;
    listener.set_nonblocking(true).map_err(|e| e.to_string())?;
    Ok(listener)
}

/// A client that does not finish its headers in time is let go.
fn patient(
    builder: &mut hyper_util::server::conn::auto::Builder<hyper_util::rt::TokioExecutor>,
    header_timeout: Duration,
) {
    builder.http1().timer(hyper_util::rt::TokioTimer::new()).header_read_timeout(header_timeout);
    let http2 = &mut builder.http2();
    http2.timer(hyper_util::rt::TokioTimer::new()).max_concurrent_streams(100);
    http2.keep_alive_interval(Duration::from_secs(20)).keep_alive_timeout(Duration::from_secs(10));
}

/// Learns every source's schema before the first question does.
async fn warm_up(house: Arc<House>) {
    for dataset in house.datasets.iter() {
        if let Err(fault) = house.schema(dataset).await {
            tracing::warn!(dataset = dataset.id, %fault, "dataset cannot be read");
        }
    }
}

/// What the ledger is told at a stop, after everything has ended.
async fn take_leave(house: &House) {
    if let Err(error) = house.ledger.append(AuditEvent::new("server.stopped")).await {
        tracing::error!(%error, "the stop cannot be recorded");
    }
    if let Err(error) = house.ledger.sign_head().await {
        tracing::error!(%error, "the audit chain's head cannot be signed");
    }
    servers::leave(house).await;
}

impl Serving {
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Closes the house: no new requests, running ones finish or are cancelled, all are recorded,
    /// the audit chain's head is signed, no worker stays behind.
    pub async fn stop(self) {
        let house = self.house;
        house.shutdown.cancel();
        self.handle.graceful_shutdown(None);
        house.tasks.close();
        if tokio::time::timeout(GRACE, house.tasks.wait()).await.is_err() {
            house.active.cancel_all();
            let _ = tokio::time::timeout(LAST_WORDS, house.tasks.wait()).await;
        }
        if tokio::time::timeout(LAST_WORDS, self.server).await.is_err() {
            self.handle.shutdown();
        }
        house.audit_lines.flush(LAST_WORDS);
        // A database that is away is not waited for: other servers settle what is left.
        if tokio::time::timeout(LEAVE, take_leave(&house)).await.is_err() {
            tracing::error!("the ledger does not answer: the stop is not recorded");
        }
        house.engines.close();
    }
}
