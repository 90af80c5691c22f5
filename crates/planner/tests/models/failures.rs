//! What goes wrong on the way, case by case: what the caller is told, and how often the model was asked.

use crate::shop::Shop;
use crate::support::{DIALECTS, Seen, agent_of, ask, system};
use domain::Kind;
use planner::{Caps, Dialect, Ending, Event, Message};
use serde_json::json;
use std::time::Duration;
use testkit::{Messages, Said};

fn fine() -> Said {
    Said::text("Fine.")
}

/// What happens, the script of it, the text or the code that comes of it, and the number of requests.
type Case = (&'static str, Vec<Said>, Result<&'static str, &'static str>, usize);

/// What is left of a run: its text or its code, and the number of requests.
fn outcome(seen: &Seen) -> (Result<&str, &str>, usize) {
    let answer = seen.finished.answer.as_ref();
    (answer.map(|a| a.text.as_str()).map_err(|f| f.code.as_str()), seen.server.requests().len())
}

#[tokio::test]
async fn each_failure_has_its_code_and_is_tried_again_where_that_helps() {
    let again = |status| Said::error(status, "scripted").header("retry-after", "0");
    let spend = Said::rate_limited("0").code("enforced_spend_limit_reached");
    let cases: Vec<Case> = vec![
        ("a bad request", vec![Said::error(400, "bad")], Err("model.request"), 1),
        ("a wrong key", vec![Said::error(401, "key")], Err("model.key"), 1),
        ("no credit", vec![Said::error(402, "credit")], Err("model.billing"), 1),
        ("no such model", vec![Said::error(404, "model")], Err("model.unknown"), 1),
        ("too long", vec![Said::error(413, "large")], Err("model.too_long"), 1),
        ("a redirect", vec![Said::error(307, "elsewhere").header("location", "/v1/other")], Err("model.request"), 1),
        ("rate limited once", vec![Said::rate_limited("0"), fine()], Ok("Fine."), 2),
        ("rate limited for longer than there is time", vec![Said::rate_limited("9999")], Err("model.rate_limited"), 1),
        (
            "asked not to try again",
            vec![Said::rate_limited("0").header("x-should-retry", "false")],
            Err("model.rate_limited"),
            1,
        ),
        ("a spend limit", vec![spend], Err("model.spend_limit"), 1),
        ("overloaded twice", vec![again(529), again(529), fine()], Ok("Fine."), 3),
        ("always overloaded", vec![again(529); 9], Err("model.overloaded"), 5),
        ("failed once", vec![again(500), fine()], Ok("Fine."), 2),
        ("always failing", vec![again(500); 9], Err("model.failed"), 5),
        ("cut before any text", vec![fine().cut_after(1), fine()], Ok("Fine."), 2),
        ("an error before any text", vec![fine().error_after(1, "overloaded_error"), fine()], Ok("Fine."), 2),
        ("unknown events", vec![fine().with_unknowns()], Ok("Fine."), 1),
        ("a slow stream", vec![fine().slowly(Duration::from_millis(5))], Ok("Fine."), 1),
        ("a refusal", vec![Said::default().stop("refusal")], Err("model.refusal"), 1),
        ("an empty answer", vec![Said::default()], Err("model.empty"), 1),
        ("nothing but thoughts", vec![Said::thinking("hm", "sig").stop("max_tokens")], Err("model.max_tokens"), 1),
    ];
    let mut seen_wrong = Vec::new();
    let tried = cases.len() * DIALECTS.len();
    for (what, script, expected, requests) in cases {
        for dialect in DIALECTS {
            let seen = ask(dialect, Caps::default(), "How are you?", script.clone()).await;
            if outcome(&seen) != (expected, requests) {
                seen_wrong.push(format!("{what} ({dialect:?}): {:?}", outcome(&seen)));
            }
        }
    }
    assert!(seen_wrong.is_empty(), "{seen_wrong:#?}");
    assert_eq!(tried, 42);
}

#[tokio::test]
async fn what_has_been_told_is_not_told_again() {
    let long = || Said::text("A text of more than one piece, so that there is a middle.");
    for dialect in DIALECTS {
        let cases =
            [(long().cut_after(6), "model.cut"), (long().error_after(6, "overloaded_error"), "model.overloaded")];
        for (reply, code) in cases {
            let seen = ask(dialect, Caps::default(), "How are you?", vec![reply, fine()]).await;
            assert_eq!(outcome(&seen), (Err(code), 1));
            assert!(long_enough(&seen.streamed()), "the beginning was passed on");
            // The prompt was read and is paid for, where the server has said so by then.
            assert_eq!(seen.finished.spent.usage.input > 0, dialect == Dialect::Claude);
        }
    }
}

fn long_enough(text: &str) -> bool {
    text.starts_with("A text")
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    let seen = ask(Dialect::Claude, Caps::default(), "Hello", vec![Said::rate_limited("9999")]).await;
    assert_eq!(seen.fault().kind, Kind::RateLimited);
    assert_eq!(seen.finished.retry_after, Some(Duration::from_secs(9_999)));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_so() {
    let server = Messages::script([]);
    let mut agent = agent_of(Dialect::Claude, &server, Caps { seconds: 1, ..Caps::default() });
    // Port 1 of this machine, where nobody listens; and a server that does not speak TLS.
    for url in ["http://127.0.0.1:1", &server.url.replace("http:", "https:")] {
        agent.model = planner::Model::new(Dialect::Claude, url, None, "x").unwrap();
        let finished = agent.run(&system(), &[Message::user("Hello")], &Shop::open(), &mut |_| {}).await;
        assert_eq!(finished.answer.unwrap_err().code, "model.unreachable", "{url}");
    }
}

#[test]
fn an_address_that_is_none_is_refused_at_once() {
    for url in ["", "localhost:11434", "ftp://example.com", "/v1"] {
        assert_eq!(planner::Model::new(Dialect::OpenAi, url, None, "x").unwrap_err().code, "model.url", "{url}");
    }
}

#[tokio::test]
async fn faults_of_tools_are_told_to_the_model_if_it_can_fix_them() {
    let sql = |sql: &str| Said::tool("call_1", "read_query", &json!({"sql": sql}));
    let cases = [
        (sql("SELECT nonsense"), "no such column: nonsense"),
        (sql("DELETE FROM orders"), "attempt to write a readonly database"),
        (Said::tool("call_1", "read_query", &json!({})), "`sql` is missing"),
        (Said::tool("call_1", "Bash", &json!({"command": "id"})), "there is no tool `Bash`"),
        (Said::garbled_tool("call_1", "read_query", r#"{"sql": "SEL"#), "the input is not a JSON object"),
        (Said::garbled_tool("call_1", "read_query", "[1]"), "the input is not a JSON object"),
    ];
    for dialect in DIALECTS {
        for (call, told) in &cases {
            let script = vec![call.clone(), Said::text("I see.").when(told)];
            let seen = ask(dialect, Caps::default(), "Try it", script).await;
            assert_eq!(outcome(&seen), (Ok("I see."), 2), "{dialect:?}: {told}");
        }
        let seen = ask(dialect, Caps::default(), "Try it", vec![sql("SELECT crash")]).await;
        assert_eq!(outcome(&seen), (Err("engine.crashed"), 1));
        let told = |event: &Event| matches!(event, Event::ToolFinished { fault: Some(_), .. });
        assert!(seen.events.iter().any(told), "the record has it too");
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_an_answer_that_says_so() {
    for reason in ["max_tokens", "model_context_window_exceeded"] {
        let seen = ask(Dialect::Claude, Caps::default(), "Tell me", vec![Said::text("It was").stop(reason)]).await;
        assert_eq!((seen.answer().text.as_str(), seen.answer().ending), ("It was", Ending::MaxTokens));
    }
}

#[tokio::test]
async fn a_paused_turn_goes_on() {
    let script = vec![Said::text("First").stop("pause_turn"), Said::text("then.")];
    let server = Messages::script(script);
    let agent = agent_of(Dialect::Claude, &server, Caps::default());
    let finished = agent.run(&system(), &[Message::user("Tell me")], &Shop::open(), &mut |_| {}).await;
    assert_eq!(finished.answer.unwrap().text, "First\n\nthen.");
}
