//! What is recorded can be found again.

use crate::place::{Place, run};
use domain::{Clarification, Fault, Kind, Purpose, Run, Status, ThreadId};
use ledger::{LedgerError, RunFilter};
use std::os::unix::fs::PermissionsExt;
use testkit::Postgres;

on_both! {
    a_run_comes_back_as_it_was,
    a_run_is_recorded_once,
    filters_narrow,
    pages_hold_every_run_once_while_new_ones_come_in,
    a_thread_has_one_turn_a_request_of_its_own_actor,
    pruning_forgets_text_and_keeps_the_chain,
    odd_texts_are_kept,
    the_chain_is_guarded_against_mistakes,
}

fn json(run: &Run) -> String {
    serde_json::to_string(run).unwrap()
}

async fn questions(ledger: &ledger::Ledger, filter: RunFilter) -> Vec<String> {
    ledger.runs(&filter).await.unwrap().runs.into_iter().filter_map(|run| run.question).collect()
}

async fn a_run_comes_back_as_it_was(place: Place) {
    let ledger = place.open();
    let full = run("ann", "how many orders?");
    let bare = Run {
        plan_json: None,
        result_json: None,
        status: Status::Refused,
        error_json: Some(Fault::new(Kind::SqlPolicy, "sql.not_a_query", "`DROP` is no query").at(1, 1)),
        clarification: Some(Clarification { question: "which?".into(), choices: vec!["a".into()] }),
        thread_id: Some(ThreadId::new()),
        exec_time_ms: None,
        cost_usd: Some(f64::NAN),
        end_user: None,
        ..run("bob", "drop it")
    };
    for run in [&full, &bare] {
        ledger.record(run).await.unwrap();
        assert_eq!(json(&ledger.run(run.run_id).await.unwrap().unwrap()), json(run).replace("-0.0", "0.0"));
    }
    assert!(ledger.run(domain::RunId::new()).await.unwrap().is_none());
    assert!(ledger.verify().await.unwrap().is_whole());
}

async fn a_run_is_recorded_once(place: Place) {
    let ledger = place.open();
    let run = run("ann", "once");
    ledger.record(&run).await.unwrap();
    let error = ledger.record(&run).await.unwrap_err();
    assert!(matches!(error, LedgerError::AlreadyRecorded(id) if id == run.run_id));
    assert_eq!(ledger.verify().await.unwrap().entries, 1);
}

async fn filters_narrow(place: Place) {
    let ledger = place.open();
    let thread = ThreadId::new();
    let day = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    let runs = [
        Run { created_at: day("2026-01-01T00:00:00Z"), ..run("ann", "first ÄPFEL") },
        Run { created_at: day("2026-01-02T00:00:00Z"), dataset_id: "hr".into(), ..run("ann", "second 100%") },
        Run { created_at: day("2026-01-02T00:00:00.5Z"), status: Status::Failed, ..run("bob", "third") },
        Run { created_at: day("2026-01-03T00:00:00Z"), thread_id: Some(thread), ..run("bob", "fourth") },
        Run { created_at: day("2026-01-04T00:00:00Z"), purpose: Purpose::Index, ..run("bob", "fifth") },
    ];
    for run in &runs {
        ledger.record(run).await.unwrap();
    }
    let session = Some(runs[0].session_id);
    let all = RunFilter::default;
    let cases = [
        (all(), "fourth third second 100% first ÄPFEL"),
        (RunFilter { purposes: &[], ..all() }, "fifth fourth third second 100% first ÄPFEL"),
        (RunFilter { actor: Some("ann".into()), ..all() }, "second 100% first ÄPFEL"),
        (RunFilter { dataset: Some("hr".into()), ..all() }, "second 100%"),
        (RunFilter { status: Some(Status::Failed), ..all() }, "third"),
        (RunFilter { thread: Some(thread), ..all() }, "fourth"),
        (RunFilter { session, ..all() }, "first ÄPFEL"),
        (RunFilter { text: Some("äpf".into()), ..all() }, "first ÄPFEL"),
        (RunFilter { text: Some("%".into()), ..all() }, "second 100%"),
        (RunFilter { since: Some(day("2026-01-02T00:00:00.1Z")), ..all() }, "fourth third"),
        (RunFilter { until: Some(day("2026-01-02T00:00:00.5Z")), ..all() }, "second 100% first ÄPFEL"),
        (RunFilter { actor: Some("ann' OR 1=1 --".into()), ..all() }, ""),
    ];
    for (filter, expected) in cases {
        assert_eq!(questions(&ledger, filter.clone()).await.join(" "), expected, "{filter:?}");
    }
}

async fn pages_hold_every_run_once_while_new_ones_come_in(place: Place) {
    let ledger = place.open();
    let same_moment = jiff::Timestamp::now();
    for i in 0..10 {
        ledger.record(&Run { created_at: same_moment, ..run("ann", &format!("q{i}")) }).await.unwrap();
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.runs(&RunFilter { limit: 3, after, ..RunFilter::default() }).await.unwrap();
        assert!(page.runs.iter().all(|run| run.result_json.is_none() && run.plan_json.is_some()));
        seen.extend(page.runs.into_iter().map(|run| run.run_id));
        ledger.record(&run("ann", "newer")).await.unwrap();
        let Some(next) = page.next else { break };
        after = Some(next.to_string().parse().unwrap());
    }
    assert_eq!(seen.len(), 10);
    assert!(seen.is_sorted_by(|a, b| a > b));
}

#[test]
fn a_cursor_of_ones_own_is_refused() {
    for text in ["", "xyz", "00", &hex::encode("2026/no-id"), &"f".repeat(10_000)] {
        let fault: Fault = text.parse::<ledger::Cursor>().unwrap_err().into();
        assert_eq!((fault.kind, fault.code.as_str()), (Kind::Invalid, "runs.cursor_invalid"));
    }
}

async fn a_thread_has_one_turn_a_request_of_its_own_actor(place: Place) {
    let ledger = place.open();
    let thread = ThreadId::new();
    let of_thread = |actor: &str, question: &str| Run { thread_id: Some(thread), ..run(actor, question) };
    let first = of_thread("ann", "orders by month");
    let tried = Run { plan_json: None, ..of_thread("ann", "and by region?") };
    let answered =
        Run { run_id: domain::RunId::new(), session_id: tried.session_id, ..of_thread("ann", "and by region?") };
    let index = Run { purpose: Purpose::Index, ..of_thread("ann", "index") };
    for run in [&first, &tried, &answered, &index, &of_thread("bob", "peeking"), &run("ann", "elsewhere")] {
        ledger.record(run).await.unwrap();
    }
    let turns = ledger.thread(thread, "ann", 10).await.unwrap();
    let told: Vec<_> = turns.iter().map(|turn| (turn.question.as_str(), turn.plan.is_some())).collect();
    assert_eq!(told, [("orders by month", true), ("and by region?", true)]);
    let last = ledger.thread(thread, "ann", 1).await.unwrap();
    assert_eq!(last.first().unwrap().question, "and by region?");
}

async fn pruning_forgets_text_and_keeps_the_chain(place: Place) {
    let ledger = place.open();
    let old = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * 31);
    let mut recorded = tokio::task::JoinSet::new();
    for i in 0..450 {
        let ledger = ledger.clone();
        let run = Run { created_at: old, ..run("ann", &format!("SECRETWORD {i}")) };
        recorded.spawn(async move { ledger.record(&run).await.unwrap() });
    }
    recorded.join_all().await;
    let kept = run("ann", "recent");
    ledger.record(&kept).await.unwrap();
    assert_eq!(ledger.prune(30).await.unwrap(), 450);
    assert_eq!(ledger.prune(30).await.unwrap(), 0);
    assert_eq!(questions(&ledger, RunFilter::default()).await, ["recent"]);
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.pruned, report.capsules), (None, 450, 1));
    if place.is_sqlite() {
        place.tamper("PRAGMA wal_checkpoint(TRUNCATE);");
    }
    assert!(!place.dump().windows(10).any(|part| part == b"SECRETWORD"), "pruned text is overwritten");
}

/// What a store cannot keep has a stand-in in both, and the chain fits it.
async fn odd_texts_are_kept(place: Place) {
    let ledger = place.open();
    let odd = Run { dataset_id: "x".repeat(100_000), ..run("ann\0", "a\0b \u{feff}\u{202e} 'quoted' \\ $1") };
    ledger.record(&odd).await.unwrap();
    let kept = ledger.run(odd.run_id).await.unwrap().unwrap();
    assert_eq!(kept.question.as_deref(), Some("a␀b \u{feff}\u{202e} 'quoted' \\ $1"));
    let long = RunFilter { dataset: Some(odd.dataset_id), ..RunFilter::default() };
    assert_eq!(questions(&ledger, long).await.len(), 1);
    assert!(ledger.verify().await.unwrap().is_whole());
}

async fn the_chain_is_guarded_against_mistakes(place: Place) {
    let ledger = place.open();
    ledger.record(&run("ann", "q")).await.unwrap();
    ledger.sign_head().await.unwrap();
    for sql in
        ["UPDATE audit SET hash = ''", "DELETE FROM audit", "UPDATE audit_heads SET seq = 9", "DELETE FROM audit_heads"]
    {
        let refused = match &place.database {
            None => place.outside().execute(sql, []).unwrap_err().to_string(),
            Some(name) => {
                let tried =
                    format!("DO $$ BEGIN {sql}; EXCEPTION WHEN raise_exception THEN RAISE NOTICE 'no'; END $$;");
                Postgres::shared().sql(name, &tried);
                let count = "SELECT (SELECT count(*) FROM audit WHERE hash <> '') + (SELECT count(*) FROM audit_heads WHERE seq = 1)";
                assert_eq!(Postgres::shared().sql(name, count), "2", "{sql}");
                "append-only".to_owned()
            }
        };
        assert!(refused.contains("append-only"), "{sql}");
    }
}

#[tokio::test]
async fn the_file_is_private() {
    let place = Place::sqlite();
    let ledger = place.open();
    ledger.record(&run("ann", "q")).await.unwrap();
    ledger.sign_head().await.unwrap();
    ledger.writable().await.unwrap();
    for name in ["ledger.sqlite", "ledger.sqlite-wal", "audit-heads.jsonl", "keys/audit.ed25519"] {
        let mode = std::fs::metadata(place.dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let keys = std::fs::metadata(place.dir.path().join("keys")).unwrap().permissions().mode();
    assert_eq!(keys & 0o777, 0o700);
}
