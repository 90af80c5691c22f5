//! What `examples/` shows works: run as its readers would, with a scripted model.

use crate::records_support::{agent, firm, read};
use serde_json::{Value, json};
use std::process::Command;
use testkit::{Messages, Said, python};

const LANGCHAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/langchain");

fn call(id: &str, instruction: &str) -> Said {
    Said::tool(id, "records", &json!({ "instruction": instruction }))
}

/// What the agent prints, and what its model was told in the end.
fn langchain(ask: &str, script: Vec<Said>) -> (String, Value) {
    let model = Messages::script(script);
    let output = Command::new(python())
        .arg(format!("{LANGCHAIN}/agent.py"))
        .arg(ask)
        .env("GATEHOUSE_URL", &firm().url)
        .env("GATEHOUSE_TOKEN", firm().token("lang", "agent"))
        .env("ANTHROPIC_API_KEY", Messages::KEY)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = model.requests().pop().unwrap().body;
    (String::from_utf8(output.stdout).unwrap(), told)
}

/// The results of the tool, in order.
fn results(told: &Value) -> Vec<Value> {
    let blocks =
        told["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_array()).flatten();
    let text = |content: &Value| content.as_str().or(content[0]["text"].as_str()).unwrap_or_default().to_owned();
    let results = blocks.filter(|block| block["type"] == "tool_result").map(|block| text(&block["content"]));
    results.map(|text| serde_json::from_str(&text).unwrap()).collect()
}

#[test]
fn a_langchain_agent_has_records_as_its_one_tool() {
    let script = vec![
        call("call_1", "update the case").when("Close case_470"),
        call("call_2", "Mark case_470 as CLOSED").when("clarification"),
        call("call_3", "delete case_470").when("CLOSED"),
        Said::text("case_470 is closed; it cannot be deleted.").when("INVALID_QUERY"),
    ];
    let (said, told) = langchain("Close case_470 and delete it", script);
    assert_eq!(said, "case_470 is closed; it cannot be deleted.\n");
    assert_eq!(told["tools"].as_array().map(Vec::len), Some(1), "{told}");
    let [unclear, closed, deleted] = results(&told).try_into().unwrap();
    assert_eq!(unclear["error"]["type"], "AMBIGUOUS_INTENT", "{unclear}");
    assert_eq!((&closed["ok"], &closed["data"][0]["status"]), (&json!(true), &json!("CLOSED")), "{closed}");
    assert_eq!((&deleted["ok"], &deleted["data"]), (&json!(false), &json!([])), "{deleted}");
    let rows = read(agent(), "cases", &["status"], &[("id", "=", json!("case_470"))]);
    assert_eq!(rows["data"][0]["status"], "CLOSED");
}

/// Whoever follows the example has the versions that it was tried with.
#[test]
fn the_example_names_the_versions_that_were_tried() {
    let tried = include_str!("../../../../tests/python/requirements.txt");
    let named = std::fs::read_to_string(format!("{LANGCHAIN}/requirements.txt")).unwrap();
    for pin in named.lines() {
        assert!(tried.lines().any(|line| line == pin), "{pin}");
    }
}
