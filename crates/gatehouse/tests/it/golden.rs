//! The demo's suggested prompts, answered right. The expected numbers come from the records that
//! the demo was made of, folded in Rust: another route than SQL.

use crate::support::{analyst, rows};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Golden {
    dataset: String,
    question: String,
    check: String,
    rows: Vec<Vec<Value>>,
}

#[test]
fn every_suggested_prompt_is_answered_right() {
    let text = include_str!("../../../../demo/golden.jsonl");
    let mut wrong = Vec::new();
    for line in text.lines() {
        let golden: Golden = serde_json::from_str(line).expect("a golden question");
        let body = analyst().ask(&golden.dataset, &golden.question);
        if let Err(why) = compare(&golden, &body) {
            wrong
                .push(format!("{}: {}: {why}\n  {}", golden.dataset, golden.question, body["details"]["compiled_sql"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare(golden: &Golden, body: &Value) -> Result<(), String> {
    if body["status"] != "succeeded" {
        return Err(format!("{}: {}", body["status"], body["assistant_message"]));
    }
    let mut found: Vec<Vec<Value>> = rows(body).iter().map(|row| row.as_array().expect("a row").clone()).collect();
    let mut expected = golden.rows.clone();
    if golden.check == "leader" {
        found.iter_mut().chain(&mut expected).for_each(|row| row.truncate(1));
    }
    if golden.check == "rows" {
        found.sort_by_key(|row| cell(&row[0]));
        expected.sort_by_key(|row| cell(&row[0]));
    }
    let same = found.len() == expected.len()
        && found.iter().zip(&expected).all(|(f, e)| f.len() >= e.len() && f.iter().zip(e).all(|(f, e)| equal(f, e)));
    if same { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
}

/// A cell as text; midnight is the same as its date.
fn cell(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.trim_end_matches("T00:00:00").to_owned(),
        None => value.to_string(),
    }
}

fn equal(found: &Value, expected: &Value) -> bool {
    let number = |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok());
    match (number(found), number(expected)) {
        (Some(f), Some(e)) => (f - e).abs() <= e.abs() * 1e-9,
        _ => cell(found) == cell(expected),
    }
}
