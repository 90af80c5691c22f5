//! `gatehouse replay`: what other contracts would make of requests that are on record.

use crate::records_support::{email, firm, step, update};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use testkit::{Client, Reply};

/// What was asked, by name, and the run that it is on record as.
type Recorded = Vec<(&'static str, String)>;

/// Requests of every kind, sent once.
fn requests() -> Recorded {
    let (agent, reader) = (firm().client("rita", "agent"), firm().client("ron", "reader"));
    let read = |client: &Client, fields: &[&str], limit: u64| {
        step(client, &json!({ "op": "READ", "resource": "cases", "select": fields, "limit": limit }))
    };
    let say = |text: &str| agent.post("/agent/db", &json!({ "natural_language": text }));
    vec![
        ("claims of 50 cases", run(&agent, 200, &read(&agent, &["id", "claim_amount"], 50))),
        ("five cases", run(&agent, 200, &read(&agent, &["id"], 5))),
        ("too many cases", run(&agent, 400, &read(&agent, &["id"], 150))),
        ("an update", run(&agent, 200, &step(&agent, &update("case_460", &json!({ "status": "CLOSED" }))))),
        ("an update in words", run(&agent, 200, &say("Mark case_461 as IN_REVIEW"))),
        ("another resource", run(&agent, 200, &step(&agent, &email("case_462", "Replayed")))),
        ("what is unclear", run(&agent, 422, &say("update the case"))),
        ("a hidden field", run(&reader, 403, &read(&reader, &["id", "client_email"], 5))),
    ]
}

/// The newest run of whoever sent this.
fn run(client: &Client, status: u16, reply: &Reply) -> String {
    assert_eq!(reply.status, status, "{}", reply.text());
    client.get("/runs?limit=1").json()["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

/// The contracts in force, with one place of `cases` changed.
fn contracts(from: &str, to: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(firm().data().join("contracts")).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    let path = dir.path().join("cases.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(from).count(), 1, "one place");
    std::fs::write(path, text.replace(from, to)).unwrap();
    dir
}

fn replay(runs: &[&str], more: &[&str]) -> (Option<i32>, String) {
    let output = firm().command(&[&["replay"], runs, more].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() < Some(2), "{said}");
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// What differs, run by run, under other contracts.
fn differences(requests: &Recorded, against: Option<&Path>) -> Vec<String> {
    let runs: Vec<&str> = requests.iter().map(|(_, id)| id.as_str()).collect();
    let mut more = vec!["--json"];
    if let Some(dir) = against {
        more.extend(["--against", dir.to_str().unwrap()]);
    }
    let (code, text) = replay(&runs, &more);
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let shown: Vec<String> = all.iter().map(|one| one["difference"].as_str().unwrap().to_owned()).collect();
    assert_eq!(code, Some(i32::from(shown.iter().any(|d| d != "none"))), "the exit code says whether any differs");
    let ids: Vec<&str> = all.iter().map(|one| one["run_id"].as_str().unwrap()).collect();
    assert_eq!(ids, runs, "one for each, in order");
    shown
}

#[test]
fn other_contracts_allow_refuse_and_change_what_is_on_record() {
    let agent = "    ops: [READ, INSERT, UPDATE]\n    hide: [deleted_at]\n    write: [case_no, client_id, title, status, \
                 priority, assigned_to, claim_amount, due_date, closed_at]\n";
    let policies = [
        ("narrower", contracts(agent, "    ops: [READ]\n    hide: [deleted_at, claim_amount]\n")),
        ("wider", contracts("hide: [client_email, claim_amount, deleted_at]", "hide: [deleted_at]")),
        ("less at once", contracts("joins: []", "limits: {max_rows: 10}")),
        ("more at once", contracts("joins: []", "limits: {max_rows: 200}")),
        ("filtered", contracts(agent, &format!("{agent}    rows: \"priority <> 'URGENT'\"\n"))),
    ];
    let requests = requests();
    assert!(differences(&requests, None).iter().all(|d| d == "none"), "nothing has changed yet");
    let mut table = String::new();
    for (name, dir) in &policies {
        table.push_str(&format!("{name}\n"));
        let found = differences(&requests, Some(dir.path()));
        for ((request, _), difference) in requests.iter().zip(&found).filter(|(_, difference)| *difference != "none") {
            table.push_str(&format!("  {request}: {difference}\n"));
        }
    }
    insta::assert_snapshot!("replay_differences", table);
    told(&requests, policies[0].1.path());
}

/// For people: what was asked, what was decided then, and what would be now.
fn told(requests: &Recorded, narrower: &Path) {
    let (_, words) = &requests[4];
    let (code, text) = replay(&[words], &["--against", narrower.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!("replay_told", text.replace(words.as_str(), "RUN"));
    assert_eq!(replay(&[words], &[]).0, Some(0), "nothing was executed, and nothing changed");
    let unknown = firm().command(&["replay", &domain::RunId::new().to_string()]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there is no run"), "{unknown:?}");
}
