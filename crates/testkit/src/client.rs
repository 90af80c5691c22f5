//! A plain HTTP client that shows what came back, whatever the status.

use serde_json::Value;
use std::io::Read;
use ureq::Agent;
use ureq::http::{HeaderMap, Method, Request};

#[derive(Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
}

/// A reply, read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// An answer that did not come, or not to its end: what there is of its body, and what became of the rest.
#[derive(Debug)]
pub struct Cut {
    pub body: Vec<u8>,
    pub why: String,
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: String,
    pub name: String,
    pub data: Value,
}

impl Client {
    pub fn new(url: &str) -> Self {
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).build();
        Self { agent: config.into(), url: url.into(), headers: Vec::new() }
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, Vec::new())
    }

    pub fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, Vec::new())
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(Method::POST, path, body.to_string().into_bytes())
    }

    pub fn send(&self, method: Method, path: &str, body: Vec<u8>) -> Reply {
        let sent = self.try_send(method.clone(), path, body);
        sent.unwrap_or_else(|cut| panic!("{method} {path}: no whole answer: {cut:?}"))
    }

    /// For servers that may be killed at any moment.
    pub fn try_send(&self, method: Method, path: &str, body: Vec<u8>) -> Result<Reply, Cut> {
        let mut reply = self.try_open(method, path, body).map_err(|e| Cut { body: Vec::new(), why: e.to_string() })?;
        let mut body = Vec::new();
        match reply.body_mut().as_reader().read_to_end(&mut body) {
            Ok(_) => Ok(Reply { status: reply.status().as_u16(), headers: reply.headers().clone(), body }),
            Err(e) => Err(Cut { body, why: e.to_string() }),
        }
    }

    /// The reply as soon as its headers are there, for streams.
    pub fn open(&self, method: Method, path: &str, body: Vec<u8>) -> ureq::http::Response<ureq::Body> {
        self.try_open(method, path, body).expect("an answer")
    }

    fn try_open(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        self.agent.run(request.body(body).expect("a request"))
    }

    /// Asks in words, as `POST /chat`.
    pub fn ask(&self, dataset: &str, message: &str) -> Value {
        let reply = self.post("/chat", &serde_json::json!({ "dataset_id": dataset, "message": message }));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    /// The events of a stream, to its end.
    pub fn events(&self, path: &str, body: &Value) -> Vec<Event> {
        let reply = self.post(path, body);
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.events()
    }
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("not JSON ({e}): {}", self.text()))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }

    /// `error.code` of the open envelope.
    pub fn code(&self) -> String {
        let json = self.json();
        json.pointer("/error/code")
            .or(json.pointer("/result/error/code"))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .into()
    }

    pub fn events(&self) -> Vec<Event> {
        events(&self.text())
    }
}

impl Cut {
    /// The events that came whole.
    pub fn events(&self) -> Vec<Event> {
        let text = String::from_utf8_lossy(&self.body);
        events(text.rsplit_once("\n\n").map_or("", |(whole, _)| whole))
    }
}

fn events(text: &str) -> Vec<Event> {
    let field = |block: &str, name: &str| {
        block.lines().find_map(|l| l.strip_prefix(name)).map(|v| v.trim().to_owned()).unwrap_or_default()
    };
    text.split("\n\n")
        .filter(|block| block.contains("event:"))
        .map(|block| Event {
            id: field(block, "id:"),
            name: field(block, "event:"),
            data: serde_json::from_str(&field(block, "data:")).expect("JSON in an event"),
        })
        .collect()
}
