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
    let tokens: BTreeMap<&str, String> = ROLES.map(|role| (role, server.token(TENANT, role))).into();
    let root = server.client("root", "admin");
    root.post("/api/v1/devices", &json!({ "device_id": "pump-1", "name": "Pump" }));
    let plants = plants();
    let (mut replied, mut words) = (0, Vec::new());
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

/// An audit line without the fields in which AC-06.2 and AC-06.6 want the question, the statements with what is bound to
/// them, and the answer.
fn without_specified(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    let fields = line.as_object_mut().unwrap();
    for field in ["user_question", "sql_queries_executed", "final_response"] {
        assert!(fields.remove(field).is_some(), "{field}");
    }
    for summary in fields["query_results_summary"].as_array_mut().unwrap() {
        let summary = summary.as_object_mut().unwrap();
        summary.remove("columns");
        summary.remove("params");
    }
    line.to_string()
}
