//! How much of a run is kept: whatever its caller sends and gets, a capsule stays small, and says what is missing.

use crate::place::{Place, run};
use domain::{Clarification, Fault, Kind, Run, Value, sha256_hex};
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

on_both! {
    a_large_result_is_kept_by_its_first_rows,
    no_part_of_a_run_takes_more_than_its_share,
    wide_results_do_not_fill_the_disk,
}

/// 64 KB, and the few bytes that say that something was cut.
const MOST: usize = 64 << 10;

fn raw(text: String) -> Option<Box<RawValue>> {
    Some(RawValue::from_string(text).unwrap())
}

/// A result as doors write it; its rows as text.
fn table(columns: &[String], rows: &[Vec<String>]) -> (String, String) {
    let types = vec!["string"; columns.len()];
    let text = json!(rows).to_string();
    let head = json!({ "columns": columns, "types": types, "row_count": rows.len(), "truncated": false }).to_string();
    (format!("{},\"rows\":{text}}}", head.trim_end_matches('}')), text)
}

async fn a_large_result_is_kept_by_its_first_rows(place: Place) {
    let rows: Vec<Vec<String>> = (0..1_000).map(|i| vec![i.to_string(), "ü".repeat(500)]).collect();
    let (whole, text) = table(&["n".into(), "wide".into()], &rows);
    let asked = Run { result_json: raw(whole), ..run("ann", "all of it") };
    let ledger = place.open();
    ledger.record(&asked).await.unwrap();
    let kept = ledger.run(asked.run_id).await.unwrap().unwrap().result_json.unwrap();
    assert!(kept.get().len() <= MOST, "{}", kept.get().len());
    let kept: Json = serde_json::from_str(kept.get()).unwrap();
    assert_eq!((&kept["result_truncated"], &kept["row_count"]), (&json!(true), &json!(1_000)));
    assert_eq!((&kept["bytes"], &kept["sha256"]), (&json!(text.len()), &json!(sha256_hex(text.as_bytes()))));
    let first = kept["rows"].as_array().unwrap();
    assert!(first.len() > 30 && *first == json!(rows[..first.len()]).as_array().unwrap()[..], "{}", first.len());
    assert!(ledger.verify().await.unwrap().is_whole());

    let ledger = place.open().keeping(2_048);
    let again = Run { run_id: domain::RunId::new(), ..asked };
    ledger.record(&again).await.unwrap();
    let kept = ledger.run(again.run_id).await.unwrap().unwrap().result_json.unwrap();
    assert!(kept.get().len() <= 2_048, "{}", kept.get().len());
}

/// Every part that a caller can make long, made long, one at a time and all at once.
async fn no_part_of_a_run_takes_more_than_its_share(place: Place) {
    let long = || "ä€ ".repeat(400_000);
    let some = || Some(long());
    let fault = || {
        let fault = Fault::new(Kind::Invalid, "plan.invalid", long()).hint(long()).detail("part", long());
        (0..200).fold(fault, |fault, i| fault.detail(&format!("part {i}"), "x".repeat(5_000)))
    };
    let question = || Clarification { question: long(), choices: vec!["y".repeat(9_000); 300] };
    let column = |count: usize, name: &str| table(&vec![name.to_owned(); count], &[vec!["v".to_owned(); count]]).0;
    let parts: [(&str, fn(&mut Run, String)); 7] = [
        ("question", |run, text| run.question = Some(text)),
        ("reading", |run, text| run.reading = Some(text)),
        ("sql", |run, text| run.sql_text = Some(text)),
        ("compiled", |run, text| run.compiled_sql = Some(text)),
        ("answer", |run, text| run.assistant_message = text),
        ("dataset", |run, text| run.dataset_id = text),
        ("user", |run, text| run.end_user = Some(text)),
    ];
    let mut runs: Vec<Run> = Vec::new();
    for (name, set) in parts {
        let mut asked = run("ann", name);
        set(&mut asked, long());
        runs.push(asked);
    }
    let new = || run("ann", "q");
    runs.push(Run { plan_json: Some(json!({ "version": "1", "note": long() })), ..new() });
    runs.push(Run { params: vec![Value::Text(long()); 3], ..new() });
    runs.push(Run { params: vec![Value::Int(i64::MIN); 100_000], ..new() });
    runs.push(Run { error_json: Some(fault()), ..new() });
    runs.push(Run { clarification: Some(question()), ..new() });
    runs.push(Run { result_json: raw(column(5_000, "a long name of a column")), ..new() });
    runs.push(Run { result_json: raw(column(2, &long())), ..new() });
    runs.push(Run { result_json: raw(table(&["one".into()], &[vec![long()]]).0), ..new() });
    runs.push(Run { result_json: raw(json!({ "told": long() }).to_string()), ..new() });
    let mut all = Run { plan_json: runs[7].plan_json.clone(), params: runs[8].params.clone(), ..new() };
    (all.question, all.reading, all.sql_text, all.compiled_sql) = (some(), some(), some(), some());
    (all.error_json, all.clarification) = (Some(fault()), Some(question()));
    runs.push(all);

    let ledger = place.open();
    for run in &runs {
        ledger.record(run).await.unwrap();
        assert!(ledger.run(run.run_id).await.unwrap().is_some(), "it can be read");
    }
    let columns = [
        "question",
        "reading",
        "plan_json",
        "sql_text",
        "compiled_sql",
        "params_json",
        "error_json",
        "result_json",
        "assistant_message",
        "clarification_json",
        "dataset_id",
        "end_user",
    ];
    // Parts of an error are many, and each of them is short.
    let most =
        |column: &str| if ["error_json", "clarification_json"].contains(&column) { 8 * MOST } else { MOST + 2_048 };
    for column in columns {
        let size = format!("SELECT max(octet_length({column})) FROM run_capsules");
        let longest: usize = place.one(&size).parse().unwrap();
        assert!(longest <= most(column), "{column}: {longest}");
    }
    let entry: usize = place.one("SELECT max(octet_length(entry_json)) FROM audit").parse().unwrap();
    assert!(entry < 8 << 10, "an entry of the chain: {entry}");
    assert!(ledger.verify().await.unwrap().is_whole());
}

/// One actor filled 88 MB in a few seconds, by 200 results of 440 KB.
async fn wide_results_do_not_fill_the_disk(place: Place) {
    const RESULTS: usize = 200;
    let rows: Vec<Vec<String>> = (0..44).map(|i| vec![format!("{i}{}", "w".repeat(10_000))]).collect();
    let (whole, _) = table(&["wide".into()], &rows);
    let ledger = place.open();
    for _ in 0..RESULTS {
        ledger.record(&Run { result_json: raw(whole.clone()), ..run("ann", "all of it") }).await.unwrap();
    }
    let kept: usize = place.one("SELECT sum(octet_length(result_json)) FROM run_capsules").parse().unwrap();
    let sent = RESULTS * whole.len();
    testkit::figure("ledger", &place.told("wide results, bytes kept"), RESULTS, &format!("{kept} of {sent}"));
    assert!(kept <= RESULTS * MOST, "{kept} of {sent}");
}
