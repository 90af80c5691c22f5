//! Many at a time, in a process of its own: its memory is measured.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failing test says so by a panic")]

use domain::{Fault, Kind};
use futures_util::future::{BoxFuture, FutureExt};
use planner::{Agent, Caps, Dialect, Message, Model, Prices, Tool, Tools};
use serde_json::Value;
use std::sync::Arc;
use testkit::{Messages, Said};

const STREAMS: usize = 100;

struct NoTools;

impl Tools for NoTools {
    fn list(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn call<'a>(&'a self, name: &'a str, _: Value) -> BoxFuture<'a, Result<String, Fault>> {
        async move { Err(Fault::new(Kind::NotFound, "tool.unknown", format!("there is no tool `{name}`"))) }.boxed()
    }
}

/// Runs this many conversations at once; how many of them came out wrong.
async fn round(agent: &Arc<Agent>, text: &str) -> usize {
    let runs: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (agent, text) = (agent.clone(), text.to_owned());
            tokio::spawn(async move {
                let mut streamed = String::new();
                let mut hear = |event| {
                    if let planner::Event::Text(text) = event {
                        streamed.push_str(&text);
                    }
                };
                let finished = agent.run(&[], &[Message::user("Go")], &NoTools, &mut hear).await;
                finished.answer.is_ok_and(|answer| answer.text == text) && streamed == text
            })
        })
        .collect();
    let mut wrong = 0;
    for run in runs {
        wrong += usize::from(!run.await.unwrap());
    }
    wrong
}

/// Of this process, the scripted server included.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_streams_at_a_time_all_complete_and_memory_stays() {
    let text = "One sentence of an answer. ".repeat(20);
    for (dialect, path) in [(Dialect::Claude, ""), (Dialect::OpenAi, "/v1")] {
        let server = Messages::always(Said::text(&text));
        let url = format!("{}{path}", server.url);
        let model = Model::new(dialect, &url, Some(Messages::KEY.into()), "claude-sonnet-5-5").unwrap();
        let agent = Arc::new(Agent { model, prices: Prices::default(), caps: Caps::default() });
        let mut wrong = round(&agent, &text).await + round(&agent, &text).await;
        let before = resident_kib();
        for _ in 0..5 {
            wrong += round(&agent, &text).await;
        }
        assert_eq!(wrong, 0);
        let grown = resident_kib().saturating_sub(before);
        println!("{dialect:?}: {grown} KiB more after {} streams", 5 * STREAMS);
        assert!(grown < 16 * 1024, "{grown} KiB more after {} streams", 5 * STREAMS);
    }
}
