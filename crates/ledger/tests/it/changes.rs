//! Changes whose end nobody saw: one server looks for each, and a note stays until it is on record what became of it.

use crate::place::{Place, run};
use domain::{Caller, Fault, Kind, QueryMode, Run, Status};
use ledger::{AuditEvent, Ledger};

on_both! {
    one_server_looks_for_a_change,
    a_note_that_cannot_be_read_keeps_nobody_from_the_others,
    what_is_not_known_stays_until_it_is_settled,
}

fn ann() -> Caller {
    Caller::new("ann", "analyst")
}

fn change() -> Run {
    Run { query_mode: Some(QueryMode::Change), result_json: None, ..run("ann", "change it") }
}

fn reconciled() -> AuditEvent {
    AuditEvent::new("change.reconciled").about("ann", "analyst").detail(serde_json::json!({ "found": "made" }))
}

async fn taken(ledger: &Ledger) -> usize {
    ledger.changes_left(|_| true).await.unwrap().len()
}

/// Of servers that look at once, one is given it; and nobody is given what a living one is at.
async fn one_server_looks_for_a_change(place: Place) {
    let (dead, one, other) = (place.open(), place.open(), place.open());
    for (ledger, name) in [(&dead, "dead"), (&one, "one"), (&other, "other")] {
        ledger.join(name).await.unwrap();
    }
    let change = change();
    dead.begin_change(&change, &ann()).await.unwrap();
    assert_eq!((taken(&one).await, taken(&other).await), (0, 0), "it is being made");
    dead.leave().await.unwrap();
    assert!(
        one.changes_left(|run| run.actor == "ben").await.unwrap().is_empty(),
        "nobody is given what they do not want"
    );
    let (at_one, at_other) = tokio::join!(taken(&one), taken(&other));
    assert_eq!(at_one + at_other, 1);
    assert_eq!((taken(&one).await, taken(&other).await), (0, 0), "it is being looked for");

    one.release_change(change.run_id).await.unwrap();
    assert_eq!((taken(&other).await, taken(&one).await), (1, 0), "whoever comes next");
    assert!(other.settle_change(&change, reconciled()).await.unwrap(), "it was not on record");
    assert_eq!(place.one("SELECT count(*) FROM changes_under_way"), "0");
    assert!(one.run(change.run_id).await.unwrap().is_some() && one.verify().await.unwrap().is_whole());
}

async fn a_note_that_cannot_be_read_keeps_nobody_from_the_others(place: Place) {
    let (dead, one) = (place.open(), place.open());
    dead.join("dead").await.unwrap();
    one.join("one").await.unwrap();
    let (broken, whole) = (change(), change());
    dead.begin_change(&broken, &ann()).await.unwrap();
    dead.begin_change(&whole, &ann()).await.unwrap();
    place.tamper(&format!("UPDATE changes_under_way SET begun = '[' WHERE run_id = '{}'", broken.run_id));
    dead.leave().await.unwrap();
    let left = one.changes_left(|_| true).await.unwrap();
    assert_eq!(left.iter().map(|begun| begun.run.run_id).collect::<Vec<_>>(), [whole.run_id]);
}

/// A run may be on record before it is known what became of its change.
async fn what_is_not_known_stays_until_it_is_settled(place: Place) {
    let ledger = place.open();
    ledger.join("one").await.unwrap();
    let mut change = change();
    ledger.begin_change(&change, &ann()).await.unwrap();
    change.status = Status::Failed;
    change.error_json = Some(Fault::new(Kind::Unavailable, Fault::UNKNOWN_OUTCOME, "nobody knows"));
    ledger.record(&change).await.unwrap();
    assert_eq!(taken(&ledger).await, 1);
    assert!(!ledger.settle_change(&change, reconciled()).await.unwrap(), "its run was on record");
    assert_eq!((taken(&ledger).await, place.one("SELECT count(*) FROM changes_under_way").as_str()), (0, "0"));
    assert!(ledger.verify().await.unwrap().is_whole());
}
