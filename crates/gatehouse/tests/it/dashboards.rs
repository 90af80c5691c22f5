//! The dashboard and the alert rules of `deploy/` speak of metrics that there are.

use crate::records_support::{agent, email, firm, step, update};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn file(path: &str) -> String {
    std::fs::read_to_string(format!("{}/../../deploy/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Names of metrics in an expression, without the endings that a kind adds to them.
fn names(text: &str) -> BTreeSet<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c: char| !plain(c)).filter(|word| word.starts_with("gatehouse_"));
    words.map(str::to_owned).collect()
}

#[test]
fn they_speak_of_metrics_that_there_are() {
    let dashboard: Value = serde_json::from_str(&file("grafana/records.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let asked = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let asked: Vec<String> = asked.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    let rules = file("prometheus/records.rules.yaml");
    assert_eq!(rules.matches("- alert: ").count(), rules.matches("expr: ").count());
    for kind in ["Refusals", "Conflicts", "Slow", "Quota"] {
        assert!(rules.contains(kind), "{kind}");
    }
    step(agent(), &update("case_407", &json!({ "priority": "LOW" })));
    step(agent(), &email("case_407", "Dashboards"));
    let mut other = email("case_407", "Dashboards");
    other["values"]["body"] = json!("a conflict");
    assert_eq!(step(agent(), &other).status, 409);
    let metrics = firm().client("root", "admin").get("/metrics").text();
    let mut wanted = names(&asked.join(" "));
    wanted.extend(names(&rules));
    assert!(wanted.len() >= 5, "{wanted:?}");
    let missing: Vec<_> = wanted.iter().filter(|name| !metrics.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?} in {metrics}");
}
