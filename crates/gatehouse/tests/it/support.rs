//! What the tests share.

use serde_json::Value;
use std::sync::OnceLock;
use testkit::{Client, Server, ServerBuilder};

pub fn server() -> ServerBuilder {
    ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
        .env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "10000")
        .env("GATEHOUSE_LIMITS_BURST", "10000")
}

/// One demo server for all tests that only read.
pub fn demo() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| server().demo().start())
}

/// An analyst of the demo.
pub fn analyst() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| demo().client("ann", "analyst"))
}

pub fn rows(body: &Value) -> &Vec<Value> {
    body["result"]["rows"].as_array().expect("rows")
}

/// Runs SQL on a dataset and gives the whole body.
pub fn sql(client: &Client, dataset: &str, sql: &str) -> Value {
    client.post(&format!("/datasets/{dataset}/query"), &serde_json::json!({ "sql": sql })).json()
}

/// What `gatehouse audit verify` says of a server's ledger.
pub fn verify(server: &Server) -> Value {
    let output = server.command(&["audit", "verify", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}
