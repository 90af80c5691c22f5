//! How workers live and end.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use common::{Workplace, machine_with, program};
use rustix::process::{Pid, getsid};
use sandbox::{Death, Jail, Jailed, Sandbox, Tier};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const TIERS: [Tier; 2] = [Tier::T1, Tier::T2];
const NOTHING: [PathBuf; 0] = [];

fn start(place: &Workplace, tier: Tier) -> Jailed {
    let host = machine_with(common::bwrap(&tier.to_string()));
    let sandbox = Sandbox::probe(host, program(place)).unwrap();
    sandbox.spawn(&Jail { read: vec![place.open()], ..Jail::default() }, &[]).unwrap()
}

fn order(worker: &mut Jailed, place: &Workplace, case: &str) {
    let inside = worker.inside(&place.open()).unwrap();
    let line = format!("{case}\t{}\t{}\n", inside.display(), place.closed().display());
    worker.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
}

fn answer(worker: &mut Jailed) -> String {
    let mut said = String::new();
    worker.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// The processes of workers in this place: their arguments name it.
fn processes(place: &Workplace) -> Vec<PathBuf> {
    let open = place.open();
    let needle = open.to_str().unwrap().as_bytes();
    let about = |dir: &PathBuf| {
        let line = fs::read(dir.join("cmdline")).unwrap_or_default();
        // Workers are told what they may read; the tests and supervisors are not told so in JSON.
        line.windows(needle.len()).any(|w| w == needle) && line.windows(8).any(|w| w == b"\"reads\":")
    };
    fs::read_dir("/proc").unwrap().flatten().map(|e| e.path()).filter(about).collect()
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        thread::yield_now();
    }
}

/// Groups and scratch directories that this process has made.
fn leftovers() -> Vec<PathBuf> {
    let mine = format!("-{}-", std::process::id());
    let groups = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let groups = groups.lines().filter(|l| l.contains(" - cgroup")).filter_map(|l| l.split(' ').nth(4));
    let mut roots: Vec<PathBuf> = groups.map(PathBuf::from).collect();
    roots.push(std::env::temp_dir());
    let mut found = Vec::new();
    while let Some(dir) = roots.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().unwrap_or_default();
            if name.starts_with("gatehouse-") && name.contains(&mine) {
                found.push(entry.path());
            } else if dir.starts_with("/sys") && entry.path().is_dir() {
                roots.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn a_kill_ends_the_whole_tree_and_leaves_nothing() {
    for tier in TIERS {
        let place = Workplace::public();
        let mut worker = start(&place, tier);
        order(&mut worker, &place, "sleep_forever");
        let alive = processes(&place);
        // Bubblewrap, the first process of its namespace, and the worker.
        assert_eq!(alive.len(), if tier == Tier::T1 { 3 } else { 1 }, "{alive:?}");
        assert_eq!(worker.try_wait(), None);
        let pid = Pid::from_raw(worker.id() as i32).unwrap();
        assert_eq!(getsid(Some(pid)).unwrap(), pid, "a session of its own");

        assert_eq!(worker.kill(), Death::Signal(9));
        assert_eq!(processes(&place), NOTHING);
        assert_eq!(worker.kill(), Death::Signal(9), "a second kill is harmless");
    }
    eventually("nothing is left", || leftovers().is_empty());
}

#[test]
fn no_process_of_a_worker_is_root_or_could_be() {
    for tier in TIERS {
        let place = Workplace::public();
        let _worker = start(&place, tier);
        for process in processes(&place) {
            let status = fs::read_to_string(process.join("status")).unwrap();
            let value = |name: &str| status.lines().find_map(|l| l.strip_prefix(name)).unwrap().trim().to_owned();
            let ids = value("Uid:") + " " + &value("Gid:");
            assert!(ids.split_whitespace().all(|id| id != "0"), "{status}");
            assert_eq!(value("NoNewPrivs:"), "1", "{status}");
            if common::root() {
                assert_eq!(value("Groups:"), "", "{status}");
            }
        }
    }
}

#[test]
fn a_dropped_worker_is_a_dead_one() {
    for tier in TIERS {
        let place = Workplace::public();
        drop(start(&place, tier));
        assert_eq!(processes(&place), NOTHING);
    }
}

#[test]
fn a_worker_outlives_the_thread_that_asked_for_it() {
    for tier in TIERS {
        let place = Workplace::public();
        let mut worker = thread::scope(|s| s.spawn(|| start(&place, tier)).join().unwrap());
        order(&mut worker, &place, "data_is_read");
        assert_eq!(answer(&mut worker), "allowed: hello");
        assert_eq!(worker.wait(), Death::Exited(0));
    }
}

#[test]
fn workers_die_with_a_server_that_is_killed() {
    // A script may ask not to be ended with its parent, and leave its session: it is ended all the same.
    let stubborn = "outlive_the_server,own_session,own_group,sleep_forever\n";
    for (tier, profile, cases) in
        [("T1", None, "sleep_forever\n"), ("T2", None, "sleep_forever\n"), ("T1", Some("script"), stubborn)]
    {
        let place = Workplace::public();
        let mut command = Command::new(place.program());
        command.arg("supervise").arg(common::bwrap(tier)).arg(place.open()).arg(place.closed()).args(profile);
        let mut server = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        server.stdin.as_mut().unwrap().write_all(cases.as_bytes()).unwrap();
        let expected = if tier == "T1" { 3 } else { 1 };
        eventually("the worker starts", || processes(&place).len() == expected);
        server.kill().unwrap();
        server.wait().unwrap();
        eventually("the worker dies", || processes(&place).is_empty());
    }
}

#[test]
fn what_a_worker_writes_to_stderr_is_its_own() {
    let place = Workplace::public();
    let mut worker = start(&place, Tier::T1);
    let mut stderr = worker.stderr.take().unwrap();
    order(&mut worker, &place, "panic");
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert!(said.trim_start().starts_with("thread 'main'"), "{said}");
    assert_eq!(worker.wait(), Death::Exited(101));
}

#[test]
fn many_workers_live_side_by_side() {
    for tier in TIERS {
        let place = Workplace::public();
        let mut workers: Vec<Jailed> = thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| start(&place, tier))).collect();
            starts.into_iter().map(|s| s.join().unwrap()).collect()
        });
        for worker in &mut workers {
            order(worker, &place, "threads_work");
            assert_eq!(answer(worker), "allowed: 8");
        }
    }
}
