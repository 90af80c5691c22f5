//! How long an answer takes tells nothing: not whether a token's id exists, nor whether a run does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops where it fails")]

#[path = "it/place.rs"]
#[macro_use]
mod place;

use crate::place::{Place, run};
use domain::{Actor, Run, RunId};
use ledger::NewToken;
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

on_both! {
    whether_a_run_exists,
    whether_a_token_exists,
}

const TURNS: usize = 400;

/// The medians of two lookups, taken in turns so that a busy machine is equally unkind to both.
async fn medians<F: Future<Output = bool>>(first: impl Fn() -> F, second: impl Fn() -> F) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        for (which, lookup) in [&first as &dyn Fn() -> F, &second].into_iter().enumerate() {
            let start = Instant::now();
            assert!(!lookup().await, "neither may be found");
            times[which].push(start.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort();
        times[TURNS / 2]
    })
}

/// Far less than what reading a run, or a row more, would add; more than what chance does.
fn assert_alike([one, other]: [Duration; 2], what: &str) {
    let (less, more) = (one.min(other).as_secs_f64(), one.max(other).as_secs_f64());
    assert!(more < 1.35 * less, "{what}: {one:?} and {other:?}");
    testkit::tally("house", what, 2 * TURNS, "told by time", 0);
}

async fn whether_a_run_exists(place: Place) {
    let ledger = place.open();
    let result = RawValue::from_string(format!("\"{}\"", "x".repeat(8_000_000))).unwrap();
    let large = Run { result_json: Some(result), ..run("bob", "large") };
    ledger.record(&large).await.unwrap();
    let look = |id| {
        let ledger = &ledger;
        async move { ledger.run_of(id, "ann").await.unwrap().is_some() }
    };
    assert_alike(medians(|| look(large.run_id), || look(RunId::new())).await, &place.told("another's run or none"));
    assert!(ledger.run_of(large.run_id, "bob").await.unwrap().is_some());
}

async fn whether_a_token_exists(place: Place) {
    let ledger = place.open();
    let ann = NewToken { actor: Actor::token("ann"), role: "analyst".into(), claims: [].into(), expires_at: None };
    let (info, _) = ledger.create_token(ann).await.unwrap();
    let wrong = "0".repeat(64);
    let (known, unknown) = (format!("gh_{}_{wrong}", info.id), format!("gh_{}_{wrong}", "f".repeat(16)));
    let look = |secret| {
        let ledger = &ledger;
        async move { ledger.authenticate(secret).await.unwrap().is_some() }
    };
    assert_alike(medians(|| look(&known), || look(&unknown)).await, &place.told("a token's id known or unknown"));
}
