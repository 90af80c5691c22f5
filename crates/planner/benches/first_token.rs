//! How long a token takes from the model's server to whoever listens, through HTTP, the stream's parser and the loop.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a bench prints, and may fail")]

use domain::{Fault, Kind};
use futures_util::future::{BoxFuture, FutureExt};
use planner::{Agent, Caps, Dialect, Event, Message, Model, Prices, Tool, Tools};
use serde_json::Value;
use std::time::{Duration, Instant};
use testkit::{Messages, Said};

const RUNS: usize = 200;

struct NoTools;

impl Tools for NoTools {
    fn list(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn call<'a>(&'a self, name: &'a str, _: Value) -> BoxFuture<'a, Result<String, Fault>> {
        async move { Err(Fault::new(Kind::NotFound, "tool.unknown", format!("there is no tool `{name}`"))) }.boxed()
    }
}

/// When the first text of one answer arrived here.
async fn first_text(agent: &Agent) -> Instant {
    let mut first = None;
    let mut hear = |event| {
        if let Event::Text(_) = event {
            first.get_or_insert_with(Instant::now);
        }
    };
    let finished = agent.run(&[], &[Message::user("Hello")], &NoTools, &mut hear).await;
    assert!(finished.answer.is_ok());
    first.unwrap()
}

#[tokio::main]
async fn main() {
    for dialect in [Dialect::Claude, Dialect::OpenAi] {
        let server = Messages::always(Said::text("Hello, this is an answer in some pieces."));
        let url = if dialect == Dialect::Claude { server.url.clone() } else { format!("{}/v1", server.url) };
        let model = Model::new(dialect, &url, Some(Messages::KEY.into()), "claude-sonnet-5-5").unwrap();
        let agent = Agent { model, prices: Prices::default(), caps: Caps::default() };
        let mut arrivals = Vec::new();
        for _ in 0..RUNS {
            arrivals.push(first_text(&agent).await);
        }
        let sent = server.first_texts();
        let mut took: Vec<Duration> = arrivals.iter().zip(&sent).map(|(here, there)| *here - *there).collect();
        took.sort();
        let (median, late) = (took[RUNS / 2], took[RUNS * 95 / 100]);
        println!("first token, {dialect:?}: passed on after {median:.1?} (p50), {late:.1?} (p95) of {RUNS}");
    }
}
