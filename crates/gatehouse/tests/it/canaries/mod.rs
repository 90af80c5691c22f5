//! Nothing hidden leaks: values are planted where a role must not see them, and every door is asked, in good faith and in
//! bad. Replies of every kind, the log, the audit lines and what reaches a model are searched for them.

mod house;
mod logs;
mod others;
mod prompts;
mod requests;

use house::{ROLES, Reader, TENANT, over, plant};
use requests::Request;
use std::path::Path;
use testkit::{Client, Reply, Server, tally};

const AUDIT: &str = "claude-da-audit.jsonl";

/// A place where something was found that must not be there.
type Found = Vec<String>;

#[test]
fn nothing_planted_is_found_in_any_place() {
    let dir = plant();
    let (admins_log, mut others) = admins(dir.path());
    let server = over(dir.path()).start();
    let (mut places, mut found) = (0, Found::new());
    for (turn, role) in ROLES.into_iter().enumerate() {
        let client = server.client(TENANT, role);
        let replies = replies(&client, turn, &others);
        places += replies.len();
        found.extend(Reader::Role(role).finds_in(&replies).into_iter().map(|place| format!("{role}: {place}")));
        if role == "lead" {
            let own = Reader::Role("reader").finds_in(&replies);
            assert!(!own.is_empty() && own.iter().all(|place| place.ends_with("qx7person")), "{own:#?}");
            others.extend(runs_of(&client));
        }
    }
    let replies = replies(&server.stranger(), 0, &others);
    places += replies.len();
    found.extend(Reader::Role("nobody").finds_in(&replies));
    for (name, text) in [("an admin's log", admins_log)].into_iter().chain(written(server, dir.path())) {
        places += text.lines().count();
        let leaked = text.lines().filter(|line| Reader::Operator.finds(line.as_bytes()).is_some());
        found.extend(leaked.map(|line| format!("{name}: {line}")));
    }
    println!("{places} places");
    tally("house", "places searched for planted values, by role", places, "values found", found.len());
    assert!(found.is_empty(), "{found:#?}");
}

/// The sweep sees what there is to see: an admin's replies are full of it. The log of it, and runs that others must not see.
fn admins(dir: &Path) -> (String, Vec<String>) {
    let server = over(dir).start();
    let admin = server.client("root", "admin");
    let seen = Reader::Role("reader").finds_in(&replies(&admin, 0, &[]));
    assert!(seen.len() > 50, "an admin finds it in {} places: {seen:#?}", seen.len());
    let runs = runs_of(&admin);
    let log = server.stop();
    // An audit line holds the answer, which was an admin's to see.
    std::fs::remove_file(dir.join(AUDIT)).unwrap();
    (log, runs)
}

/// Asks everything; each question with all that came back.
fn replies(client: &Client, turn: usize, others: &[String]) -> Vec<(String, Vec<u8>)> {
    let ask = |request: &Request| {
        let reply = send(client, request);
        let headers: String = reply.headers.iter().map(|(name, value)| format!("{name}: {value:?}\n")).collect();
        let body = request.body.as_ref().map(ToString::to_string).unwrap_or_default();
        let place = format!("{} {} {body}", request.method, request.path);
        (place, [headers.as_bytes(), &unpacked(&reply)].concat())
    };
    requests::all(turn, others).iter().map(ask).collect()
}

impl Reader<'_> {
    fn finds_in(self, replies: &[(String, Vec<u8>)]) -> Found {
        replies.iter().filter_map(|(place, text)| Some(format!("{place}: {}", self.finds(text)?))).collect()
    }
}

fn send(client: &Client, request: &Request) -> Reply {
    let client = client.clone().header("accept", request.accept).header("content-type", "application/json");
    let body = request.body.as_ref().map(ToString::to_string).unwrap_or_default();
    client.send(request.method.parse().unwrap(), &request.path, body.into_bytes())
}

/// Parquet is packed; everything else can be read as it is.
fn unpacked(reply: &Reply) -> Vec<u8> {
    if !reply.body.starts_with(b"PAR1") {
        return reply.body.clone();
    }
    let dir = tempfile::tempdir().unwrap();
    let (packed, plain) = (dir.path().join("packed"), dir.path().join("plain"));
    std::fs::write(&packed, &reply.body).unwrap();
    let copy = format!("COPY (FROM read_parquet('{}')) TO '{}' (FORMAT json)", packed.display(), plain.display());
    duckdb::Connection::open_in_memory().unwrap().execute_batch(&copy).unwrap();
    std::fs::read(plain).unwrap()
}

/// The newest runs of a caller, whose rows others must not see.
fn runs_of(client: &Client) -> Vec<String> {
    let listed = client.get("/runs?limit=10&status=succeeded").json();
    listed["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

/// What the server wrote for its operators: its log, and the lines of its audit.
fn written(server: Server, dir: &Path) -> [(&'static str, String); 2] {
    let log = server.stop();
    assert!(log.contains("agent_db") && log.contains("INFO"), "a log at INFO: {log}");
    let lines = std::fs::read_to_string(dir.join(AUDIT)).unwrap();
    [("log", log), ("audit", lines)]
}
