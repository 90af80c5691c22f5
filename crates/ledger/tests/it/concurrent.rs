//! Many tasks, several handles, processes that are killed: nothing acknowledged is lost.

use crate::place::{self, DATABASE, Place, run};
use domain::{Actor, RunId};
use ledger::{Ledger, NewToken};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::Postgres;

on_both! {
    eight_tasks_make_one_chain,
    handles_on_one_ledger_take_turns,
    a_caller_that_goes_away_does_not_take_its_record_along,
    what_was_acknowledged_survives_kill_9,
}

async fn record_many(ledger: Ledger, count: usize) {
    for i in 0..count {
        ledger.record(&run("ann", &format!("question {i}"))).await.unwrap();
    }
}

async fn eight_tasks_make_one_chain(place: Place) {
    let ledger = place.open();
    let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(record_many(ledger.clone(), 200))).collect();
    for task in tasks {
        task.await.unwrap();
    }
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.entries, report.capsules), (None, 1600, 1600));
}

async fn handles_on_one_ledger_take_turns(place: Place) {
    let tasks: Vec<_> = (0..3).map(|_| tokio::spawn(record_many(place.open(), 100))).collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(place.open().verify().await.unwrap().capsules, 300);
}

async fn a_caller_that_goes_away_does_not_take_its_record_along(place: Place) {
    let ledger = place.open();
    let run = run("ann", "never mind");
    let mut record = Box::pin(ledger.record(&run));
    // Polled once, which puts the work into the queue, then dropped.
    assert!(futures_poll(record.as_mut()).is_pending());
    drop(record);
    ledger.writable().await.unwrap();
    assert!(ledger.run(run.run_id).await.unwrap().is_some());
}

fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}

const ROUNDS: usize = 5;
const PLACE: &str = "LEDGER_TEST_PLACE";

/// While a process records and is killed, another creates tokens: as server and command line do.
async fn what_was_acknowledged_survives_kill_9(place: Place) {
    let mut acknowledged: Vec<RunId> = Vec::new();
    let cli = place.open();
    for _ in 0..ROUNDS {
        let token = NewToken { actor: Actor::token("ann"), role: "agent".into(), claims: [].into(), expires_at: None };
        let mut child = spawn_recorder(&place);
        let (lines, token) = tokio::join!(
            tokio::task::spawn_blocking(move || {
                let lines = kill_after(&mut child, random_below(120) + 1);
                child.wait().unwrap();
                lines
            }),
            cli.create_token(token)
        );
        token.unwrap();
        acknowledged.extend(lines.unwrap().iter().map(|line| line.parse::<RunId>().unwrap()));
        let report = place.open().verify().await.unwrap();
        assert!(report.is_whole(), "{report:?}");
    }
    assert!(acknowledged.len() >= ROUNDS);
    for id in &acknowledged {
        assert!(cli.run(*id).await.unwrap().is_some(), "{id} was acknowledged and is lost");
    }
    assert_eq!(cli.tokens().await.unwrap().len(), ROUNDS);
}

/// The acknowledged ids, up to the moment when the process is gone.
fn kill_after(child: &mut Child, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    let out = BufReader::new(child.stdout.take().unwrap());
    // A line that was cut by the kill has no end, and acknowledges nothing.
    let lines = out.split(b'\n').map(|line| String::from_utf8(line.unwrap()).unwrap());
    for line in lines {
        ids.extend(line.strip_prefix("recorded ").filter(|id| id.len() == 36).map(str::to_owned));
        if ids.len() == count {
            child.kill().unwrap();
        }
    }
    ids
}

fn random_below(end: u32) -> usize {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).unwrap();
    (u32::from_le_bytes(bytes) % end) as usize
}

fn spawn_recorder(place: &Place) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "concurrent::recorder", "--ignored", "--nocapture"]).env(PLACE, place.dir.path());
    if let Some(database) = &place.database {
        command.env(DATABASE, Postgres::shared().url(database));
    }
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that the test above starts and kills"]
async fn recorder() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let (dir, database) = (Path::new(&place), std::env::var(DATABASE).ok());
    let ledger = Ledger::open(&place::home(dir, database.as_deref()), &dir.join("keys")).unwrap();
    let count = std::sync::Arc::new(AtomicU32::new(0));
    let task = |ledger: Ledger| {
        let count = count.clone();
        async move {
            loop {
                let run = run("ann", "until the end");
                ledger.record(&run).await.unwrap();
                println!("\nrecorded {}", run.run_id);
                if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(7) {
                    ledger.sign_head().await.unwrap();
                }
            }
        }
    };
    tokio::join!(task(ledger.clone()), task(ledger.clone()), task(ledger.clone()), task(ledger));
}
