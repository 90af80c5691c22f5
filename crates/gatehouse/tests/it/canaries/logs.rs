//! What callers send and get is in replies and in capsules, which have readers of their own. The log, at its most talkative,
//! the metrics, the audit chain and the audit lines have other readers, and hold none of it.

use super::house::{TENANT, over, plant};
use super::{AUDIT, Found, requests};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use testkit::{Client, Server, tally};

/// One request, with `$C` where a word of its own is planted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plant {
    what: String,
    /// None: a stranger.
    role: String,
    method: String,
    path: String,
    #[serde(default)]
    body: Value,
    bearer: Option<String>,
}

impl Plant {
    fn has_word(&self) -> bool {
        [&self.path, &self.body.to_string()].iter().any(|text| text.contains("$C"))
    }
}

const ROLES: [&str; 4] = ["lead", "admin", "engineer", "approver"];
/// In values of people, of hidden fields and of others' rows, which an admin reads.
const ROWS: [&str; 2] = ["qx7canary", "qx7person"];

fn plants() -> Vec<Plant> {
    let lines = include_str!("../cases/canaries/planted.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// No other text has it, and no planner knows it.
fn word(at: usize) -> String {
    format!("qz9w{at}w")
}

#[test]
fn nothing_planted_is_found_in_logs_metrics_and_audit() {
    let dir = plant();
    // Its own binary's lines at debug: the level below tells of every poll.
    let server = over(dir.path()).env("LOG_LEVEL", "debug").env("GATEHOUSE_RECORDS_WRITE_CONFIDENCE", "0.5").start();
    let mut tokens: BTreeMap<&str, String> = ROLES.map(|role| (role, server.token(TENANT, role))).into();
    let root = server.client("root", "admin");
    let (code, token) = enrolled(&server, &root);
    tokens.insert("device", token);
    let plants = plants();
    let (mut replied, mut words) = (0, vec![("the code of a device".to_owned(), secret(&code))]);
    for (at, plant) in plants.iter().enumerate() {
        let word = word(at);
        replied += usize::from(send(&server, &tokens, plant, &word).to_lowercase().contains(&word));
        words.push((plant.what.clone(), word));
    }
    assert!(replied > 10, "the words did arrive: {replied} replies repeat theirs");
    // An admin sees every row; what is read is planted, too.
    let seen = requests::all(0, &[]).into_iter().filter(|request| {
        let text = String::from_utf8_lossy(&super::send(&root, request).body).to_lowercase();
        ROWS.iter().any(|row| text.contains(row))
    });
    assert!(seen.count() > 20, "rows did come");
    words.extend(ROWS.map(|row| ("a value of a row".to_owned(), row.to_owned())));
    words.extend(tokens.iter().map(|(role, token)| (format!("the token of {role}"), secret(token))));

    let places = places(server, &root, dir.path());
    let mut found = Found::new();
    for (name, text) in &places {
        assert!(!text.is_empty(), "{name} is empty");
        for (what, word) in &words {
            let lines = text.lines().filter(|line| line.to_lowercase().contains(word));
            found.extend(lines.map(|line| format!("{what} ({word}) in {name}: {line}")));
        }
    }
    tally("house", "canaries planted for logs, metrics and audit", words.len(), "canaries found", found.len());
    assert!(found.is_empty(), "{found:#?}");
}

/// Every route that takes a text of its caller's, in its path or as a body, has a planted line. A new one fails here until
/// it has one as well, or a reason why it needs none.
#[test]
fn every_route_that_takes_a_text_has_a_planted_line() {
    let plants = plants();
    let is_planted = |method: &str, route: &str| {
        plants.iter().any(|plant| plant.method == method && leads_to(route, &plant.path) && plant.has_word())
    };
    let taking: Vec<(&str, String)> = routes().into_iter().filter(|(method, path)| takes_text(method, path)).collect();
    assert!(taking.len() > 40, "the table of routes was read: {taking:?}");
    let left: Vec<String> = taking
        .iter()
        .filter(|(method, path)| !is_planted(method, path))
        .map(|(method, path)| format!("{method} {path}"))
        .collect();
    let excepted: Vec<&str> = NO_TEXT.iter().map(|(route, _)| *route).collect();
    let unplanted = left.iter().filter(|route| !excepted.contains(&route.as_str())).count();
    tally("house", "routes that take a text of their caller's", taking.len(), "without a planted one", unplanted);
    assert_eq!(left, excepted, "routes without a planted line, and those that need none");
}

/// Routes that seem to take a text and take none, each with the reason.
const NO_TEXT: [(&str, &str); 3] = [
    ("POST /logout", "reads a cookie and no body"),
    ("POST /api/admin/catalog/invalidate", "reads no body"),
    ("POST /audit/verify", "reads no body"),
];

/// Methods and paths of the server's table of routes.
fn routes() -> Vec<(&'static str, String)> {
    const TABLE: &str = include_str!("../../../../gateway/src/http/router.rs");
    const METHODS: [(&str, &str); 5] =
        [("get(", "GET"), ("post(", "POST"), ("put(", "PUT"), ("patch(", "PATCH"), ("delete(", "DELETE")];
    let lines = TABLE.lines().filter_map(|line| line.trim().strip_prefix(".route(\""));
    let of_line = |line: &'static str| {
        let (path, handlers) = line.split_once('"').unwrap();
        let found = METHODS.iter().filter(|(call, _)| handlers.contains(call));
        let methods: Vec<&str> = found.map(|(_, method)| *method).collect();
        assert!(!methods.is_empty(), "no method that is known in {line}");
        methods.into_iter().map(|method| (method, path.to_owned())).collect::<Vec<_>>()
    };
    lines.flat_map(of_line).collect()
}

fn takes_text(method: &str, path: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH") || path.contains('{')
}

/// A path that is one of a route's.
fn leads_to(route: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap();
    if let Some((before, _)) = route.split_once("{*") {
        return path.len() > before.len() && path.starts_with(before);
    }
    let is_part = |(route, path): (&str, &str)| route == path || route.starts_with('{');
    route.split('/').count() == path.split('/').count() && route.split('/').zip(path.split('/')).all(is_part)
}

/// A device that has enrolled: its code, which was good once, and its token.
fn enrolled(server: &Server, root: &Client) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let expected = root.post("/api/v1/devices", &json!({ "device_id": "pump-1", "name": "Pump" })).json();
    let grants = json!({ "network": false, "capabilities": [], "writable_roots": [] });
    let enrol = json!({ "code": expected["code"], "grants": grants, "sandbox_tier": "T1", "version": "1" });
    let enrolled = server.stranger().post("/api/v1/devices/enrol", &enrol);
    assert_eq!(enrolled.status, 200, "{}", enrolled.text());
    (text(&expected["code"]), text(&enrolled.json()["token"]))
}

/// The part of a token that nobody is told.
fn secret(token: &str) -> String {
    token.rsplit('_').next().unwrap().to_lowercase()
}

fn send(server: &Server, tokens: &BTreeMap<&str, String>, plant: &Plant, word: &str) -> String {
    let planted = |text: &str| text.replace("$C", word);
    let client = match (&plant.bearer, plant.role.as_str()) {
        (Some(bearer), _) => Client::new(&server.url).bearer(&planted(bearer)),
        (None, "") => server.stranger(),
        (None, role) => Client::new(&server.url).bearer(&tokens[role]),
    };
    let both = "application/json, text/event-stream";
    let client = client.header("content-type", "application/json").header("accept", both);
    let body = if plant.body.is_null() { String::new() } else { planted(&plant.body.to_string()) };
    client.send(plant.method.parse().unwrap(), &planted(&plant.path), body.into_bytes()).text()
}

/// All that is written for other readers than the caller.
fn places(server: Server, root: &Client, dir: &std::path::Path) -> Vec<(&'static str, String)> {
    let metrics = root.get("/metrics").text();
    let recent = root.get("/audit?limit=500").text();
    let chain = server.command(&["audit", "export"]);
    let chain = String::from_utf8(chain.stdout).unwrap();
    assert!(chain.lines().count() > 100, "a chain of all that was asked");
    let log = server.stop();
    assert!(log.contains("DEBUG") && log.contains("agent_db"), "a log at DEBUG: {log}");
    statements_are_told(&log);
    routes_are_told(&log);
    let lines = std::fs::read_to_string(dir.join(AUDIT)).unwrap();
    assert!(lines.contains("qz9w"), "the Analyst's line has the question");
    let lines: String = lines.lines().map(|line| format!("{}\n", without_specified(line))).collect();
    vec![("metrics", metrics), ("GET /audit", recent), ("chain", chain), ("log", log), ("audit lines", lines)]
}

/// Spec 002 §4.3: what the router said, and nothing else of the instruction.
fn routes_are_told(log: &str) {
    let lines: Vec<&str> =
        log.lines().filter(|line| line.contains("agent_db") && line.contains("router_output=")).collect();
    assert!(lines.len() > 5, "{lines:#?}");
    for line in lines {
        for field in ["resources", "confidence", "reason", "intent"] {
            assert!(
                line.contains(&format!("\\\"{field}\\\":")) || line.contains(&format!("\"{field}\":")),
                "{field} in {line}"
            );
        }
    }
}

/// Spec 002 §4.3: the statements, with placeholders where values were.
fn statements_are_told(log: &str) {
    let told = log.lines().filter(|line| line.contains("agent_db") && line.contains("compiled_calls="));
    let with_placeholders = told.filter(|line| line.contains("UPDATE") && line.contains("?1")).count();
    assert!(with_placeholders > 0, "{log}");
}

/// An audit line without the fields in which AC-06.2 and AC-06.6 want the question, the statements with what is bound to
/// them, and the answer; and without the end user that a client names, who is recorded as the actor is (docs/API.md).
fn without_specified(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    let fields = line.as_object_mut().unwrap();
    for field in ["user_question", "sql_queries_executed", "final_response"] {
        assert!(fields.remove(field).is_some(), "{field}");
    }
    fields["metadata"].as_object_mut().unwrap().remove("user");
    for summary in fields["query_results_summary"].as_array_mut().unwrap() {
        let summary = summary.as_object_mut().unwrap();
        summary.remove("columns");
        summary.remove("params");
    }
    line.to_string()
}
