//! A small internal service: rows in memory over HTTP, as many companies have them.
//!
//! `GET /cases?client=…&limit=…&offset=…`, `GET`, `PATCH` and `PUT /cases/{id}`, `POST /cases`. Replies are `{"data": …}`; a
//! row has an ETag of its version, `If-Match` is heeded, and a repeated `Idempotency-Key` gives the first row again.

pub(crate) mod http;

use http::{Request, respond};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

/// A running service, on a port of the system's choice. It lives as long as the process of the tests.
pub struct Service {
    pub url: String,
    state: Arc<Mutex<State>>,
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Called {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Value,
}

/// What the service does with one request, instead of what it should.
#[derive(Debug, Clone)]
pub enum Upset {
    Status(u16),
    /// Sends the client elsewhere.
    Redirect(String),
    /// Never answers, until the client leaves.
    Silence,
    /// Answers with this text.
    Text(String),
}

#[derive(Default)]
struct State {
    rows: Vec<Map<String, Value>>,
    made: HashMap<String, Value>,
    calls: Vec<Called>,
    upset: Option<Upset>,
}

impl Service {
    /// The credential that it wants.
    pub const TOKEN: &str = "service-secret";

    /// With these rows: objects with an `id` and a `version`.
    pub fn with(rows: &Value) -> Self {
        let rows = rows.as_array().expect("rows").iter().map(|row| row.as_object().expect("a row").clone()).collect();
        let state = Arc::new(Mutex::new(State { rows, ..State::default() }));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = state.clone();
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let state = shared.clone();
                thread::spawn(move || serve(&state, connection));
            }
        });
        Self { url, state }
    }

    /// Everything that was asked so far.
    pub fn calls(&self) -> Vec<Called> {
        lock(&self.state).calls.clone()
    }

    /// The row as the service has it.
    pub fn row(&self, id: &str) -> Value {
        lock(&self.state).find(id).map(|row| Value::from(row.clone())).unwrap_or_default()
    }

    pub fn count(&self) -> usize {
        lock(&self.state).rows.len()
    }

    /// The next request goes wrong.
    pub fn upset(&self, upset: Upset) {
        lock(&self.state).upset = Some(upset);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("no panic while it was held")
}

fn serve(state: &Mutex<State>, mut connection: TcpStream) {
    let Some(request) = http::read(&mut connection) else { return };
    let Request { method, target, headers, body } = request;
    let called = Called { method, target, headers, body: serde_json::from_slice(&body).unwrap_or_default() };
    let upset = {
        let mut state = lock(state);
        state.calls.push(called.clone());
        state.upset.take()
    };
    match upset {
        Some(Upset::Silence) => http::wait_for_departure(&mut connection),
        Some(Upset::Redirect(to)) => respond(&mut connection, 307, &[("location", &to)], "{}"),
        Some(Upset::Text(text)) => respond(&mut connection, 200, &[], &text),
        Some(Upset::Status(status)) => respond(&mut connection, status, &[], r#"{"error": "internal detail: row 17"}"#),
        None => {
            let (status, row) = lock(state).answer(&called);
            let tag = row["version"].as_i64().map(|version| format!("\"{version}\"")).unwrap_or_default();
            let headers: &[(&str, &str)] = if tag.is_empty() { &[] } else { &[("etag", &tag)] };
            respond(&mut connection, status, headers, &json!({ "data": row }).to_string());
        }
    }
}

impl State {
    fn answer(&mut self, called: &Called) -> (u16, Value) {
        if called.headers.get("authorization").map(String::as_str) != Some(&format!("Bearer {}", Service::TOKEN)) {
            return (401, Value::Null);
        }
        let (path, query) = called.target.split_once('?').unwrap_or((&called.target, ""));
        match (called.method.as_str(), path.strip_prefix("/cases").map(|id| id.trim_start_matches('/'))) {
            ("GET", Some("")) => (200, self.list(query)),
            ("POST", Some("")) => self.make(called),
            ("GET", Some(id)) => self.find(id).map_or((404, Value::Null), |row| (200, row.clone().into())),
            ("PATCH" | "PUT", Some(id)) => self.change(id, called),
            _ => (404, Value::Null),
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut Map<String, Value>> {
        self.rows.iter_mut().find(|row| row["id"] == id)
    }

    fn list(&self, query: &str) -> Value {
        let given: HashMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let number = |name: &str, usual| given.get(name).and_then(|n| n.parse().ok()).unwrap_or(usual);
        let wanted = |row: &&Map<String, Value>| {
            let same = |parameter: &str, member: &str| given.get(parameter).is_none_or(|value| row[member] == *value);
            same("client", "clientId") && same("status", "status") && same("case_no", "caseNo")
        };
        let rows = self.rows.iter().filter(wanted).skip(number("offset", 0)).take(number("limit", usize::MAX));
        rows.cloned().map(Value::from).collect()
    }

    fn make(&mut self, called: &Called) -> (u16, Value) {
        let Some(key) = called.headers.get("idempotency-key") else { return (400, Value::Null) };
        if let Some(row) = self.made.get(key) {
            return (200, row.clone());
        }
        let Some(mut row) = called.body.as_object().cloned() else { return (400, Value::Null) };
        if self.rows.iter().any(|other| other["caseNo"] == row["caseNo"]) {
            return (409, Value::Null);
        }
        row.insert("id".into(), json!(format!("case_{}", self.rows.len() + 1)));
        row.insert("version".into(), json!(1));
        self.made.insert(key.clone(), row.clone().into());
        self.rows.push(row.clone());
        (201, row.into())
    }

    fn change(&mut self, id: &str, called: &Called) -> (u16, Value) {
        let Some(row) = self.find(id) else { return (404, Value::Null) };
        let tag = format!("\"{}\"", row["version"]);
        if called.headers.get("if-match").is_some_and(|wanted| *wanted != tag) {
            return (412, Value::Null);
        }
        let Some(body) = called.body.as_object() else { return (400, Value::Null) };
        if body.get("claim").and_then(Value::as_f64).is_some_and(|claim| claim < 0.0) {
            return (422, Value::Null);
        }
        if called.method == "PUT" {
            row.clear();
        }
        row.extend(body.clone());
        let version = row["version"].as_i64().unwrap_or_default();
        row.insert("version".into(), json!(version + 1));
        (200, row.clone().into())
    }
}
