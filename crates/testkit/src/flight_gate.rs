//! What stands before an engine that asks nobody who they are: a gRPC server that demands a token, and passes on
//! everything that comes with it.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use std::sync::{Arc, Mutex};
use tonic::codegen::Service;
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, body};

/// A running gate. It lives as long as the process of the tests.
pub struct FlightGate {
    pub url: String,
    token: Arc<Mutex<String>>,
}

#[derive(Clone)]
struct Way {
    /// To the engine.
    beyond: Channel,
    token: Arc<Mutex<String>>,
}

impl FlightGate {
    pub fn before(beyond: &str, token: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener of tokio's");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let (beyond, token) = (beyond.to_owned(), Arc::new(Mutex::new(token.to_owned())));
        let shared = token.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let beyond = Endpoint::from_shared(beyond).expect("an address").connect_lazy();
                let router = Router::new().fallback(pass).with_state(Way { beyond, token: shared });
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                axum::serve(listener, router).await.expect("the gate to stand");
            });
        });
        Self { url, token }
    }

    /// From now on this is the token.
    pub fn demand(&self, token: &str) {
        token.clone_into(&mut self.token.lock().expect("the token"));
    }
}

async fn pass(State(mut way): State<Way>, request: Request) -> Response<Body> {
    let said = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    let known = said == Some(&format!("Bearer {}", way.token.lock().expect("the token")));
    if !known {
        return Status::unauthenticated("who are you?").into_http::<Body>();
    }
    let ready = std::future::poll_fn(|context| way.beyond.poll_ready(context)).await;
    let answer = match ready {
        Ok(()) => way.beyond.call(request.map(body::Body::new)).await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => answer.map(Body::new),
        Err(error) => Status::unavailable(error.to_string()).into_http::<Body>(),
    }
}
