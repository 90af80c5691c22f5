//! A machine that lacks something, a file that is closed: refused, and told apart.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use common::{Workplace, machine, machine_with, program, root};
use domain::{Fault, Kind};
use sandbox::{Host, Jail, Sandbox, SpawnError, Tier};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A bubblewrap that does something else.
fn impostor(place: &Workplace, script: &str) -> Host {
    let path = place.open().join("bwrap");
    common::script(&path, script);
    machine_with(&path)
}

#[test]
fn without_bubblewrap_and_landlock_nothing_starts() {
    let place = Workplace::public();
    let mut host = machine_with(Path::new("/nonexistent/bwrap"));
    host.landlock_abi = 0;
    let refused = Sandbox::probe(host, program(&place)).unwrap_err();
    insta::assert_snapshot!(refused.missing.join("\n"), @"
    bubblewrap (no `/nonexistent/bwrap`)
    Landlock (a kernel of 5.13 or later with `landlock` among its `lsm=`)
    Landlock ABI 6 for a sandbox without namespaces (this kernel has 0)
    ");
    let fault = Fault::from(refused);
    assert_eq!((fault.kind, fault.code.as_str()), (Kind::SandboxUnavailable, "SANDBOX_UNAVAILABLE"));
    assert!(fault.message.contains("bubblewrap"), "{fault}");
}

#[test]
fn without_namespaces_an_older_landlock_is_not_enough() {
    let place = Workplace::public();
    let mut host = machine_with(Path::new("/nonexistent/bwrap"));
    host.landlock_abi = 5;
    let refused = Sandbox::probe(host, program(&place)).unwrap_err();
    assert!(refused.to_string().contains("this kernel has 5"), "{refused}");
}

#[test]
fn with_namespaces_an_older_landlock_is_enough() {
    let place = Workplace::public();
    for abi in 1..=machine().landlock_abi {
        let mut host = machine();
        host.landlock_abi = abi;
        let sandbox = Sandbox::probe(host, program(&place)).unwrap();
        assert_eq!(sandbox.report().tier, Tier::T1);
    }
}

#[test]
fn a_kernel_that_promises_more_than_it_has_is_found_out() {
    let place = Workplace::public();
    let mut host = machine();
    let newest_known = 9;
    if host.landlock_abi >= newest_known {
        return; // Nothing to promise beyond what it has.
    }
    host.landlock_abi = newest_known;
    let refused = Sandbox::probe(host, program(&place)).unwrap_err();
    assert!(refused.missing.iter().all(|m| m.contains("landlock")), "{refused}");
}

#[test]
fn what_bubblewrap_says_is_told_and_the_next_tier_taken() {
    let place = Workplace::public();
    let host = impostor(&place, "echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
    let sandbox = Sandbox::probe(host, program(&place)).unwrap();
    insta::assert_snapshot!(sandbox.report().missing.join("\n"), @"T1: the worker ended before it was locked down (exit code 1): bwrap: No permissions to create new namespace");
    assert_eq!(sandbox.report().tier, Tier::T2);
}

#[test]
fn a_bubblewrap_that_contains_nothing_is_found_out() {
    let place = Workplace::public();
    // Runs the program as it is, without namespaces.
    let program_path = place.program();
    let exec = format!("exec {} \"$@\"", program_path.display());
    let host = impostor(&place, &format!("while [ \"$1\" != -- ]; do shift; done; shift 2; {exec}"));
    let sandbox = Sandbox::probe(host, program(&place)).unwrap();
    let [why] = sandbox.report().missing.as_slice() else { panic!("{:?}", sandbox.report()) };
    assert!(why.contains("PID namespace"), "{why}");
    assert_eq!(sandbox.report().tier, Tier::T2);
}

#[test]
fn a_program_that_is_no_worker_is_found_out() {
    let place = Workplace::public();
    let mut program = program(&place);
    program.args = vec!["something-else".into()];
    let refused = Sandbox::probe(machine(), program).unwrap_err();
    assert!(refused.to_string().contains("exit code 2"), "{refused}");
}

fn sandbox(place: &Workplace, tier: Tier) -> Sandbox {
    Sandbox::probe(machine_with(common::bwrap(&tier.to_string())), program(place)).unwrap()
}

fn refusal(sandbox: &Sandbox, path: &Path) -> SpawnError {
    sandbox.spawn(&Jail { read: vec![path.to_owned()], ..Jail::default() }, &[]).unwrap_err()
}

#[test]
fn a_file_that_is_gone_is_named() {
    let place = Workplace::public();
    let error = refusal(&sandbox(&place, Tier::T1), &place.open().join("gone.csv"));
    assert!(matches!(&error, SpawnError::Missing { path, .. } if path.ends_with("gone.csv")), "{error}");
    assert_eq!(Fault::from(&error).code, "sandbox.source_missing");
}

#[test]
fn a_file_that_the_workers_user_may_not_read_is_named_with_the_fix() {
    if !root() {
        return; // Its user and ours are the same then.
    }
    for tier in [Tier::T1, Tier::T2] {
        let place = Workplace::public();
        let file = place.open().join("hello.txt");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let error = refusal(&sandbox(&place, tier), &file);
        let SpawnError::Unreadable { path, user, .. } = &error else { panic!("{error}") };
        assert_eq!((path, user.as_str()), (&file, "nobody"));
        assert!(error.to_string().contains("chmod o+rX"), "{error}");
        // A caller is not told where files lie.
        assert!(!Fault::from(&error).message.contains("hello"), "{error}");
    }
}

#[test]
fn a_closed_directory_is_no_obstacle_for_root_with_namespaces() {
    if !root() {
        return;
    }
    let place = Workplace::private();
    let file = place.open().join("hello.txt");
    let jail = Jail { read: vec![file.clone()], ..Jail::default() };
    let worker = sandbox(&place, Tier::T1).spawn(&jail, &[]).unwrap();
    assert_eq!(worker.inside(&file).unwrap(), Path::new("/data/0/hello.txt"));
    assert_eq!(worker.inside(&place.closed()), None);
    let error = refusal(&sandbox(&place, Tier::T2), &file);
    assert!(error.to_string().contains("the directories above it"), "{error}");
}
