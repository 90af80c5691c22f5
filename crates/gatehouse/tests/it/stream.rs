//! Streams: the order of events, failure, resuming.

use crate::support::analyst;
use serde_json::json;

fn names(events: &[testkit::Event]) -> Vec<String> {
    events
        .iter()
        .map(|e| if e.name == "status" { e.data["status"].as_str().unwrap().to_owned() } else { e.name.clone() })
        .collect()
}

#[test]
fn events_come_in_order_and_each_names_the_run() {
    let events = analyst().events("/chat/stream", &json!({ "dataset_id": "shop", "message": "customers per tier" }));
    assert_eq!(names(&events), ["planning", "validating", "executing", "result", "done"]);
    let run_id = &events[0].data["run_id"];
    assert!(events.iter().all(|e| &e.data["run_id"] == run_id));
    assert_eq!(events[3].data["status"], "succeeded");
    assert_eq!(events[3].data["result"]["row_count"], 3);
}

#[test]
fn a_refusal_is_a_result_with_the_error_then_done() {
    let events =
        analyst().events("/chat/stream", &json!({ "dataset_id": "shop", "message": "SELECT load_extension('x')" }));
    assert_eq!(names(&events), ["planning", "validating", "result", "done"]);
    assert_eq!(events[2].data["result"]["error"]["type"], "SQL_POLICY_VIOLATION");
}

#[test]
fn a_stream_is_taken_up_again_after_any_event() {
    let events = analyst().events("/chat/stream", &json!({ "dataset_id": "shop", "message": "customers per tier" }));
    let path = format!("/runs/{}/events", events[0].data["run_id"].as_str().unwrap());
    let again = analyst().get(&path).events();
    assert_eq!(names(&again), ["result", "done"]);
    assert_eq!(again[0].data["result"], events[3].data["result"]);
    let rest = analyst().clone().header("last-event-id", "4").get(&path).events();
    assert_eq!(names(&rest), ["done"]);
}
