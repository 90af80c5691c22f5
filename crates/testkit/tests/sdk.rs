//! The scripted server is the API as the vendor's own client knows it: the `anthropic` Python SDK talks to it.

use serde_json::{Value, json};
use std::process::Command;
use testkit::{Messages, Said, python};

/// What the client makes of each script, asked in its own way (`tests/python/messages_sdk.py`).
fn sdk(scripts: Vec<(&str, Vec<Said>)>) -> Vec<Value> {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/python/messages_sdk.py");
    let mut command = Command::new(python());
    command.arg(program);
    for (case, script) in scripts {
        command.args([&Messages::script(script).url, case]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said() -> Said {
    Said::thinking("they want a count", "signature").and_text("There are 200 orders.").usage(12, 34, 5, 6)
}

#[test]
fn a_message_is_the_same_plain_and_streamed() {
    let scripts = vec![("plain", vec![said()]), ("streamed", vec![said()]), ("streamed", vec![said().with_unknowns()])];
    let expected = json!({
        "content": [
            {"type": "thinking", "thinking": "they want a count", "signature": "signature"},
            {"type": "text", "text": "There are 200 orders."},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12, "output_tokens": 34,
            "cache_creation_input_tokens": 5, "cache_read_input_tokens": 6},
    });
    for (at, mut message) in sdk(scripts).into_iter().enumerate() {
        let text = message.as_object_mut().unwrap().remove("text");
        assert_eq!(text, (at > 0).then(|| json!("There are 200 orders.")));
        // The client keeps a block that it does not know; it is the third.
        message["content"].as_array_mut().unwrap().truncate(2);
        assert_eq!(message, expected);
    }
}

#[test]
fn a_tool_is_called_and_its_result_handed_back() {
    let call = Said::thinking("let me look", "signed").and_tool("toolu_1", "read_query", &json!({"sql": "SELECT 1"}));
    let script = vec![call.when("how many orders?"), Said::text("200.").when("toolu_1")];
    let turns = &sdk(vec![("tool_use", script)])[0];
    assert_eq!(turns[0]["stop_reason"], "tool_use");
    assert_eq!(turns[0]["content"][1]["input"], json!({"sql": "SELECT 1"}));
    assert_eq!(turns[1]["content"][0]["text"], "200.");
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
    let seen = sdk(cases.iter().map(|(case, reply, ..)| (*case, vec![reply.clone()])).collect());
    for (seen, (case, _, class, status, kind)) in seen.iter().zip(&cases) {
        let expected = (&json!(class), &json!(status), &json!(kind));
        assert_eq!((&seen["class"], &seen["status"], &seen["type"]), expected, "{case}");
    }
    assert_eq!(seen[1]["headers"]["retry-after"], "7");
    assert_eq!(seen[1]["headers"]["anthropic-ratelimit-requests-remaining"], "0");
}

#[test]
fn what_breaks_in_a_stream_is_seen_as_what_it_is() {
    let scripts =
        vec![("streamed", vec![said().error_after(4, "overloaded_error")]), ("streamed", vec![said().cut_after(4)])];
    let seen = sdk(scripts);
    assert_eq!(seen[0]["type"], "overloaded_error");
    assert_eq!(seen[1]["class"], "RemoteProtocolError");
}
