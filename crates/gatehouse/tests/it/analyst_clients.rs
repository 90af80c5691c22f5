//! The Analyst as its clients meet it: OpenAI's own client, LangChain, and LiteLLM's proxy by both of its routes. Each
//! is the real program, and each answer is on record with the SQL that it came from.

use crate::analyst::{Lines, by_tier, endless_server, records};
use crate::support::server;
use serde_json::{Value, json};
use std::process::Command;
use testkit::Server;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The interpreter that has these clients.
fn python(clients: &[&str]) -> String {
    let made = Command::new(format!("{PROJECT}/scripts/python-deps")).args(clients).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// What a script of `tests/python` prints.
fn script(python: &str, name: &str, server: &Server, actor: &str, more: &[&str]) -> Value {
    let token = server.token(actor, "analyst");
    let mut command = Command::new(python);
    command.arg(format!("{PROJECT}/tests/python/{name}.py")).args([&server.url, &token]).args(more);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{name} {more:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What OpenAI's client makes of these cases, one after the other.
fn openai<const N: usize>(server: &Server, cases: [&str; N]) -> [Value; N] {
    let seen = script(&python(&[]), "analyst_openai", server, "oa", &cases);
    cases.map(|case| seen[case].clone())
}

#[test]
fn openais_client_asks_and_its_answer_is_on_record() {
    let (server, lines) = Lines::server(server());
    let cases = ["plain", "streamed", "conversation", "models", "arithmetic"];
    let [plain, streamed, five, models, arithmetic] = openai(&server, cases);
    assert!(plain["content"].as_str().unwrap().contains("| enterprise | 8 |"), "{plain}");
    let (id, session) = (plain["id"].as_str().unwrap(), plain["id"].as_str().unwrap().trim_start_matches("chatcmpl-"));
    assert_eq!(
        plain,
        json!({ "id": id, "object": "chat.completion", "model": "claude-da/analyst", "role": "assistant",
            "content": plain["content"], "finish_reason": "stop", "request_id": "from-python",
            "usage": { "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 } })
    );
    let run = &records(&server, session)[0];
    assert_eq!((&run["details"]["door"], &run["request_id"]), (&json!("analyst"), &json!("from-python")));
    let line = lines.of(session);
    assert_eq!((&line["metadata"]["user"], &line["final_response"]), (&json!("user-7"), &plain["content"]));
    assert_eq!(line["sql_queries_executed"][0], run["details"]["compiled_sql"]);

    assert_eq!(streamed["content"], plain["content"], "the same, in pieces");
    assert_eq!(streamed["ids"].as_array().unwrap().len(), 1);
    assert_eq!(streamed["objects"], json!(["chat.completion.chunk"]));
    assert_eq!(streamed["first"], json!({ "role": "assistant", "content": "" }));
    assert_eq!((&streamed["finish_reasons"], &streamed["last_delta"]), (&json!(["stop"]), &json!({})));
    assert_eq!(streamed["usages"].as_array().unwrap().len(), 1);
    assert_eq!(streamed["usage_is_last"], true);

    assert!(five.as_str().unwrap().contains("number of customers 8"), "leans on the turns before: {five}");
    assert_eq!((&models["listed"][0], &models["one"]), (&json!("claude-da/analyst"), &json!("claude-da/analyst")));
    assert!(arithmetic.as_str().unwrap().starts_with("I can't answer that"), "{arithmetic}");
    assert_eq!(lines.wait_for(4).remove(3)["metadata"]["tool_call_count"], 0, "and asks no database");
}

#[test]
fn openais_client_raises_what_it_should() {
    let server = server().demo().start();
    let [errors] = openai(&server, ["errors"]);
    insta::assert_json_snapshot!("openai_errors", errors);
}

#[test]
fn openais_client_is_told_not_to_repeat_what_timed_out() {
    let (server, lines) = endless_server(&[("RUN_TIMEOUT_SECONDS", "1")]);
    let [plain, streamed] = openai(&server, ["slow", "slow_stream"]);
    insta::assert_json_snapshot!("openai_query_timeout", plain);
    insta::assert_json_snapshot!("openai_query_timeout_streamed", streamed);
    assert_eq!(lines.wait_for(2).len(), 2, "its client has not tried again, though it was to try twice more");
}

#[test]
fn openais_client_gives_up_and_the_run_is_stopped_and_recorded() {
    let (server, lines) = endless_server(&[("RUN_TIMEOUT_SECONDS", "60")]);
    let [seen] = openai(&server, ["impatient"]);
    assert_eq!(seen["class"], "APITimeoutError");
    let line = lines.wait_for(1).remove(0);
    assert_eq!((&line["final_response"], &line["metadata"]["error"]), (&json!(""), &json!("request_cancelled")));
    assert_eq!(records(&server, line["session_id"].as_str().unwrap())[0]["status"], "cancelled");
}

#[test]
fn openais_client_meets_the_rate_limit() {
    let server =
        server().demo().env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1").env("GATEHOUSE_LIMITS_BURST", "5").start();
    let [flooded] = openai(&server, ["flood"]);
    insta::assert_json_snapshot!("openai_rate_limited", flooded);
}

#[test]
fn langchain_invokes_and_streams() {
    let (server, lines) = Lines::server(server());
    let seen = script(&python(&[]), "analyst_langchain", &server, "lc", &[]);
    let content = &seen["invoked"]["content"];
    assert!(content.as_str().unwrap().contains("| enterprise | 8 |"), "{seen}");
    assert_eq!(seen["streamed"], json!({ "content": content, "finish_reason": "stop", "pieces": true, "usage": true }));
    for line in lines.wait_for(2) {
        by_tier(&line);
    }
}

#[test]
fn litellm_routes_as_an_upstream() {
    through_litellm("upstream.yaml");
}

#[test]
fn litellm_routes_through_its_own_provider() {
    through_litellm("provider.yaml");
}

/// Plain and streamed, errors with our status and our code, and no cool-down after them.
fn through_litellm(config: &str) {
    let (server, lines) = endless_server(&[("RUN_TIMEOUT_SECONDS", "1")]);
    let config = format!("{PROJECT}/integrations/litellm/{config}");
    let seen = script(&python(&["litellm"]), "analyst_litellm", &server, "proxy", &[&config]);
    let content = seen["content"].as_str().unwrap();
    assert!(content.contains("| enterprise | 8 |"), "{seen}");
    for same in ["streamed", "after_errors"] {
        assert_eq!(seen[same], content, "{same}");
    }
    assert_eq!((&seen["finish_reason"], &seen["stream_finish_reason"]), (&json!("stop"), &json!("stop")));
    assert_eq!((&seen["model"], &seen["pieces"]), (&json!("claude-da/analyst"), &json!(true)));
    for (case, status, code) in [("too_long", 400, "[input_too_long]"), ("too_slow", 504, "[query_timeout]")] {
        assert_eq!(seen[case]["status"], status, "{}", seen[case]);
        assert!(seen[case]["message"].as_str().unwrap().contains(code), "{}", seen[case]);
    }
    let lines = lines.wait_for(5);
    by_tier(&lines[0]);
    by_tier(&lines[1]);
    assert_eq!(lines[0]["metadata"]["user"], "user-7");
    assert_eq!(lines[0]["metadata"]["actor"], "proxy");
}

#[test]
fn litellms_provider_works_in_a_program_of_ones_own() {
    let (server, lines) = Lines::server(server());
    let directory = format!("{PROJECT}/integrations/litellm");
    let seen = script(&python(&["litellm"]), "analyst_provider", &server, "library", &[&directory]);
    for call in ["acompletion", "astreaming", "completion", "streaming"] {
        assert!(seen[call].as_str().unwrap().contains("| enterprise | 8 |"), "{call}: {seen}");
    }
    assert_eq!(
        seen["fields"],
        json!(["finish_reason", "index", "is_finished", "text", "tool_use", "usage"]),
        "a GenericStreamingChunk"
    );
    assert_eq!((&seen["finished"], &seen["indexes"]), (&json!([[false, ""], [true, "stop"]]), &json!([0])));
    assert_eq!(seen["refused"]["status"], 404, "{}", seen["refused"]);
    assert!(seen["refused"]["message"].as_str().unwrap().contains("[model_not_found]"));
    lines.wait_for(6)[..5].iter().for_each(by_tier);
}
