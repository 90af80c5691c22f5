//! A model that says what a test has written down: a real HTTP server that speaks the Messages API (`/v1/messages`)
//! and chat completions (`/v1/chat/completions`), plain and streamed.
//!
//! It is as strict as the real ones: what the API refuses, it refuses (`rules`), so that a client which passes here
//! sends what the API takes. `crates/testkit/tests/sdk.rs` lets the vendor's own client talk to it.

mod claude;
mod http;
mod openai;
mod rules;
mod said;

pub use said::Said;

use http::{Request, Responder};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// A running server, on a port of the system's choice. It lives as long as the process of the tests.
pub struct Messages {
    /// Without the `/v1`.
    pub url: String,
    state: Arc<State>,
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub path: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Value,
}

struct State {
    script: Mutex<Script>,
    requests: Mutex<Vec<Recorded>>,
    /// What was thought before each tool call, which must come back as it was.
    thoughts: Mutex<HashMap<String, Vec<Value>>>,
    /// Whether the last reply was a pause: only then may a conversation end in the model's own words.
    paused: AtomicBool,
    /// When each stream's first text went out.
    first_texts: Mutex<Vec<Instant>>,
    departures: Mutex<usize>,
    departed: Condvar,
}

enum Script {
    Turns(VecDeque<Said>),
    Always(Box<Said>),
}

impl Messages {
    /// The key that it knows.
    pub const KEY: &str = "test-key";

    /// Answers the first request with the first reply, and so on; a request too many is refused.
    pub fn script(turns: impl IntoIterator<Item = Said>) -> Self {
        Self::start(Script::Turns(turns.into_iter().collect()))
    }

    /// Answers every request alike.
    pub fn always(reply: Said) -> Self {
        Self::start(Script::Always(Box::new(reply)))
    }

    fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(State {
            script: Mutex::new(script),
            requests: Mutex::default(),
            thoughts: Mutex::default(),
            paused: AtomicBool::default(),
            first_texts: Mutex::default(),
            departures: Mutex::default(),
            departed: Condvar::new(),
        });
        let shared = state.clone();
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let state = shared.clone();
                thread::spawn(move || state.serve(connection));
            }
        });
        Self { url, state }
    }

    /// Everything that was asked so far.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.state.requests).clone()
    }

    /// When the first text of each stream was sent, in the order of sending.
    pub fn first_texts(&self) -> Vec<Instant> {
        lock(&self.state.first_texts).clone()
    }

    /// Waits until this many clients have left a reply that stalls ([`Said::stall_after`]).
    pub fn wait_for_departures(&self, count: usize) {
        let patience = Duration::from_secs(20);
        let departures = lock(&self.state.departures);
        let (_left, waited) =
            self.state.departed.wait_timeout_while(departures, patience, |seen| *seen < count).expect("no panic");
        assert!(!waited.timed_out(), "the client did not leave");
    }
}

impl State {
    /// One request on one connection, which then closes.
    fn serve(&self, mut connection: TcpStream) {
        let Some(Request { path, headers, body }) = http::read(&mut connection) else { return };
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let request = Recorded { path, headers, body };
        lock(&self.requests).push(request.clone());
        let checked = rules::check(&request, &lock(&self.thoughts), self.paused.load(Relaxed));
        let reply = match checked {
            Ok(()) => self.next(&request),
            Err((status, message)) => Said::error(status, &message),
        };
        let mut responder = Responder::new(connection, self);
        // A client that has left is not this server's trouble.
        let _ = match request.path.as_str() {
            "/v1/chat/completions" => openai::answer(&mut responder, &request.body, &reply),
            _ => claude::answer(&mut responder, &request.body, &reply),
        };
    }

    fn next(&self, request: &Recorded) -> Said {
        let reply = match &mut *lock(&self.script) {
            Script::Always(reply) => (**reply).clone(),
            Script::Turns(turns) => turns.pop_front().unwrap_or_else(|| Said::error(400, "the script has ended")),
        };
        let last = request.body["messages"].as_array().and_then(|m| m.last()).map(Value::to_string).unwrap_or_default();
        match reply.expected().filter(|text| !last.contains(*text)) {
            Some(text) => Said::error(400, &format!("the script expected `{text}`, not {last}")),
            None => {
                self.paused.store(reply.stop_reason() == "pause_turn", Relaxed);
                let mut thoughts = lock(&self.thoughts);
                reply.tool_ids().for_each(|id| drop(thoughts.insert(id, claude::thoughts(&reply))));
                reply
            }
        }
    }

    fn saw_departure(&self) {
        *lock(&self.departures) += 1;
        self.departed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while it was held")
}
