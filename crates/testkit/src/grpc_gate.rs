//! What stands before a gRPC server that asks nobody who they are: it demands a token, passes on everything that comes with
//! it, and can speak TLS.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum_server::tls_rustls::RustlsConfig;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tonic::codegen::Service;
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, body};

/// A running gate. It lives as long as the process of the tests.
pub struct GrpcGate {
    pub url: String,
    way: Way,
}

#[derive(Clone)]
struct Way {
    /// To the server.
    beyond: String,
    channel: Option<Channel>,
    /// The token that is accepted now; none where nobody is known any more.
    token: Arc<Mutex<Option<String>>>,
    /// Whether statements are kept from their plan.
    held: watch::Sender<bool>,
    waiting: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
    /// Answers that are still to be that too much is going on.
    busy: Arc<AtomicUsize>,
}

impl GrpcGate {
    pub fn before(beyond: &str, token: &str) -> Self {
        Self::demanding(beyond, Arc::new(Mutex::new(Some(token.to_owned()))), None)
    }

    /// One that speaks TLS as `localhost`, with the `server.crt` and `server.key` of this directory.
    pub fn secured(beyond: &str, token: &str, dir: &Path) -> Self {
        Self::demanding(beyond, Arc::new(Mutex::new(Some(token.to_owned()))), Some(dir))
    }

    /// One that shares its token with another gate.
    pub(crate) fn demanding(beyond: &str, token: Arc<Mutex<Option<String>>>, tls: Option<&Path>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener of tokio's");
        let port = listener.local_addr().expect("its address").port();
        let url = if tls.is_some() { format!("https://localhost:{port}") } else { format!("http://127.0.0.1:{port}") };
        let (beyond, held) = (beyond.to_owned(), watch::Sender::new(false));
        let way = Way {
            beyond,
            channel: None,
            token,
            held,
            waiting: Arc::default(),
            asked: Arc::default(),
            busy: Arc::default(),
        };
        let (shared, pem) = (way.clone(), tls.map(|dir| ["server.crt", "server.key"].map(|file| dir.join(file))));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(serve(listener, shared, pem));
        });
        Self { url, way }
    }

    /// From now on this is the token.
    pub fn demand(&self, token: &str) {
        *self.way.token.lock().expect("the token") = Some(token.to_owned());
    }

    /// From now on nobody is told the plan of a statement, or everybody again.
    pub fn hold(&self, held: bool) {
        self.way.held.send_replace(held);
    }

    /// How many wait for the plan of a statement.
    pub fn waiting(&self) -> usize {
        self.way.waiting.load(Ordering::SeqCst)
    }

    /// How often it was asked anything, with a token or without.
    pub fn asked(&self) -> usize {
        self.way.asked.load(Ordering::SeqCst)
    }

    /// The next answers say that too much is going on.
    pub fn busy(&self, answers: usize) {
        self.way.busy.store(answers, Ordering::SeqCst);
    }
}

async fn serve(listener: TcpListener, mut way: Way, pem: Option<[std::path::PathBuf; 2]>) {
    way.channel = Some(Endpoint::from_shared(way.beyond.clone()).expect("an address").connect_lazy());
    let router = Router::new().fallback(pass).with_state(way);
    let Some([certificate, key]) = pem else {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        return axum::serve(listener, router).await.expect("the gate to stand");
    };
    // Whoever is first decides; all of us decide alike.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let tls = RustlsConfig::from_pem_file(certificate, key).await.expect("a certificate");
    let server = axum_server::from_tcp_rustls(listener, tls).expect("a listener");
    server.serve(router.into_make_service()).await.expect("the gate to stand");
}

/// Counts who waits, also those who leave.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn begin(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn pass(State(mut way): State<Way>, request: Request) -> Response<Body> {
    way.asked.fetch_add(1, Ordering::SeqCst);
    let said = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    let token = way.token.lock().expect("the token").clone();
    if token.is_none() || said.map(str::to_owned) != token.map(|token| format!("Bearer {token}")) {
        return Status::unauthenticated("who are you?").into_http::<Body>();
    }
    if way.busy.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
        return Status::unavailable("try again").into_http::<Body>();
    }
    if request.uri().path().ends_with("/GetFlightInfo") {
        let _waiting = Waiting::begin(&way.waiting);
        drop(way.held.subscribe().wait_for(|held| !held).await);
    }
    let Some(beyond) = &mut way.channel else { return Status::internal("no way").into_http::<Body>() };
    let ready = std::future::poll_fn(|context| beyond.poll_ready(context)).await;
    let answer = match ready {
        Ok(()) => beyond.call(request.map(body::Body::new)).await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => answer.map(Body::new),
        Err(error) => Status::unavailable(error.to_string()).into_http::<Body>(),
    }
}
