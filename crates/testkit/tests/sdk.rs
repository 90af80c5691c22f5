//! The scripted server is the API as the vendor's own client knows it: the `anthropic` Python SDK talks to it.

use serde_json::{Value, json};
use std::process::Command;
use testkit::{Messages, Said, python};

fn sdk(server: &Messages, case: &str) -> Value {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/python/messages_sdk.py");
    let output = Command::new(python()).args([program, &server.url, case]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said() -> Said {
    Said::thinking("they want a count", "signature").and_text("There are 200 orders.").usage(12, 34, 5, 6)
}

#[test]
fn a_message_is_the_same_plain_and_streamed() {
    let plain = sdk(&Messages::script([said()]), "plain");
    let expected = json!({
        "content": [
            {"type": "thinking", "thinking": "they want a count", "signature": "signature"},
            {"type": "text", "text": "There are 200 orders."},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12, "output_tokens": 34,
            "cache_creation_input_tokens": 5, "cache_read_input_tokens": 6},
    });
    assert_eq!(plain, expected);
    for reply in [said(), said().with_unknowns()] {
        let mut streamed = sdk(&Messages::script([reply]), "streamed");
        assert_eq!(streamed["text"], "There are 200 orders.");
        streamed.as_object_mut().unwrap().remove("text");
        streamed["content"].as_array_mut().unwrap().truncate(2);
        assert_eq!(streamed, expected);
    }
}

#[test]
fn a_tool_is_called_and_its_result_handed_back() {
    let call = Said::thinking("let me look", "signed").and_tool("toolu_1", "read_query", &json!({"sql": "SELECT 1"}));
    let server = Messages::script([call.when("how many orders?"), Said::text("200.").when("toolu_1")]);
    let turns = sdk(&server, "tool_use");
    assert_eq!(turns[0]["stop_reason"], "tool_use");
    assert_eq!(turns[0]["content"][1]["input"], json!({"sql": "SELECT 1"}));
    assert_eq!(turns[1]["content"][0]["text"], "200.");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn errors_are_of_the_classes_that_the_client_knows() {
    let cases = [
        ("plain", Said::error(400, "bad"), "BadRequestError", 400, "invalid_request_error"),
        ("plain", Said::rate_limited("7"), "RateLimitError", 429, "rate_limit_error"),
        ("plain", Said::error(500, "oops"), "InternalServerError", 500, "api_error"),
        ("streamed", Said::error(529, "busy"), "OverloadedError", 529, "overloaded_error"),
        ("wrong_key", said(), "AuthenticationError", 401, "authentication_error"),
        ("sampling", said(), "BadRequestError", 400, "invalid_request_error"),
    ];
    for (case, reply, class, status, kind) in cases {
        let seen = sdk(&Messages::script([reply]), case);
        assert_eq!((&seen["class"], &seen["status"], &seen["type"]), (&json!(class), &json!(status), &json!(kind)));
        if status == 429 {
            assert_eq!(seen["headers"]["retry-after"], "7");
            assert_eq!(seen["headers"]["anthropic-ratelimit-requests-remaining"], "0");
        }
    }
}

#[test]
fn an_error_in_a_stream_is_told_by_its_type() {
    let seen = sdk(&Messages::script([said().error_after(4, "overloaded_error")]), "streamed");
    assert_eq!(seen["type"], "overloaded_error", "{seen}");
}

#[test]
fn a_cut_connection_is_seen_as_one() {
    let seen = sdk(&Messages::script([said().cut_after(4)]), "streamed");
    assert_eq!(seen["class"], "RemoteProtocolError");
}
