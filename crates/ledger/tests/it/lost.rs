//! A database that goes away: it is waited for, nothing is lost that was answered, and nothing is recorded twice.

use crate::place::{home, run};
use domain::{Actor, Caller, Fault, Kind, RunId};
use ledger::{AuditEvent, Home, Ledger, LedgerError, NewToken, ScanQuota};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::{Postgres, Wire};

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);
const QUOTA: ScanQuota = ScanQuota { concurrent: 1, daily_bytes: 1_000 };

/// A cluster of its own, which can be stopped.
fn cluster() -> (Postgres, String, TempDir) {
    let postgres = Postgres::start();
    let url = postgres.url(&postgres.database());
    (postgres, url, tempfile::tempdir().unwrap())
}

fn open(url: &str, dir: &Path, patience: Duration) -> Ledger {
    let Home::Postgres { mut address, heads } = home(dir, Some(url)) else { panic!("no database") };
    address.patience = patience;
    Ledger::open(&Home::Postgres { address, heads }, &dir.join("keys")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_comes_back_in_time_is_waited_for() {
    let (mut postgres, url, dir) = cluster();
    let ledger = open(&url, dir.path(), LONG);
    let before = run("ann", "before");
    ledger.record(&before).await.unwrap();
    postgres.crash();
    let during = run("ann", "during");
    let (recorded, read, _postgres) = tokio::join!(ledger.record(&during), ledger.run(before.run_id), async {
        let back = tokio::task::spawn_blocking(move || {
            postgres.restart();
            postgres
        });
        back.await.unwrap()
    });
    recorded.unwrap();
    assert!(read.unwrap().is_some());
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.capsules), (None, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_does_not_is_an_honest_error() {
    let (mut postgres, url, dir) = cluster();
    let (steady, hasty) = (open(&url, dir.path(), LONG), open(&url, dir.path(), Duration::from_millis(300)));
    let ann = NewToken { actor: Actor::token("ann"), role: "r".into(), claims: [].into(), expires_at: None };
    let (_, token) = steady.create_token(ann).await.unwrap();
    let scan = RunId::new();
    assert_eq!(steady.begin_scan(scan, &Caller::new("ann", "r"), 100, QUOTA).await.unwrap(), Ok(100));
    postgres.crash();
    let lost = run("ann", "lost");
    let error = hasty.record(&lost).await.unwrap_err();
    assert!(matches!(error, LedgerError::Unreachable(_)), "{error}");
    assert_eq!(Fault::from(error).kind, Kind::Unavailable);
    assert!(hasty.authenticate(token.expose()).await.is_err(), "nobody is let in unseen");
    let mut ended = run("ann", "a scan");
    ended.run_id = scan;
    assert!(hasty.end_scan(&ended, 40, AuditEvent::new("fetch_scan")).await.is_err());
    assert_eq!(hasty.pay_owed().await, 1);
    postgres.restart();
    // It goes on by itself, and pays what it owes: the end of a scan, with which its place is free again.
    steady.record(&run("ann", "again")).await.unwrap();
    while hasty.pay_owed().await > 0 {}
    assert_eq!(steady.begin_scan(RunId::new(), &Caller::new("ann", "r"), 1_000, QUOTA).await.unwrap(), Ok(960));
    assert!(steady.run(lost.run_id).await.unwrap().is_none(), "what was told to have failed did not happen later");
    let report = steady.verify().await.unwrap();
    assert_eq!((report.flaw, report.capsules), (None, 2));
}

/// Connections are cut at moments of chance, while two servers write.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_recorded_twice_or_lost_when_connections_are_cut() {
    const CUTS: usize = 20;
    let place = crate::place::Place::postgres();
    let database = place.database.clone().unwrap();
    let (one, other) = (place.open(), place.open());
    let over = Arc::new(AtomicBool::new(false));
    let cutter = {
        let over = over.clone();
        tokio::task::spawn_blocking(move || {
            let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                       WHERE datname = current_database() AND application_name = 'gatehouse'";
            let cut = || Postgres::shared().sql(&database, cut).parse::<usize>().unwrap();
            // However long it takes them to come back each time.
            let (mut cuts, patience) = (0, Instant::now() + Duration::from_secs(60));
            while cuts < CUTS && Instant::now() < patience {
                cuts += cut();
            }
            over.store(true, Ordering::Relaxed);
            cuts
        })
    };
    let record = |ledger: Ledger| {
        let over = over.clone();
        async move {
            let mut ids = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let run = run("ann", &format!("question {}", ids.len()));
                ledger.record(&run).await.unwrap();
                ledger.append(AuditEvent::new("note.taken")).await.unwrap();
                ids.push(run.run_id);
            }
            ids
        }
    };
    let (first, second) = tokio::join!(tokio::spawn(record(one)), tokio::spawn(record(other)));
    let ids: Vec<RunId> = first.unwrap().into_iter().chain(second.unwrap()).collect();
    assert!(cutter.await.unwrap() >= CUTS, "connections were cut");
    let ledger = place.open();
    let report = ledger.verify().await.unwrap();
    let expected = ids.len() as i64;
    assert_eq!((report.flaw.clone(), report.capsules, report.entries), (None, expected, 2 * expected));
    let mut lost = 0;
    for id in &ids {
        lost += usize::from(ledger.run(*id).await.unwrap().is_none());
    }
    testkit::tally("ledger", "records while connections are cut: Postgres", ids.len(), "lost or twice", lost);
    assert_eq!(lost, 0);
}

/// A ledger on a database of its own, by a wire on which answers can be lost; the database's own way for looking.
fn wired(patience: Duration) -> (Ledger, Wire, crate::place::Place) {
    let place = crate::place::Place::postgres();
    let port = Postgres::shared().port();
    let wire = Wire::to(port);
    let url = wire.of(&Postgres::shared().url(place.database.as_ref().unwrap()), port);
    (open(&url, place.dir.path(), patience), wire, place)
}

/// The one moment in which nobody can know: the COMMIT was made, and its answer did not come. The database is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_not_made_again() {
    let (ledger, wire, place) = wired(LONG);
    ledger.record(&run("ann", "before")).await.unwrap();
    let recorded = run("ann", "its answer is lost");
    wire.lose_next();
    ledger.record(&recorded).await.unwrap();
    assert_eq!(wire.cuts(), 1, "it was lost");
    assert!(ledger.run(recorded.run_id).await.unwrap().is_some());
    // Begun a second time, it would stand in its own way: one at once is allowed, of a thousand bytes.
    wire.lose_next();
    let begun = ledger.begin_scan(RunId::new(), &Caller::new("ann", "r"), 1_000, QUOTA).await.unwrap();
    assert_eq!((begun, wire.cuts()), (Ok(1_000), 2));
    wire.lose_next();
    ledger.append(AuditEvent::new("note.taken")).await.unwrap();
    assert_eq!(wire.cuts(), 3);
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.capsules), (None, 2));
    let notes = place.one("SELECT count(*) FROM audit WHERE entry_json LIKE '%note.taken%'");
    assert_eq!((notes.as_str(), place.one("SELECT count(*) FROM scans_under_way").as_str()), ("1", "1"));
}

/// The database goes away with the answer, for longer than anybody waits: that is told, and nothing is there twice after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_cannot_be_looked_up_in_time_is_told() {
    let (ledger, wire, place) = wired(Duration::from_millis(300));
    ledger.record(&run("ann", "before")).await.unwrap();
    let unknown = run("ann", "who knows");
    wire.break_at_next();
    let error = ledger.record(&unknown).await.unwrap_err();
    assert!(matches!(error, LedgerError::Unreachable(_)), "{error}");
    wire.mend();
    let other = place.open();
    other.record(&run("ann", "after")).await.unwrap();
    while ledger.append(AuditEvent::new("note.taken")).await.is_err() {}
    let report = other.verify().await.unwrap();
    assert_eq!((report.flaw, report.capsules), (None, 3), "what was committed is there, once");
}
