//! The same insert and the same update, a hundred times at once, with `kill -9` in between: one logical object, its last
//! state whole, every write that was made in the audit chain.

use crate::records::books::Books;
use crate::records_support::{email, step, update, versioned};
use crate::scan_support::audited;
use crate::support::{server, verify};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{Client, Server, ServerBuilder, tally};

const CALLERS: usize = 10;
const EACH: usize = 10;
/// The server is killed when so many have been answered.
const KILLS: [usize; 2] = [25, 60];

/// Emails that were to be one, and the status of the case that all updated.
const EMAILS: &str = "SELECT count(*) FROM client_communications WHERE case_id = 'case_450' AND subject = 'Only once'";
const STATUS: &str = "SELECT status FROM cases WHERE id = 'case_451'";

/// Where the records are, and how a test looks at them past the server.
struct Place<'p> {
    engine: &'static str,
    server: &'p dyn Fn() -> ServerBuilder,
    /// The one value of a query.
    look: &'p dyn Fn(&str) -> String,
}

#[test]
fn a_hundred_identical_writes_are_one_in_sqlite() {
    let data = tempfile::tempdir().unwrap();
    let look = |sql: &str| {
        let crm = rusqlite::Connection::open(data.path().join("datasets/crm/crm.sqlite")).unwrap();
        crm.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0)).map(shown).unwrap()
    };
    let server = || server().demo().data(data.path());
    a_hundred_are_one(data.path(), &Place { engine: "SQLite", server: &server, look: &look });
}

#[test]
fn a_hundred_identical_writes_are_one_in_postgres() {
    let (data, books) = (tempfile::tempdir().unwrap(), Books::new());
    let server = || books.server().data(data.path());
    a_hundred_are_one(data.path(), &Place { engine: "Postgres", server: &server, look: &|sql| books.sql(sql) });
}

fn shown(value: rusqlite::types::Value) -> String {
    match value {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn a_hundred_are_one(data: &Path, place: &Place<'_>) {
    let mut server = (place.server)().start();
    let token = server.token("bob", "agent");
    let (done, mut wrong) = (AtomicUsize::new(0), 0);
    let mut left = CALLERS * EACH;
    for kill in KILLS.into_iter().map(Some).chain([None]) {
        let client = Client::new(&server.url).bearer(&token);
        wrong += send(&client, left, &done, kill, &mut server);
        left = (CALLERS * EACH).saturating_sub(done.load(Ordering::Relaxed));
        if kill.is_some() {
            server = (place.server)().start();
        }
    }
    let client = Client::new(&server.url).bearer(&token);
    let again = step(&client, &email("case_450", "Only once"));
    assert_eq!(again.status, 200, "{}", again.text());
    assert!(server.terminate().success());
    let emails: usize = (place.look)(EMAILS).parse().unwrap();
    assert_eq!((emails, (place.look)(STATUS).as_str()), (1, "ON_HOLD"), "one logical object, and its last state");
    assert_eq!(unrecorded(data), 0, "changes that nobody looked for");
    let report = verify(&server);
    assert!(report["flaw"].is_null(), "{report}");
    assert_eq!(wrong, 0, "answers that are neither an answer nor a lost one");
    let what = format!("identical writes at once, with kill -9 ({})", place.engine);
    tally("house", &what, done.load(Ordering::Relaxed), "duplicates", emails - 1);
}

/// Sends writes until all are answered or the server is killed. How many were answered wrongly.
fn send(client: &Client, left: usize, done: &AtomicUsize, kill: Option<usize>, server: &mut Server) -> usize {
    let (sent, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let over = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (client, sent, wrong, over) = (client.clone(), &sent, &wrong, &over);
            scope.spawn(move || {
                while over.load(Ordering::Relaxed) == 0 && sent.fetch_add(1, Ordering::Relaxed) < left {
                    let body = match caller % 2 {
                        0 => email("case_450", "Only once"),
                        _ => update("case_451", &json!({ "status": "ON_HOLD" })),
                    };
                    let plan = json!({ "version": "1", "steps": [body] }).to_string().into_bytes();
                    match client.try_send("POST".parse().unwrap(), "/agent/db/plan", plan) {
                        Ok(reply) if reply.status == 200 && reply.json()["count"] == 1 => {
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                        // Its worker, or the server itself, was on its way out.
                        Ok(reply) if reply.status >= 500 => {}
                        Err(_) => {}
                        Ok(reply) => {
                            eprintln!("{}", reply.text());
                            wrong.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
        if let Some(moment) = kill {
            while done.load(Ordering::Relaxed) < moment && sent.load(Ordering::Relaxed) < left {
                std::thread::yield_now();
            }
            server.kill();
            over.store(1, Ordering::Relaxed);
        }
    });
    wrong.load(Ordering::Relaxed)
}

/// Changes that were begun, and neither are on record nor were looked for at a start.
fn unrecorded(data: &Path) -> i64 {
    let ledger = rusqlite::Connection::open(data.join("ledger.sqlite")).unwrap();
    ledger.query_row("SELECT count(*) FROM changes_under_way", [], |row| row.get(0)).unwrap()
}

/// A change that was noted and whose server died before or after it was made is looked for at the next start. That it was not
/// made is only said where that is certain.
#[test]
fn what_was_interrupted_is_looked_for() {
    let data = tempfile::tempdir().unwrap();
    let mut server = server().demo().data(data.path()).start();
    let client = server.client("bob", "agent");
    let made = step(&client, &update("case_452", &json!({ "priority": "URGENT" })));
    assert_eq!(made.status, 200, "{}", made.text());
    server.terminate();
    let (low, seen) = (update("case_452", &json!({ "priority": "LOW" })), &made.json()["data"][0]["updated_at"]);
    let left = [
        (update("case_452", &json!({ "priority": "URGENT" })), "made"),
        (versioned(low.clone(), seen), "not_made"),
        // Somebody has written the row since: what, nobody can tell.
        (versioned(low.clone(), &json!("2024-01-01T00:00:00Z")), "unknown"),
        (low, "unknown"),
        (email("case_452", "Never sent"), "not_made"),
    ];
    let ids = forget(data.path(), left.iter().map(|(step, _)| step));
    let server = crate::support::server().demo().data(data.path()).start();
    let admin = server.client("root", "admin");
    for id in &ids {
        let run: Value = admin.get(&format!("/runs/{id}")).json();
        assert!(run.to_string().contains("change.interrupted"), "{run}");
    }
    let found: Vec<Value> = audited(&server, "change.reconciled").into_iter().rev().collect();
    assert_eq!(found, left.map(|(_, found)| json!({ "found": found })));
    assert!(verify(&server)["flaw"].is_null());
}

/// Puts changes under way, as a crash would have left them.
fn forget<'s>(data: &Path, steps: impl Iterator<Item = &'s Value>) -> Vec<String> {
    let ledger = rusqlite::Connection::open(data.join("ledger.sqlite")).unwrap();
    let sql = "SELECT run_id FROM run_capsules WHERE query_mode = 'change' ORDER BY created_at DESC LIMIT 1";
    let run: String = ledger.query_row(sql, [], |row| row.get(0)).unwrap();
    let mut ids = Vec::new();
    for step in steps {
        let id = domain::RunId::new().to_string();
        let begun = begun(&ledger, &run, &id, step);
        let sql = "INSERT INTO changes_under_way (run_id, at, begun, server) VALUES (?1, ?2, ?3, 'killed')";
        ledger.execute(sql, (&id, format!("2026-01-01T00:00:0{}.000Z", ids.len()), begun.to_string())).unwrap();
        ids.push(id);
    }
    ids
}

fn begun(ledger: &rusqlite::Connection, run: &str, id: &str, step: &Value) -> Value {
    let text = |column: &str| -> String {
        ledger
            .query_row(&format!("SELECT {column} FROM run_capsules WHERE run_id = ?1"), [run], |row| row.get(0))
            .unwrap()
    };
    let plan = json!({ "version": "1", "steps": [step] });
    json!({ "claims": {}, "run": {
        "run_id": id, "session_id": text("session_id"), "thread_id": null, "request_id": "left-behind",
        "created_at": text("created_at"), "door": "records", "purpose": "answer", "actor": "bob", "role": "agent",
        "end_user": null, "dataset_id": "crm", "dataset_version_hash": null, "question": null, "reading": null,
        "planner": null, "query_mode": "change", "plan_json": plan, "sql_text": null,
        "compiled_sql": text("compiled_sql"), "params": [], "proposal_hash": null,
        "policy_fingerprint": text("policy_fingerprint"), "contracts": [], "filtered_by": [], "status": "failed",
        "assistant_message": "", "result_json": null, "clarification": null, "error_json": null, "exec_time_ms": null,
        "timings": { "plan_ms": 0.0, "check_ms": 0.0, "run_ms": 0.0 }, "sandbox_tier": null, "unenforced": [],
        "cost_usd": null, "model": null } })
}
