//! What a model may answer, and what is made of it.

use ops::model::{Hint, ask_findings, ask_script, critique, read_critique, read_findings, read_script};
use ops::{Diagnostics, Finding, Library, LogLine, Severity};
use serde_json::{Value, json};

fn diagnostics() -> Diagnostics {
    let line = "app[812]: write failed: No space left on device".to_owned();
    Diagnostics { logs: vec![LogLine { unit: "app".to_owned(), line }], ..Diagnostics::default() }
}

fn found(change: impl Fn(&mut Value)) -> String {
    let mut finding = json!({
        "id": "disk.full", "title": "The disk is full", "severity": "critical", "confidence": 0.9,
        "evidence": ["No space left on device"], "runbook": {"id": "find_large_files", "parameters": []},
    });
    change(&mut finding);
    json!({ "findings": [finding] }).to_string()
}

fn read(answer: &str) -> Result<Vec<Finding>, String> {
    read_findings(answer, &diagnostics(), &Library::built_in().unwrap())
}

#[test]
fn findings_are_read_strictly() {
    let finding = read(&found(|_| {})).unwrap().remove(0);
    assert_eq!((finding.id.as_str(), finding.severity), ("disk.full", Severity::Critical));
    assert_eq!(finding.runbook.unwrap().id, "find_large_files");
    type Change = fn(&mut Value);
    let wrong: [(&str, Change); 6] = [
        ("a key too many", |f| f["command"] = json!("rm -rf /")),
        ("a key too few", |f| drop(f.as_object_mut().unwrap().remove("title"))),
        ("surer than sure", |f| f["confidence"] = json!(1.5)),
        ("an id that is a sentence", |f| f["id"] = json!("The disk; rm -rf /")),
        ("an unknown severity", |f| f["severity"] = json!("fatal")),
        ("evidence that is no list", |f| f["evidence"] = json!("No space left on device")),
    ];
    for (what, change) in wrong {
        assert!(read(&found(change)).is_err(), "{what}");
    }
    for text in ["", "null", "[]", "the disk is full", "{\"findings\": []} and more"] {
        assert!(read(text).is_err(), "{text}");
    }
    assert_eq!(read("{\"findings\": []}").unwrap(), []);
}

#[test]
fn what_nobody_can_look_up_is_no_finding_and_no_runbook() {
    for evidence in [json!([]), json!(["the reactor is on fire"]), json!([""]), json!(["No"])] {
        assert_eq!(read(&found(|f| f["evidence"] = evidence.clone())).unwrap(), [], "{evidence}");
    }
    let calls = [
        json!({"id": "no_such", "parameters": []}),
        json!({"id": "find_large_files", "parameters": [{"name": "script", "value": "rm -rf /"}]}),
    ];
    for call in calls {
        assert_eq!(read(&found(|f| f["runbook"] = call.clone())).unwrap()[0].runbook, None, "{call}");
    }
}

#[test]
fn a_script_gets_no_more_than_the_form_has_room_for() {
    let answer = json!({
        "script": "df -h", "rollback": null, "intent": "Look.", "network": "none", "writable_paths": [],
        "timeout_seconds": 30,
    });
    let proposal = read_script(&answer.to_string()).unwrap();
    assert!(proposal.manifest.env.is_empty() && proposal.manifest.capabilities.is_empty());
    for (key, value) in [("capabilities", json!(["SYS_ADMIN"])), ("approved", json!(true)), ("network", json!("all"))] {
        let mut wrong = answer.clone();
        wrong[key] = value;
        assert!(read_script(&wrong.to_string()).is_err(), "{key}");
    }
    let hints = json!({ "hints": vec![json!({"severity": "info", "message": "x ".repeat(999), "line": 1}); 30] });
    let hints = read_critique(&hints.to_string()).unwrap();
    assert!(hints.len() == 10 && hints.iter().all(|hint: &Hint| hint.message.len() <= 300));
    assert!(read_critique("{\"hints\": [], \"verdict\": \"approve\"}").is_err());
}

/// Forms that models are held to name every key and allow no other: providers demand it.
#[test]
fn forms_are_closed() {
    fn closed(schema: &Value) -> bool {
        let object = schema["type"] == "object";
        let required = schema["required"].as_array().map_or(0, Vec::len);
        let here = !object
            || (schema["additionalProperties"] == false && required == schema["properties"].as_object().unwrap().len());
        here && match schema {
            Value::Object(fields) => fields.values().all(closed),
            Value::Array(items) => items.iter().all(closed),
            _ => true,
        }
    }
    let library = Library::built_in().unwrap();
    let finding = read(&found(|_| {})).unwrap().remove(0);
    let script = library.propose(&ops::RunbookCall { id: "memory_users".to_owned(), ..Default::default() }).unwrap();
    let prompts = [
        ask_findings(&diagnostics(), &library),
        ask_script(&finding, &ops::model::Room::default(), Some((&script, &["`curl` is not allowed".to_owned()]))),
        critique(&script),
    ];
    for prompt in prompts {
        assert!(closed(&prompt.schema), "{}", prompt.schema);
        assert!(!prompt.system.is_empty() && !prompt.question.is_empty());
    }
}

#[test]
fn of_a_long_log_a_model_sees_the_end() {
    let line = |number: usize| LogLine { unit: String::new(), line: format!("line {number} {}", "x".repeat(200)) };
    let long = Diagnostics { logs: (0..5_000).map(line).collect(), ..Diagnostics::default() };
    let prompt = ask_findings(&long, &Library::built_in().unwrap());
    assert!(prompt.question.len() < 100 * 1024, "{}", prompt.question.len());
    assert!(prompt.question.contains("line 4999") && !prompt.question.contains("line 0 "));
}
