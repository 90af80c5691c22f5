//! Turns, money, time and bytes: none of them is exceeded.

use crate::shop::Shop;
use crate::support::{DIALECTS, agent_of, ask, left, system};
use planner::{Caps, Dialect, Ending, Event, Message};
use serde_json::json;
use testkit::{Messages, Said};

fn query(sql: &str) -> Said {
    Said::tool("call_1", "read_query", &json!({"sql": sql}))
}

#[tokio::test]
async fn a_budget_that_is_too_small_stops_before_the_call() {
    let caps = Caps { max_budget_usd: 0.001, ..Caps::default() };
    let seen = ask(Dialect::Claude, caps, "Hello", vec![Said::text("Hello.")]).await;
    assert_eq!(seen.fault().code, "model.budget");
    assert!(seen.server.requests().is_empty(), "nothing was asked");
    assert_eq!(seen.finished.spent.cost_usd, Some(0.0));
}

#[tokio::test]
async fn a_budget_that_runs_out_leaves_enough_for_an_answer() {
    // The first call takes 0.38 of 0.50: what is left pays for one more, without tools.
    let script = vec![query("SELECT 1").usage(40_000, 30_000, 0, 0), Said::text("So far: 1.").when("No more tools")];
    let seen = ask(Dialect::Claude, Caps::default(), "Go on", script).await;
    assert_eq!((seen.answer().text.as_str(), seen.answer().ending), ("So far: 1.", Ending::Budget));
    assert_eq!(seen.server.requests()[1].body["tool_choice"], json!({"type": "none"}));
    let spent = vec![query("SELECT 1").usage(40_000, 41_500, 0, 0)];
    let seen = ask(Dialect::Claude, Caps::default(), "Go on", spent).await;
    assert_eq!((seen.fault().code.as_str(), seen.server.requests().len()), ("model.budget", 1));
}

#[tokio::test]
async fn the_last_turn_is_an_answer() {
    let caps = Caps { max_turns: 3, ..Caps::default() };
    for dialect in DIALECTS {
        let script = vec![query("SELECT 1"), query("SELECT 2"), Said::text("Best effort.").when("No more tools")];
        let seen = ask(dialect, caps, "Go on", script).await;
        assert_eq!((seen.answer().text.as_str(), seen.answer().ending), ("Best effort.", Ending::MaxTurns));
        // A server that does not keep to it is not followed.
        let seen = ask(dialect, caps, "Go on", vec![query("SELECT 1"); 9]).await;
        assert_eq!((seen.fault().code.as_str(), seen.server.requests().len()), ("model.max_turns", 3));
        assert_eq!(seen.finished.spent.tool_calls, 2);
    }
}

#[tokio::test]
async fn the_deadline_ends_a_model_that_stalls() {
    let caps = Caps { seconds: 1, ..Caps::default() };
    for dialect in DIALECTS {
        let seen = ask(dialect, caps, "Hello", vec![Said::text("Hello there.").stall_after(4)]).await;
        assert_eq!((seen.fault().code.as_str(), seen.fault().kind.http_status()), ("model.timeout", 504));
        seen.left().await;
    }
}

#[tokio::test]
async fn dropping_a_run_leaves_the_model() {
    let server = Messages::script([Said::text("Hello there.").stall_after(4)]);
    let agent = agent_of(Dialect::Claude, &server, Caps::default());
    let (system, messages, shop) = (system(), [Message::user("Hello")], Shop::open());
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let mut hear = |event| drop(sender.send(event));
    let mut run = Box::pin(agent.run(&system, &messages, &shop, &mut hear));
    tokio::select! {
        _ = &mut run => panic!("it stalls"),
        event = receiver.recv() => assert!(matches!(event, Some(Event::Text(_)))),
    }
    drop(run);
    left(server).await;
}

#[tokio::test]
async fn a_long_result_is_cut_and_says_so() {
    let sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) SELECT x FROM n";
    let caps = Caps { tool_result_bytes: 1_000, ..Caps::default() };
    for dialect in DIALECTS {
        let seen =
            ask(dialect, caps, "All", vec![query(sql), Said::text("Many.").when("[cut: the first 1000 of")]).await;
        assert_eq!(seen.answer().text, "Many.");
        assert!(seen.last_message().len() < 1_500);
        assert!(seen.events.iter().any(|event| matches!(event, Event::ToolFinished { cut: true, .. })));
    }
}

#[tokio::test]
async fn marks_for_the_cache_are_no_more_than_the_api_takes() {
    let server = Messages::always(Said::text("Hello."));
    let agent = agent_of(Dialect::Claude, &server, Caps::default());
    for parts in 0..7 {
        let system = vec!["a part".to_owned(); parts];
        let finished = agent.run(&system, &[Message::user("Hello")], &Shop::open(), &mut |_| {}).await;
        assert!(finished.answer.is_ok(), "{parts} parts");
        let body = server.requests().last().unwrap().body.to_string();
        assert_eq!(body.matches("cache_control").count(), 1 + parts.min(3));
    }
}

#[tokio::test]
async fn a_model_without_a_price_has_no_cost() {
    let server = Messages::script([Said::text("Hello.")]);
    let mut agent = agent_of(Dialect::OpenAi, &server, Caps { max_budget_usd: 0.000_001, ..Caps::default() });
    let url = format!("{}/v1", server.url);
    agent.model = planner::Model::new(Dialect::OpenAi, &url, Some(Messages::KEY.into()), "llama").unwrap();
    let finished = agent.run(&system(), &[Message::user("Hello")], &Shop::open(), &mut |_| {}).await;
    assert_eq!((finished.answer.unwrap().text.as_str(), finished.spent.cost_usd), ("Hello.", None));
}
