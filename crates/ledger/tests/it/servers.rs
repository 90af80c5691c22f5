//! Servers that share a ledger: they see each other's work, and settle it only when the other is dead.

use crate::place::{Place, run};
use domain::{Caller, RunId};
use ledger::{Address, Home, Ledger, Pace, ScanQuota};
use std::time::Duration;
use testkit::Postgres;

on_both! {
    a_server_that_lives_is_not_settled,
    what_is_on_its_way_is_known_elsewhere,
    a_server_that_leaves_leaves_nothing,
    quotas_are_shared,
}

const QUOTA: ScanQuota = ScanQuota { concurrent: 5, daily_bytes: 1_000 };

fn ann() -> Caller {
    Caller::new("ann", "analyst")
}

async fn held(place: &Place) -> String {
    place.one("SELECT count(*) FROM scans_under_way")
}

/// Beats until another server is found dead.
async fn until_one_is_dead(ledger: &Ledger) {
    while ledger.beat(&[]).await.unwrap() == 0 {}
}

async fn a_server_that_lives_is_not_settled(place: Place) {
    let (one, other) = (place.open(), place.open());
    one.join("one").await.unwrap();
    other.join("other").await.unwrap();
    one.begin_scan(RunId::new(), &ann(), 100, QUOTA).await.unwrap().unwrap();
    for _ in 0..10 {
        // It gives no sign of life, but it is there.
        assert_eq!(other.beat(&[]).await.unwrap(), 0);
    }
    assert_eq!(held(&place).await, "1");
    drop(one);
    until_one_is_dead(&other).await;
    assert_eq!(held(&place).await, "0");
    let state = serde_json::to_string(&other.audit_state(5).await.unwrap()).unwrap();
    assert!(state.contains("scan.interrupted") && state.contains("server.lost"), "{state}");
    assert!(other.verify().await.unwrap().is_whole());
}

async fn what_is_on_its_way_is_known_elsewhere(place: Place) {
    let (one, other) = (place.open(), place.open());
    one.join("one").await.unwrap();
    let id = RunId::new();
    one.beat(&[(id, "ann".into())]).await.unwrap();
    let elsewhere = other.running_elsewhere(id).await.unwrap().unwrap();
    assert_eq!((elsewhere.server.as_str(), elsewhere.actor.as_str()), ("one", "ann"));
    assert_eq!(other.running_elsewhere(RunId::new()).await.unwrap(), None);
    one.beat(&[]).await.unwrap();
    assert_eq!(other.running_elsewhere(id).await.unwrap(), None);
}

async fn a_server_that_leaves_leaves_nothing(place: Place) {
    let (one, other) = (place.open(), place.open());
    one.begin_scan(RunId::new(), &ann(), 100, QUOTA).await.unwrap().unwrap();
    one.leave().await.unwrap();
    assert_eq!(held(&place).await, "0");
    other.join("other").await.unwrap();
    assert_eq!(other.beat(&[]).await.unwrap(), 0);
    assert_eq!(place.one("SELECT count(*) FROM servers"), "1");
}

async fn quotas_are_shared(place: Place) {
    let servers = [place.open(), place.open(), place.open()];
    let begin = |i: usize| {
        let server = servers[i % servers.len()].clone();
        tokio::spawn(async move { server.begin_scan(RunId::new(), &ann(), 300, QUOTA).await.unwrap() })
    };
    let tries: Vec<_> = (0..12).map(begin).collect();
    let mut granted = Vec::new();
    for attempt in tries {
        granted.extend(attempt.await.unwrap().ok());
    }
    granted.sort_unstable();
    assert_eq!(granted, [100, 300, 300, 300], "no more than there is, whoever asks where");
}

/// Only while its lease lasts: then the lock that it let go of tells the rest.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_for_a_moment_is_not_dead() {
    let place = Place::postgres();
    let Some(database) = &place.database else { return };
    let mut address = Address::parse(&Postgres::shared().url(database), None).unwrap();
    address.lease = Duration::from_secs(3600);
    let patient = Ledger::open(&Home::Postgres { address, heads: place.dir.path().into() }, &place.keys()).unwrap();
    let one = place.open();
    one.begin_scan(RunId::new(), &ann(), 100, QUOTA).await.unwrap().unwrap();
    let end_all = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() \
                   AND pid <> pg_backend_pid()";
    for _ in 0..5 {
        Postgres::shared().sql(database, end_all);
        assert_eq!(patient.beat(&[]).await.unwrap(), 0);
    }
    assert_eq!(held(&place).await, "1");
    // Its connection is made again with the next write, and its life goes on.
    one.record(&run("ann", "still here")).await.unwrap();
    let impatient = place.open();
    for _ in 0..5 {
        impatient.beat(&[]).await.unwrap();
    }
    assert_eq!(held(&place).await, "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn rates_are_shared() {
    let place = Place::postgres();
    let servers = [place.open(), place.open()];
    let pace = Pace { burst: 10, interval: Duration::from_secs(60) };
    let mut admitted = 0;
    for i in 0..30 {
        admitted += usize::from(servers[i % 2].admit("ann", pace).await.unwrap().is_ok());
    }
    assert_eq!(admitted, 10);
    let wait = servers[0].admit("ann", pace).await.unwrap().unwrap_err();
    assert!(wait > Duration::from_secs(50) && wait <= Duration::from_secs(60), "{wait:?}");
    assert_eq!(servers[1].admit("bob", pace).await.unwrap(), Ok(()));
    let quick = Pace { burst: 1, interval: Duration::from_micros(1) };
    for _ in 0..3 {
        assert_eq!(servers[0].admit("eve", quick).await.unwrap(), Ok(()), "what has passed counts no more");
    }
}
