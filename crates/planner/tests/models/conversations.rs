//! What is said, and that all of it arrives.

use crate::support::{DIALECTS, ask, converse};
use planner::{Caps, Dialect, Ending, Event, Message};
use serde_json::{Value, json};
use testkit::Said;

const BY_MONTH: &str = "SELECT month, sum(amount) FROM orders GROUP BY month ORDER BY month";
const LARGEST: &str = "SELECT max(amount) FROM orders WHERE month = '2026-10'";
const INSIGHT: &str = "Revenue grew from 200 in August to 400 in October.\n\nOne order of 400 is all of October.";

fn analysis() -> Vec<Said> {
    let sql = |sql: &str| json!({"sql": sql});
    vec![
        Said::thinking("First the months.", "sig-1")
            .and_tool("call_1", "read_query", &sql(BY_MONTH))
            .usage(900, 60, 800, 0)
            .when("How did revenue develop?"),
        Said::thinking("October stands out.", "sig-2")
            .and_tool("call_2", "read_query", &sql(LARGEST))
            .usage(50, 40, 100, 1_700)
            .when(r#"[\"2026-10\",400.0]"#),
        Said::text(INSIGHT).usage(30, 90, 60, 1_800).when("[[400.0]]"),
    ]
}

#[tokio::test]
async fn an_analysis_of_two_queries() {
    let seen = ask(Dialect::Claude, Caps::default(), "How did revenue develop?", analysis()).await;
    assert_eq!(seen.answer().text, INSIGHT);
    assert_eq!(seen.streamed(), INSIGHT);
    insta::assert_debug_snapshot!("analysis events", untold(&seen.events));
    insta::assert_json_snapshot!(
        "analysis requests",
        seen.server.requests().iter().map(|r| &r.body).collect::<Vec<_>>()
    );
    // 980 in, 190 out, 960 written, 3500 read, at 2, 10, 2.5 and 0.1 a million.
    let spent = seen.finished.spent;
    assert_eq!((spent.turns, spent.tool_calls, spent.usage.prompt()), (3, 2, 980 + 960 + 3_500));
    assert_eq!(spent.cost_usd, Some(0.006_61));
}

/// The events without text in pieces, which would say little.
fn untold(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(|event| !matches!(event, Event::Text(_))).collect()
}

#[tokio::test]
async fn the_same_analysis_in_the_other_dialect() {
    let seen = ask(Dialect::OpenAi, Caps::default(), "How did revenue develop?", analysis()).await;
    assert_eq!((seen.answer().text.as_str(), seen.streamed().as_str()), (INSIGHT, INSIGHT));
    insta::assert_json_snapshot!("analysis requests, openai", seen.server.requests().last().unwrap().body);
    assert_eq!(seen.finished.spent.usage.prompt(), 980 + 960 + 3_500);
}

#[tokio::test]
async fn a_question_that_is_not_about_data_uses_no_tool() {
    for dialect in DIALECTS {
        let seen = ask(dialect, Caps::default(), "what's 2+2?", vec![Said::text("4.").when("what's 2+2?")]).await;
        assert_eq!(seen.answer().text, "4.");
        assert_eq!(seen.finished.spent.tool_calls, 0);
        assert_eq!(seen.server.requests()[0].body["tools"].as_array().map(Vec::len), Some(1), "it could have");
    }
}

#[tokio::test]
async fn the_whole_history_reaches_the_model() {
    let history = [
        Message::user("Hello"),
        Message::assistant("Hello! What would you like to know?"),
        Message::user("Revenue in September?"),
        Message::assistant("250."),
        Message::user("And in October?"),
    ];
    for dialect in DIALECTS {
        let seen = converse(dialect, Caps::default(), &history, vec![Said::text("400.").when("And in October?")]).await;
        assert_eq!(seen.answer().text, "400.");
        let body = &seen.server.requests()[0].body;
        let messages = body["messages"].as_array().unwrap().iter().filter(|m| m["role"] != "system");
        let text = |m: &Value| m["content"].as_str().or(m["content"][0]["text"].as_str()).unwrap().to_owned();
        let sent: Vec<(String, String)> = messages.map(|m| (m["role"].as_str().unwrap().to_owned(), text(m))).collect();
        let given = history.iter().map(|m| (format!("{:?}", m.role).to_lowercase(), m.text.clone()));
        assert_eq!(sent, given.collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_conversation_must_end_in_a_question() {
    for messages in [vec![], vec![Message::assistant("Hello")], vec![Message::user("  ")]] {
        let seen = converse(Dialect::Claude, Caps::default(), &messages, vec![]).await;
        assert_eq!(seen.fault().code, "request.messages");
        assert!(seen.server.requests().is_empty());
    }
}

#[tokio::test]
async fn texts_of_two_turns_are_two_paragraphs() {
    let call = Said::text("Let me look.").and_tool("call_1", "read_query", &json!({"sql": LARGEST}));
    for dialect in DIALECTS {
        let seen = ask(dialect, Caps::default(), "Largest?", vec![call.clone(), Said::text("It is 400.")]).await;
        assert_eq!(seen.answer().text, "Let me look.\n\nIt is 400.");
        assert_eq!(seen.streamed(), seen.answer().text);
        assert_eq!(seen.answer().ending, Ending::Complete);
    }
}

#[tokio::test]
async fn a_key_goes_where_its_server_looks_for_it_and_nowhere_else() {
    for (dialect, header) in DIALECTS.into_iter().zip(["x-api-key", "authorization"]) {
        let seen = ask(dialect, Caps::default(), "Hello", vec![Said::text("Hello.")]).await;
        let request = &seen.server.requests()[0];
        assert!(request.headers[header].contains(testkit::Messages::KEY));
        assert!(!request.body.to_string().contains(testkit::Messages::KEY));
        let agent = crate::support::agent_of(dialect, &seen.server, Caps::default());
        assert!(!format!("{agent:?}").contains(testkit::Messages::KEY));
    }
}
