//! What is on record: reading it, listing it, taking back what is on its way.

use crate::support::{analyst, demo, sql};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use testkit::Client;

/// A statement that runs until it is stopped.
const ENDLESS: &str =
    "SELECT count(*) FROM sales_orders a, sales_orders b, sales_orders c WHERE a.quantity + b.quantity < c.quantity";

#[test]
fn a_run_is_read_back_as_it_was_replied() {
    let body = analyst().ask("shop", "customers per tier");
    let run = analyst().get(&format!("/runs/{}", body["run_id"].as_str().unwrap())).json();
    assert_eq!(run, body);
}

/// The reply carries them all; the record the first of them, and what they were all together.
#[test]
fn a_large_result_is_replied_whole_and_kept_in_part() {
    let statement = "SELECT order_id, repeat('wide ', 400) AS wide FROM sales_orders ORDER BY order_id LIMIT 200";
    let reply = analyst().post("/datasets/sales/query", &json!({ "sql": statement }));
    let (text, body) = (reply.text(), reply.json());
    let all = body["result"]["rows"].as_array().unwrap();
    assert_eq!((all.len(), &body["result"]["result_truncated"]), (200, &Value::Null), "{text}");
    let id = body["run_id"].as_str().unwrap();
    let kept = analyst().get(&format!("/runs/{id}")).json();
    let first = kept["result"]["rows"].as_array().unwrap();
    assert!(!first.is_empty() && first.len() < 40 && *first == all[..first.len()], "{}", first.len());
    assert_eq!((&kept["result"]["result_truncated"], &kept["result"]["row_count"]), (&json!(true), &json!(200)));
    assert_eq!(kept["result"]["chart"], Value::Null, "no picture of a part");
    let rows = text.split_once("\"rows\":").unwrap().1;
    let rows = rows.get(..kept["result"]["bytes"].as_u64().unwrap() as usize).unwrap();
    assert!(rows.starts_with("[[") && rows.ends_with("]]"));
    assert_eq!(kept["result"]["sha256"], domain::sha256_hex(rows.as_bytes()));
    let told = analyst().post("/tools/get_run_status", &json!({ "run_id": id }));
    assert!(told.text().contains("\"result_truncated\":true"), "{}", told.text());
}

#[test]
fn a_caller_sees_only_its_own_runs() {
    let body = analyst().ask("shop", "customers per tier");
    let path = format!("/runs/{}", body["run_id"].as_str().unwrap());
    let eve = demo().client("eve", "analyst");
    let foreign = eve.get(&path);
    let missing = eve.get("/runs/01a1e132-f1da-7247-bd8e-2ac6c72022c9");
    assert_eq!((foreign.status, foreign.code()), (missing.status, missing.code()), "no sign that it exists");
    assert_eq!(foreign.status, 404);
    assert_eq!(demo().client("root", "admin").get(&path).status, 200);
    assert_eq!(eve.get("/runs?actor=ann").status, 403);
    assert_eq!(eve.get("/runs/not-an-id").status, 400);
}

#[test]
fn a_role_does_not_read_what_another_role_of_the_same_actor_ran() {
    let admin = demo().client("two-hats", "admin");
    let ran = sql(&admin, "shop", "SELECT email FROM customers LIMIT 1");
    assert!(ran["result"].to_string().contains('@'));
    let path = format!("/runs/{}", ran["run_id"].as_str().unwrap());
    let as_analyst = demo().client("two-hats", "analyst");
    assert!(!as_analyst.get(&path).json()["result"].to_string().contains('@'));
    assert!(!as_analyst.get(&format!("{path}/events")).text().contains('@'));
    let by_tool = as_analyst.post("/tools/get_run_status", &json!({ "run_id": ran["run_id"] }));
    assert!(!by_tool.text().contains('@'));
    assert!(admin.get(&path).json()["result"].to_string().contains('@'));
}

#[test]
fn runs_are_listed_newest_first_filtered_and_paged() {
    let lister = demo().client("lister", "analyst");
    for question in ["customers per tier", "purple elephants", "number of orders", "products per category"] {
        lister.ask("shop", question);
    }
    let all = lister.get("/runs").json();
    let questions: Vec<&str> =
        all["runs"].as_array().unwrap().iter().map(|r| r["question"].as_str().unwrap()).collect();
    assert_eq!(questions, ["products per category", "number of orders", "purple elephants", "customers per tier"]);
    let refused = lister.get("/runs?status=refused&dataset_id=shop").json();
    assert_eq!(refused["runs"].as_array().unwrap().len(), 1);
    assert_eq!(lister.get("/runs?q=CATEGORY").json()["runs"].as_array().unwrap().len(), 1);

    let mut seen = Vec::new();
    let mut path = "/runs?limit=3".to_owned();
    loop {
        let page = lister.get(&path).json();
        seen.extend(page["runs"].as_array().unwrap().iter().map(|r| r["run_id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/runs?limit=3&cursor={cursor}");
    }
    assert_eq!(seen.len(), 4);
    for bad in ["status=odd", "since=yesterday", "cursor=zzz", "nonsense=1", "limit=abc"] {
        let reply = lister.get(&format!("/runs?{bad}"));
        assert_eq!(reply.status, 400, "{bad}");
        assert_eq!(reply.json()["error"]["type"], "VALIDATION_ERROR", "{bad}");
    }
}

/// Starts the endless statement as a stream and gives the run's id once it executes.
fn start_endless(client: &Client) -> (String, impl Iterator<Item = String> + use<>) {
    let body = json!({ "dataset_id": "sales", "message": ENDLESS }).to_string().into_bytes();
    let reply = client.open("POST".parse().unwrap(), "/chat/stream", body);
    let mut lines = BufReader::new(reply.into_body().into_reader()).lines().map_while(Result::ok);
    let executing = lines.find(|l| l.starts_with("data:") && l.contains("executing")).expect("execution to begin");
    let data: Value = serde_json::from_str(executing.trim_start_matches("data:").trim()).unwrap();
    (data["run_id"].as_str().unwrap().to_owned(), lines)
}

#[test]
fn a_run_is_cancelled_while_it_runs_and_recorded_so() {
    let client = demo().client("hasty", "analyst");
    let (run_id, mut lines) = start_endless(&client);
    let path = format!("/runs/{run_id}");
    assert_eq!(client.get(&path).json()["status"], "running");
    assert_eq!(demo().client("eve", "analyst").delete(&path).status, 404, "not somebody else's");
    assert_eq!(client.delete(&path).status, 202);
    assert!(lines.any(|l| l.contains("\"status\":\"cancelled\"")), "the stream says so");
    assert!(lines.any(|l| l.contains("event: done")));
    assert_eq!(client.get(&path).json()["status"], "cancelled");
    assert_eq!(client.delete(&path).code(), "run.ended");
    assert_eq!(sql(&client, "sales", "SELECT 1 AS one")["status"], "succeeded", "and the server goes on");
}

#[test]
fn a_running_request_is_open_only_to_the_role_that_asked() {
    let admin = demo().client("boss", "admin");
    let (run_id, _lines) = start_endless(&admin);
    let analyst = demo().client("boss", "analyst");
    assert_eq!(analyst.get(&format!("/runs/{run_id}/events")).status, 404);
    let refused = analyst.delete(&format!("/runs/{run_id}"));
    assert_eq!(refused.status, 404, "{}", refused.text());
    assert_eq!(admin.delete(&format!("/runs/{run_id}")).status, 202);
}

#[test]
fn a_client_that_goes_away_does_not_take_the_record_along() {
    let client = demo().client("flighty", "analyst");
    let (run_id, lines) = start_endless(&client);
    drop(lines);
    assert_eq!(client.delete(&format!("/runs/{run_id}")).status, 202, "it is still on its way");
    let events = client.get(&format!("/runs/{run_id}/events")).events();
    assert_eq!(events.last().unwrap().name, "done");
    assert_eq!(client.get(&format!("/runs/{run_id}")).json()["status"], "cancelled");
}
