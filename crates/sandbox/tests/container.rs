//! Workers in containers: of a real engine where one answers, and of a stand-in for what the supervisor does.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use common::engine::{Engine, StandIn};
use common::{Workplace, machine, program, root, supervise_in, table};
use domain::Fault;
use sandbox::{Container, Death, Host, Jail, Jailed, Sandbox, Tier};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// This machine with an image named, which says that nothing else will do.
fn machine_of(client: PathBuf) -> Host {
    let mut host = machine();
    host.container = Some(Container { client, image: "gatehouse-runner:test".to_owned() });
    host
}

fn order(worker: &mut Jailed, place: &Workplace, case: &str) {
    let inside = worker.inside(&place.open()).unwrap();
    let line = format!("{case}\t{}\t{}\n", inside.display(), place.closed().display());
    worker.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
}

/// Of the cases that end their worker or use up what it has, one of each kind: a container takes its time.
const ALONE: [&str; 10] = [
    "i386_call",
    "thread_bomb",
    "open_files",
    "outgrow_group_memory",
    "fill_tmp",
    "fill_tmp_with_one_file",
    "spin",
    "sleep_forever",
    "write_300_mb",
    "abort",
];

/// Engines put /dev/null, which may be read, in its place.
const MASKED: &str = "proc_keys";

/// The others share one container.
#[test]
fn a_real_engine_holds_every_case() {
    let Some(engine) = Engine::running() else {
        eprintln!("skipped: no container engine runs on this machine");
        return;
    };
    let place = Workplace::public();
    let lines: Vec<_> = table::lines().into_iter().filter(|l| l.tier.is_none() && l.case != MASKED).collect();
    let (alone, together): (Vec<_>, Vec<_>) = lines.iter().partition(|l| {
        l.expectation.starts_with("died") || l.expectation.starts_with("at most") || l.case.contains("tmp")
    });
    let alone: Vec<_> = alone.into_iter().filter(|l| ALONE.contains(&l.case)).collect();
    let batch = together.iter().map(|l| l.case).collect::<Vec<_>>().join(",");
    let orders: Vec<&str> = std::iter::once(batch.as_str()).chain(alone.iter().map(|l| l.case)).collect();
    let (report, results) = supervise_in(&engine, &place, &orders);
    assert_eq!(report["tier"], "container", "{report}");

    let shared = results[0]["said"].as_array().unwrap().iter().map(|said| (said, &results[0]["death"]));
    let own = results[1..].iter().map(|r| (&r["said"][0], &r["death"]));
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (line, (said, death)) in together.iter().chain(&alone).zip(shared.chain(own)) {
        if line.applies(&report) {
            tried += 1;
            if !line.holds(said.as_str().unwrap(), death) {
                wrong.push(format!("{}: wanted {}, got {said}, {death}", line.case, line.expectation));
            }
        }
    }
    assert_eq!(results[0]["said"].as_array().unwrap().len(), together.len(), "{results:?}");
    testkit::tally("jail", "abuse cases, container", tried, "escapes", wrong.len());
    eprintln!("{}: {tried} cases; {report}", engine.client.display());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(engine.workers(), "", "nothing is left");
}

#[test]
fn a_worker_is_started_spoken_to_and_killed_by_name() {
    if !root() {
        return; // The stand-in mounts.
    }
    let place = Workplace::public();
    let docker = StandIn::new(&place);
    let orphan = format!("gatehouse-worker-{}-0-1", i32::MAX);
    let alive = format!("gatehouse-worker-{}-0-1", std::process::id());
    docker.write("left", &format!("{orphan}\n{alive}\nsomebody-elses\n"));

    let sandbox = Sandbox::probe(machine_of(docker.client()), program(&place)).unwrap();
    assert_eq!(sandbox.report().tier, Tier::Container);
    assert_eq!(sandbox.report().user, "65534:65534");
    let asked = docker.asked();
    assert!(asked[0].starts_with("ps --all --filter label=gatehouse.worker="), "{asked:?}");
    assert_eq!(asked[1], format!("rm --force {orphan}"), "what a dead server left, and nothing else");
    assert!(asked[2].starts_with("run ") && asked.len() == 3, "{asked:?}");

    let jail = Jail { read: vec![place.open()], ..Jail::default() };
    let mut worker = sandbox.spawn(&jail, &[]).unwrap();
    assert_eq!(worker.inside(&place.open().join("hello.txt")).unwrap(), Path::new("/data/0/open/hello.txt"));
    order(&mut worker, &place, "data_is_read");
    let mut said = String::new();
    worker.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((said.as_str(), worker.wait()), ("allowed: hello", Death::Exited(0)));

    let mut worker = sandbox.spawn(&jail, &[]).unwrap();
    order(&mut worker, &place, "sleep_forever");
    assert_eq!((worker.try_wait(), worker.kill()), (None, Death::Signal(9)));
    let asked = docker.asked();
    let [.., run, kill] = asked.as_slice() else { panic!("{asked:?}") };
    let name = kill.strip_prefix("kill ").unwrap();
    assert!(run.contains(&format!("--name {name} ")), "{run}");
}

#[test]
fn an_engine_that_takes_flags_and_ignores_them_is_found_out() {
    if !root() {
        return;
    }
    let place = Workplace::public();
    for (flag, said) in [
        ("--network", "there is a network"),
        ("--read-only", "`/` is not mounted"),
        ("--tmpfs", "`/tmp` is not mounted"),
    ] {
        let docker = StandIn::new(&place);
        docker.write("ignored", flag);
        let refused = Sandbox::probe(machine_of(docker.client()), program(&place)).unwrap_err();
        assert!(refused.to_string().contains(said), "{flag}: {refused}");
    }
}

/// Clients that are none, or whose engine is none, and what is told.
#[test]
fn without_an_engine_nothing_starts_and_nothing_else_is_taken() {
    let place = Workplace::public();
    let script = |text: &str| {
        let path = place.open().join(format!("docker-{}", text.len()));
        common::script(&path, text);
        path
    };
    let uncontained = format!(
        "case $1 in run) while [ $1 != gatehouse-runner:test ]; do shift; done; shift; exec {} \"$@\";; esac",
        place.program().display()
    );
    let cases = [
        ("/nonexistent/docker".into(), "docker engine: no `/nonexistent/docker`"),
        (
            script("echo 'Cannot connect to the Docker daemon' >&2; exit 1"),
            "docker engine: Cannot connect to the Docker daemon",
        ),
        (script("[ $1 = ps ] || { echo 'No such image: x' >&2; exit 125; }"), "(exit code 125): No such image: x"),
        (script("exit 0"), "the worker ended before it was locked down (exit code 0)"),
        (script(&uncontained), "the sandbox could not be set up"),
    ];
    for (client, told) in cases {
        let refused = Sandbox::probe(machine_of(client), program(&place)).unwrap_err();
        assert!(refused.to_string().contains(told), "{refused}");
        assert_eq!(Fault::from(refused).code, "SANDBOX_UNAVAILABLE");
    }
}
