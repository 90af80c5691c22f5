//! `kill -9` at random moments, of the server and of its workers, while eight callers ask: whatever
//! one of them was told is on record afterwards, and nothing is left behind.

use crate::callers::{CALLERS, Callers, Progress, lay_out, yard};
use crate::support::verify;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testkit::{Server, directories_of, end, tally, workers_of};

const ROUNDS: usize = 50;
/// The longest that a round waits for its kill, in acknowledged answers.
const LATEST: u64 = 40;
/// Rounds after which the whole chain is walked. A flaw does not heal: this only says sooner when it came.
const WALK: usize = 20;
/// What is told whose worker is killed: while it works, while it starts.
const WORKER_KILLED: [&str; 4] = ["engine.worker_lost", "SANDBOX_UNAVAILABLE", "sandbox.busy", "source.unreadable"];

#[test]
fn what_was_told_is_on_record_whatever_was_killed() {
    let mut random = Random::new();
    let data = tempfile::tempdir().unwrap();
    lay_out(data.path());
    let mut server = yard().data(data.path()).start();
    let callers = Callers::of(&server);
    let (mut lost, mut checked) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        let moment = random.below(LATEST) as usize;
        if round % 2 == 0 {
            kill_workers(&callers, &server, moment, random.next());
        } else {
            server = kill_server(&callers, server, moment, random.next());
            if round % WALK == WALK - 1 {
                assert_whole(&server);
            }
            lost.extend(not_on_record(&callers, &server, &mut checked));
        }
    }
    assert!(server.terminate().success());
    assert_whole(&server);
    lost.extend(not_in_the_chain(&callers, data.path()));
    let told = callers.told.lock().unwrap();
    println!("{} runs, {} refusals without one; {:#?}", told.runs.len(), told.refusals.len(), told.kinds);
    let failures = told.kinds.keys().filter_map(|kind| kind.strip_prefix("failed "));
    let unclear: Vec<_> = failures.filter(|code| !WORKER_KILLED.contains(code)).collect();
    assert!(unclear.is_empty(), "told for a worker that was killed: {unclear:?}");
    tally("ledger", "rounds of kill -9, 8 callers", ROUNDS, "records lost", lost.len());
    tally(
        "ledger",
        "answers given around those kills",
        told.runs.len() + told.refusals.len(),
        "records lost",
        lost.len(),
    );
    assert!(lost.is_empty(), "{lost:?}");
}

/// Those who were waiting for a worker are told so, and all are served again.
fn kill_workers(callers: &Callers, server: &Server, moment: usize, seed: u64) {
    callers.ask(&server.url, seed, || {
        callers.wait("before the kill", |now| acknowledged(now) >= moment);
        let before = callers.progress();
        end(&workers_of(server.pid()));
        let served = |now: &[_; CALLERS]| served_since(&before, now);
        callers.wait("after the workers were killed", served);
    });
}

fn acknowledged(progress: &[Progress; CALLERS]) -> usize {
    progress.iter().map(|p| p.acknowledged).sum()
}

fn served_since(before: &[Progress; CALLERS], now: &[Progress; CALLERS]) -> bool {
    before.iter().zip(now).all(|(before, now)| now.succeeded > before.succeeded)
}

/// Its workers go with it, and what it leaves for them is gone once another server has started.
fn kill_server(callers: &Callers, mut server: Server, moment: usize, seed: u64) -> Server {
    let (url, pid) = (server.url.clone(), server.pid());
    callers.ask(&url, seed, || {
        callers.wait("before the kill", |now| acknowledged(now) >= moment);
        server.kill();
    });
    let until = Instant::now() + Duration::from_secs(60);
    while workers_of(pid).into_iter().any(is_at_work) {
        assert!(Instant::now() < until, "workers outlive their server: {:?}", workers_of(pid));
        std::thread::yield_now();
    }
    let next = yard().data(server.data()).start();
    assert_eq!((workers_of(pid), directories_of(pid)), (Vec::new(), Vec::<PathBuf>::new()), "left behind");
    next
}

/// Whether there may be more in it than bubblewrap, which was still making the jail.
fn is_at_work(worker: u32) -> bool {
    let line = std::fs::read(format!("/proc/{worker}/cmdline")).unwrap_or_default();
    !line.split(|byte| *byte == 0).next().is_some_and(|program| program.ends_with(b"/bwrap"))
}

pub fn assert_whole(server: &Server) {
    let report = verify(server);
    assert!(report["flaw"].is_null(), "{report}");
}

/// Runs that were told since this was last asked, and are not there as they were told. Of those that
/// were begun there is all or nothing.
pub fn not_on_record(callers: &Callers, server: &Server, checked: &mut usize) -> Vec<String> {
    let mut told = callers.told.lock().unwrap();
    let clients: Vec<_> = (0..CALLERS).map(|caller| callers.client(server, caller)).collect();
    for (caller, run_id) in std::mem::take(&mut told.begun) {
        let reply = clients[caller].get(&format!("/runs/{run_id}"));
        assert!(reply.status == 404 || reply.json()["status"].is_string(), "{run_id}: {}", reply.text());
    }
    let new = &told.runs[*checked..];
    *checked = told.runs.len();
    let kept = |caller: &usize, run_id: &str| clients[*caller].get(&format!("/runs/{run_id}")).json();
    new.iter().filter(|(caller, run_id, body)| kept(caller, run_id) != *body).map(|(_, id, _)| id.clone()).collect()
}

/// What was told, and has not exactly one entry in the audit chain.
pub fn not_in_the_chain(callers: &Callers, data: &Path) -> Vec<String> {
    let ledger = rusqlite::Connection::open(data.join("ledger.sqlite")).unwrap();
    let mut statement = ledger.prepare("SELECT run_id, request_id FROM audit").unwrap();
    let mut rows = statement.query([]).unwrap();
    let (mut runs, mut requests) = (BTreeMap::<String, usize>::new(), BTreeSet::<String>::new());
    while let Some(row) = rows.next().unwrap() {
        if let Some(run_id) = row.get(0).unwrap() {
            *runs.entry(run_id).or_default() += 1;
        }
        requests.extend(row.get::<_, Option<String>>(1).unwrap());
    }
    let told = callers.told.lock().unwrap();
    let lost_runs = told.runs.iter().map(|(_, id, _)| id).filter(|id| runs.get(*id) != Some(&1));
    let lost_refusals = told.refusals.iter().filter(|id| !requests.contains(*id));
    lost_runs.chain(lost_refusals).cloned().collect()
}

/// Random, but the same again from the number that it prints.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let given = std::env::var("GATEHOUSE_TEST_SEED").ok().map(|seed| seed.parse().expect("a number"));
        let seed =
            given.unwrap_or_else(|| u64::from(std::process::id()) ^ jiff::Timestamp::now().as_microsecond() as u64);
        println!("GATEHOUSE_TEST_SEED={seed}");
        Self(seed)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
