//! What remembering costs: `record` alone and from eight callers, `authenticate`, `verify`, on both
//! stores. The throw-away Postgres does not flush its log: what it shows is what the way there costs.
//! The yardstick is the same number of bytes appended to a file and flushed, on the same disk.

#![allow(
    unused_macros,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first error"
)]

#[path = "../tests/it/place.rs"]
mod place;

use domain::Actor;
use ledger::{Ledger, NewToken};
use place::{Place, run};
use std::io::Write;
use std::time::{Duration, Instant};

const RECORDS: usize = 2_000;
const CALLERS: usize = 8;
const LOOKUPS: usize = 20_000;

#[tokio::main]
async fn main() {
    for (store, place) in [("SQLite", Place::sqlite()), ("Postgres", Place::postgres())] {
        println!("== {store}");
        measure(&place).await;
    }
}

async fn measure(place: &Place) {
    let ledger = place.open();
    print("flush of 4 KB, bare file", flushes(place));
    print("record, one caller", records(ledger.clone(), RECORDS).await);
    print("record, eight callers", concurrent_records(&ledger).await);
    print("authenticate", lookups(&ledger).await);
    let start = Instant::now();
    let report = ledger.verify().await.unwrap();
    println!("{:<26} {:>9.1?} for {} entries", "verify", start.elapsed(), report.entries);
}

fn flushes(place: &Place) -> Vec<Duration> {
    let mut file = std::fs::File::create(place.dir.path().join("bare")).unwrap();
    let block = [7; 4096];
    let flush = |_| {
        let start = Instant::now();
        file.write_all(&block).and_then(|()| file.sync_data()).unwrap();
        start.elapsed()
    };
    (0..RECORDS).map(flush).collect()
}

async fn records(ledger: Ledger, count: usize) -> Vec<Duration> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let run = run("ann", "how many orders were there in March?");
        let start = Instant::now();
        ledger.record(&run).await.unwrap();
        times.push(start.elapsed());
    }
    times
}

async fn concurrent_records(ledger: &Ledger) -> Vec<Duration> {
    let start = Instant::now();
    let tasks: Vec<_> = (0..CALLERS).map(|_| tokio::spawn(records(ledger.clone(), RECORDS / CALLERS))).collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    println!("{:<26} {:>9.0} a second", "records, eight callers", RECORDS as f64 / start.elapsed().as_secs_f64());
    times
}

async fn lookups(ledger: &Ledger) -> Vec<Duration> {
    let token = NewToken { actor: Actor::token("ann"), role: "analyst".into(), claims: [].into(), expires_at: None };
    let (_, secret) = ledger.create_token(token).await.unwrap();
    let mut times = Vec::with_capacity(LOOKUPS);
    for _ in 0..LOOKUPS {
        let start = Instant::now();
        assert!(ledger.authenticate(secret.expose()).await.unwrap().is_some());
        times.push(start.elapsed());
    }
    times
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
    println!("{what:<26} p50 {:>9.1?}  p95 {:>9.1?}  p99 {:>9.1?}", at(0.5), at(0.95), at(0.99));
}
