//! What the tests of Records share.

use crate::records::books::Books;
use crate::support::server;
use serde_json::{Value, json};
use std::sync::OnceLock;
use testkit::{Client, Reply, Server};

/// One demo server for the tests of Records: each writes to rows of its own.
pub fn firm() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| server().demo().start())
}

pub fn agent() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| firm().client("bob", "agent"))
}

/// A firm, and an agent of it.
pub struct Firm {
    pub engine: &'static str,
    pub server: &'static Server,
    pub agent: Client,
}

/// The same records in each engine that Records writes to.
pub fn firms() -> &'static [Firm; 2] {
    static FIRMS: OnceLock<[Firm; 2]> = OnceLock::new();
    FIRMS.get_or_init(|| {
        let of = |engine, server: &'static Server| Firm { engine, server, agent: server.client("bob", "agent") };
        static BOOKS: OnceLock<Server> = OnceLock::new();
        let books = BOOKS.get_or_init(|| Books::new().server().start());
        [of("SQLite", firm()), of("Postgres", books)]
    })
}

/// Sends one step.
pub fn step(client: &Client, step: &Value) -> Reply {
    client.post("/agent/db/plan", &json!({ "version": "1", "steps": [step] }))
}

pub fn read(client: &Client, resource: &str, select: &[&str], filter: &[(&str, &str, Value)]) -> Value {
    let filter: Vec<Value> = filter.iter().map(|(f, op, v)| json!({ "field": f, "op": op, "value": v })).collect();
    let body = json!({ "op": "READ", "resource": resource, "select": select, "where": filter, "limit": 50 });
    let reply = step(client, &body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

pub fn update(case: &str, set: &Value) -> Value {
    json!({ "op": "UPDATE", "resource": "cases", "update": set, "limit": 1,
            "where": [{ "field": "id", "op": "=", "value": case }] })
}

/// An UPDATE of the row as it was seen.
pub fn versioned(mut update: Value, seen: &Value) -> Value {
    if let Some(filter) = update["where"].as_array_mut() {
        filter.push(json!({ "field": "updated_at", "op": "=", "value": seen }));
    }
    update
}

pub fn email(case: &str, subject: &str) -> Value {
    json!({ "op": "INSERT", "resource": "client_communications",
            "values": { "case_id": case, "direction": "OUTBOUND", "channel": "EMAIL", "subject": subject } })
}

/// Type and code of what went wrong.
pub fn error(reply: &Reply) -> (u16, String, String) {
    let body = reply.json();
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    (reply.status, text("/error/type"), text("/error/details/code"))
}
