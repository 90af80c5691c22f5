//! Words of others: a model's server repeats the prompt in its errors, the agent CLI complains about it, an engine on
//! another machine quotes rows, also hidden ones. None of it stands in the log, and what is wrong can be told all the same.

use super::Found;
use super::house::{TENANT, over, plant};
use serde_json::{Value, json};
use std::path::Path;
use testkit::{Client, Messages, Mode, Reply, Said, Sail, Server, tally};

/// All that is written for operators and auditors must have none of these words. Gives the log.
fn search(what: &str, server: Server, words: &[String]) -> String {
    let root = server.client("root", "admin");
    let chain = String::from_utf8(server.command(&["audit", "export"]).stdout).unwrap();
    let read = [("metrics", root.get("/metrics").text()), ("GET /audit", root.get("/audit?limit=500").text())];
    let log = server.stop();
    let mut found = Found::new();
    for (place, text) in read.iter().map(|(place, text)| (*place, text)).chain([("chain", &chain), ("log", &log)]) {
        assert!(!text.is_empty(), "{place} is empty");
        let leaked = |line: &&str| words.iter().any(|word| line.to_lowercase().contains(word));
        found.extend(text.lines().filter(leaked).map(|line| format!("{place}: {line}")));
    }
    tally("house", what, words.len(), "canaries found", found.len());
    assert!(found.is_empty(), "{found:#?}");
    log
}

fn word(at: usize) -> String {
    format!("qz8w{at}w")
}

/// Asks one question with a word in it through each door that asks a model.
fn ask(client: &Client, door: &str, word: &str) -> Reply {
    let question = format!("How many notes have the title '{word}'?");
    let messages = json!([{ "role": "user", "content": question }]);
    match door {
        "chat" => client.post("/chat", &json!({ "dataset_id": "desk", "message": question })),
        "analyst" => {
            client.post("/v1/chat/completions", &json!({ "model": "claude-da/analyst", "messages": messages }))
        }
        _ => client.post("/agent/db", &json!({ "natural_language": format!("Show cases with title '{word}'") })),
    }
}

/// A plan whose `limit` is a text, and one over something that is no resource.
fn wrong_plan(limit: Value, resource: &str) -> Said {
    let step = json!({ "op": "READ", "resource": resource, "select": ["id"], "limit": limit });
    Said::text(&json!({ "plan": { "version": "1", "steps": [step] }, "question": null }).to_string())
}

#[test]
fn nothing_that_a_model_or_its_server_repeats_is_found_in_logs() {
    let words: Vec<String> = (0..6).map(word).collect();
    let refusal = |at: usize| Said::error(400, &format!("invalid prompt, too long: How many '{}'?", words[at]));
    let turns = vec![
        refusal(0),
        refusal(1),
        refusal(2),
        // The model is asked twice for each plan.
        wrong_plan(json!(words[3]), "cases"),
        wrong_plan(json!(words[3]), "cases"),
        wrong_plan(json!(10), &words[4]),
        wrong_plan(json!(10), &words[4]),
        Said::text(&format!("{{ \"plan\": {}", words[5])),
        Said::text(&format!("{{ \"plan\": {}", words[5])),
    ];
    let dir = plant();
    let asked = turns.len();
    let model = Messages::script(turns);
    let server = over(dir.path())
        .env("LOG_LEVEL", "debug")
        .env("GATEHOUSE_PLANNER", "claude")
        .env("ANTHROPIC_API_KEY", Messages::KEY)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .start();
    let lead = server.client(TENANT, "lead");
    for (door, word) in ["chat", "analyst", "records", "records", "records", "records"].into_iter().zip(&words) {
        let reply = ask(&lead, door, word);
        assert!(reply.text().contains("model") || reply.status != 200, "{}", reply.text());
    }
    let told: String = model.requests().iter().map(|request| request.body.to_string()).collect();
    assert_eq!(model.requests().len(), asked, "every turn was taken");
    assert!(words.iter().all(|word| told.contains(word)), "each word reached the model");
    let log = search("canaries that a model and its server repeat", server, &words);
    for part in
        ["invalid_request_error", "too long (", "not a valid answer: data error at line 1", "not one of the resources"]
    {
        assert!(log.contains(part), "an operator learns of `{part}`: {log}");
    }
}

/// The stand-in for the agent CLI complains about its prompt, says what cannot be read, and fails with more of it.
#[test]
fn nothing_that_the_agent_cli_repeats_is_found_in_logs() {
    let words: Vec<String> = (0..4).map(word).collect();
    let dir = plant();
    let bin = tempfile::tempdir().unwrap();
    let frame = json!({ "type": "assistant", "message": { "content": { "type": words[1] } } });
    let failed =
        json!({ "subtype": "error_during_execution", "is_error": true, "result": words[2], "errors": [words[3]] });
    let script = json!({ "seen": bin.path().join("seen.json"), "server": false, "steps": [
        { "complain": format!("Invalid API key; prompt: {}", words[0]) },
        { "line": frame.to_string() },
        { "result": failed },
    ]});
    let program = crate::claude_code::program(bin.path(), &script);
    let server = over(dir.path())
        .env("LOG_LEVEL", "debug")
        .env("GATEHOUSE_PLANNER", "claude-code")
        .env("GATEHOUSE_MODEL_CLAUDE_PROGRAM", program.to_str().unwrap())
        .start();
    let reply = ask(&server.client(TENANT, "lead"), "analyst", &words[0]);
    assert!(reply.text().contains("the agent CLI failed"), "{}", reply.text());
    let log = search("canaries that the agent CLI repeats", server, &words);
    for part in
        ["the agent CLI complains", "api key (", "a line of the agent CLI cannot be read", "error_during_execution"]
    {
        assert!(log.contains(part), "an operator learns of `{part}`: {log}");
    }
}

const CONTRACT: &str = "version: \"1\"\nresource: trips\nsource: lake\ntable: trips\ndescribe: Trips\nkey: [id]\n\
    fields:\n  - {name: id, type: integer}\n  - {name: tenant, type: string}\n  - {name: title, type: string}\n\
    roles:\n  lead: {ops: [READ], rows: \"tenant = $actor\"}\n";

/// Rows of two tenants in Parquet, which Sail reads.
fn lake(dir: &Path) -> Sail {
    let file = dir.join("trips.parquet");
    let rows = "(VALUES (1, 'acme', '12'), (2, 'globex', 'QX7CANARY')) AS t (id, tenant, title)";
    let copy = format!("COPY (SELECT id::INTEGER AS id, tenant, title FROM {rows}) TO '{}'", file.display());
    duckdb::Connection::open_in_memory().unwrap().execute_batch(&copy).unwrap();
    let sail = Sail::start(Mode::Local);
    sail.sql(&format!("CREATE TABLE trips USING parquet LOCATION '{}'", file.display()));
    sail
}

/// Its values are literals of the statement, and its errors quote them.
#[test]
fn nothing_that_an_engine_elsewhere_quotes_is_found_in_logs() {
    let dir = plant();
    let sail = lake(dir.path());
    let toml = format!("[sources.lake]\nkind = 'flight'\nurl = '{}'\n", sail.url());
    let server = over(dir.path())
        .env("LOG_LEVEL", "debug")
        .file("gatehouse.toml", &toml)
        .file("contracts/trips.yaml", CONTRACT)
        .start();
    let (root, lead) = (server.client("root", "admin"), server.client(TENANT, "lead"));
    let cast = |value: &str| format!("SELECT CAST({value} AS INTEGER) FROM trips");
    for sql in [cast("title"), cast(&format!("'{}'", word(0))), cast(&format!("title || '{}'", word(1)))] {
        let reply = root.post("/datasets/lake/query", &json!({ "sql": sql }));
        assert_eq!(
            (reply.status, reply.json()["result"]["error"]["code"].as_str()),
            (400, Some("engine.data")),
            "{}",
            reply.text()
        );
    }
    let condition = json!([{ "field": "title", "op": "=", "value": word(2) }]);
    let step = json!({ "op": "READ", "resource": "trips", "select": ["id"], "limit": 10, "where": condition });
    let read = lead.post("/agent/db/plan", &json!({ "version": "1", "steps": [step] }));
    assert_eq!(read.status, 200, "{}", read.text());
    let said = lead.post("/agent/db", &json!({ "natural_language": format!("Show trips with title '{}'", word(3)) }));
    assert_eq!(said.status, 200, "{}", said.text());
    let words: Vec<String> = (0..4).map(word).chain(["qx7canary".to_owned()]).collect();
    let log = search("canaries that an engine elsewhere quotes", server, &words);
    let refused =
        log.lines().filter(|line| line.contains("the engine refused or failed") && line.contains("cast error"));
    assert!(refused.count() > 0, "an operator learns of casts: {log}");
    let hashed = log.lines().filter(|line| line.contains("agent_db") && line.contains("sha256:"));
    assert_eq!(hashed.count(), 2, "statements with literals by their hash: {log}");
}
