//! Quotas of scans: held over restarts, never overdrawn, settled after a crash.

use crate::place::Place;
use domain::{Caller, RunId};
use ledger::{AuditEvent, Ledger, OverQuota, QuotaKind, ScanQuota};

on_both! {
    bytes_are_counted_over_restarts_and_never_overdrawn,
    a_crash_is_on_record_and_costs_what_was_set_aside,
    another_actor_has_a_quota_of_its_own,
    what_is_at_hand_counts_as_much_as_what_is_fetched,
}

const QUOTA: ScanQuota = ScanQuota { concurrent: 2, daily_bytes: 1_000 };

fn ann() -> Caller {
    Caller::new("ann", "analyst")
}

async fn begin(ledger: &Ledger, run: RunId, bytes: u64) -> Result<u64, OverQuota> {
    ledger.begin_scan(run, &ann(), bytes, QUOTA).await.unwrap()
}

async fn end(ledger: &Ledger, id: RunId, bytes: u64) {
    let mut run = crate::place::run("ann", "a scan");
    run.run_id = id;
    ledger.end_scan(&run, bytes, AuditEvent::new("fetch_scan")).await.unwrap();
}

/// Looks after the others until so many are found dead: a database takes a moment to see that a connection is gone.
async fn settle(ledger: &Ledger, dead: usize) {
    let mut found = 0;
    while found < dead {
        found += ledger.beat(&[]).await.unwrap();
    }
    assert_eq!(found, dead);
}

async fn bytes_are_counted_over_restarts_and_never_overdrawn(place: Place) {
    let (first, second, third) = (RunId::new(), RunId::new(), RunId::new());
    let ledger = place.open();
    assert_eq!(begin(&ledger, first, 700).await, Ok(700));
    assert_eq!(begin(&ledger, second, 700).await, Ok(300), "side by side they get no more than there is");
    let over = begin(&ledger, third, 700).await.unwrap_err();
    assert_eq!((over.kind, over.current, over.limit), (QuotaKind::ConcurrentScans, 2, 2));
    end(&ledger, first, 650).await;
    let over = begin(&ledger, third, 700).await.map(|granted| assert_eq!(granted, 50));
    assert_eq!(over, Ok(()), "what was not used is there again");
    end(&ledger, second, 300).await;
    end(&ledger, third, 50).await;
    drop(ledger);
    let over = begin(&place.open(), RunId::new(), 1).await.unwrap_err();
    assert_eq!((over.kind, over.current, over.limit), (QuotaKind::DailyBytes, 1_000, 1_000));
    assert!((1..=24 * 60 * 60).contains(&over.retry_after_seconds), "until midnight: {}", over.retry_after_seconds);
}

async fn a_crash_is_on_record_and_costs_what_was_set_aside(place: Place) {
    let ledger = place.open();
    assert_eq!(begin(&ledger, RunId::new(), 400).await, Ok(400));
    drop(ledger);
    let ledger = place.open();
    settle(&ledger, 1).await;
    assert_eq!(ledger.beat(&[]).await.unwrap(), 0);
    let state = ledger.audit_state(10).await.unwrap();
    assert!(serde_json::to_string(&state).unwrap().contains("scan.interrupted"), "{state:?}");
    assert_eq!(begin(&ledger, RunId::new(), 1_000).await, Ok(600));
    assert!(ledger.verify().await.unwrap().is_whole());
}

async fn another_actor_has_a_quota_of_its_own(place: Place) {
    let ledger = place.open();
    assert_eq!(begin(&ledger, RunId::new(), 1_000).await, Ok(1_000));
    let bob = Caller::new("bob", "analyst");
    assert_eq!(ledger.begin_scan(RunId::new(), &bob, 10, QUOTA).await.unwrap(), Ok(10));
}

async fn what_is_at_hand_counts_as_much_as_what_is_fetched(place: Place) {
    let ledger = place.open();
    let whole = async |bytes, sent| {
        let run = crate::place::run("ann", "a scan");
        let event = AuditEvent::new("fetch_scan");
        (ledger.record_whole_scan(&run, (bytes, sent), QUOTA, event).await.unwrap(), run.run_id)
    };
    let (granted, run) = whole(600, 400).await;
    assert!(granted && ledger.run(run).await.unwrap().is_some());
    let (granted, run) = whole(601, 1).await;
    assert!(!granted && ledger.run(run).await.unwrap().is_none(), "600 of 1,000 are left");
    assert_eq!(begin(&ledger, RunId::new(), 300).await, Ok(300));
    assert!(!whole(301, 1).await.0, "300 of them are set aside");
    assert_eq!(begin(&ledger, RunId::new(), 100).await, Ok(100));
    assert!(!whole(1, 1).await.0, "two scans are under way");
    assert!(ledger.verify().await.unwrap().is_whole());
}
