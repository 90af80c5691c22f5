//! Diagnostics as rules see them: records of a kind, with fields and the line that they were read from.

use crate::diagnostics::Diagnostics;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One thing that is known about the device.
#[derive(Debug, Clone)]
pub struct Fact {
    pub fields: Map<String, Value>,
    pub line: String,
}

/// Facts by their kind. A kind that is there and empty was looked at, and there was nothing.
pub type Facts = BTreeMap<&'static str, Vec<Fact>>;

pub fn facts(diagnostics: &Diagnostics) -> Facts {
    let mut facts = Facts::new();
    let mut add = |kind: &'static str, looked: bool, values: Vec<Value>| {
        if looked || !values.is_empty() {
            facts.insert(kind, values.into_iter().map(fact).collect());
        }
    };
    add("interface", false, values(&diagnostics.interfaces));
    add("route", diagnostics.routes.is_some(), diagnostics.routes.iter().flat_map(|routes| values(routes)).collect());
    add("disk", false, values(&diagnostics.disks));
    add("service", false, values(&diagnostics.services));
    add("socket", false, values(&diagnostics.sockets));
    add("log", false, values(&diagnostics.logs));
    add("ping", false, values(&diagnostics.pings));
    if let Some(dns) = &diagnostics.dns {
        let mut value = serde_json::to_value(dns).unwrap_or_default();
        put(&mut value, "server_count", dns.servers.len() as u64);
        add("dns", true, vec![value]);
        let server = |server: &String| serde_json::json!({"server": server, "line": format!("nameserver {server}")});
        add("dns_server", true, dns.servers.iter().map(server).collect());
    }
    if let Some(memory) = &diagnostics.memory {
        let mut value = serde_json::to_value(memory).unwrap_or_default();
        put(&mut value, "available_percent", percent(memory.available_mb, memory.total_mb));
        put(&mut value, "swap_used_percent", percent(memory.swap_used_mb, memory.swap_total_mb));
        add("memory", true, vec![value]);
    }
    facts
}

fn values<T: serde::Serialize>(items: &[T]) -> Vec<Value> {
    items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect()
}

fn put(value: &mut Value, name: &str, number: u64) {
    if let Value::Object(fields) = value {
        fields.insert(name.to_owned(), number.into());
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(0)
}

fn fact(value: Value) -> Fact {
    let Value::Object(mut fields) = value else { return Fact { fields: Map::new(), line: String::new() } };
    if let Some(Value::Array(addresses)) = fields.get("addresses") {
        let count = addresses.len() as u64;
        fields.insert("address_count".to_owned(), count.into());
    }
    let line = fields.get("line").and_then(Value::as_str).unwrap_or_default().to_owned();
    Fact { fields, line }
}
