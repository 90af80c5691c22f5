//! How long a model's first words take through the whole house: from when its server sends them to when a client of the
//! Analyst has them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that fails should say so at once"
)]

use serde_json::json;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};
use testkit::{Client, Messages, Said, ServerBuilder};

const RUNS: usize = 200;

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let model = Messages::always(Said::text("Hello, this is an answer in some pieces."));
    let server = ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
        .demo()
        .env("GATEHOUSE_PLANNER", "claude")
        .env("ANTHROPIC_API_KEY", Messages::KEY)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1000000")
        .env("GATEHOUSE_LIMITS_BURST", "1000000")
        .start();
    let client = server.client("bench", "analyst");
    let arrivals: Vec<Instant> = (0..RUNS).map(|_| first_words(&client)).collect();
    let sent = model.first_texts();
    let mut took: Vec<Duration> = arrivals.iter().zip(&sent).map(|(here, there)| *here - *there).collect();
    took.sort();
    let (median, late) = (took[RUNS / 2], took[RUNS * 95 / 100]);
    println!("first words of a model, through the house: after {median:.1?} (p50), {late:.1?} (p95) of {RUNS}");
}

/// When the first words of one answer arrived here.
fn first_words(client: &Client) -> Instant {
    let messages = json!([{ "role": "user", "content": "Hello" }]);
    let body = json!({ "model": "claude-da/analyst", "stream": true, "messages": messages }).to_string();
    let response = client.open("POST".parse().unwrap(), "/v1/chat/completions", body.into_bytes());
    let mut first = None;
    for line in BufReader::new(response.into_body().into_reader()).lines() {
        if line.unwrap().contains("Hello") {
            first.get_or_insert_with(Instant::now);
        }
    }
    first.expect("words")
}
