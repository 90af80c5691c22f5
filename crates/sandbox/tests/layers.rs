//! Every line of `layers.cases`: the recorded lower tier, or nothing at all. Never less in silence.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use common::{Workplace, root};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A lower tier must hold these too.
const HELD: &str = "passwd,other_dataset,tcp,socket_pair,user_namespace,ptrace,signal_parent,exec";

/// A bubblewrap that does something else.
fn impostor(place: &Workplace, script: &str) -> PathBuf {
    let path = place.open().join("bwrap");
    common::script(&path, script);
    path
}

fn bwrap(place: &Workplace, lacks: &[&str]) -> PathBuf {
    let hollow = format!("while [ \"$1\" != -- ]; do shift; done; shift 2; exec {} \"$@\"", place.program().display());
    match lacks {
        _ if lacks.contains(&"bwrap") => common::bwrap("T2").to_owned(),
        _ if lacks.contains(&"broken") => impostor(place, "echo 'bwrap: No permissions' >&2; exit 1"),
        _ if lacks.contains(&"hollow") => impostor(place, &hollow),
        _ => common::bwrap("T1").to_owned(),
    }
}

/// The supervisor, on a machine without these.
fn command(place: &Workplace, who: &str, lacks: &[&str]) -> Command {
    let mut words: Vec<PathBuf> = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(PathBuf::from));
    if lacks.contains(&"cgroup") {
        add(&["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"", "sh"]);
    }
    if who == "user" && root() {
        add(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
    }
    words.push(place.program());
    // In this order: without seccomp no further filter could be set.
    let filtered: Vec<&str> = ["landlock", "userns", "seccomp"].into_iter().filter(|l| lacks.contains(l)).collect();
    if !filtered.is_empty() {
        words.extend(["without".into(), filtered.join(",").into()]);
    }
    words.extend(["supervise".into(), bwrap(place, lacks), place.open(), place.closed()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

fn run(mut command: Command) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A supervisor without a sandbox has ended by now, and reads nothing.
    let _ = child.stdin.take().unwrap().write_all(format!("{HELD}\n").as_bytes());
    child.wait_with_output().unwrap()
}

fn holds(expected: &str, output: &Output) -> bool {
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if let Some(text) = expected.strip_prefix("refused ") {
        let named = complained.starts_with("no sandbox on this machine: ") && complained.contains(text);
        return !output.status.success() && said.is_empty() && named;
    }
    let Some((report, result)) = said.split_once('\n') else { return false };
    let report: Value = serde_json::from_str(report).unwrap();
    let result: Value = serde_json::from_str(result).unwrap();
    let mut words = expected.split(' ');
    let told = report["unenforced"].as_array().unwrap();
    report["tier"] == words.next().unwrap()
        && words.all(|limit| told.contains(&Value::from(limit)))
        && result["said"].as_array().unwrap().iter().all(|said| said.as_str().unwrap().starts_with("refused: "))
}

#[test]
fn a_machine_that_lacks_a_layer_says_so_or_starts_nothing() {
    let lines = include_str!("layers.cases").lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    let (mut tried, mut wrong) = (0, Vec::new());
    for line in lines {
        let mut words = line.splitn(3, ' ');
        let (who, lacks, expected) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap().trim());
        let lacks: Vec<&str> = lacks.split(',').collect();
        if who == "root" && !root() {
            continue;
        }
        tried += 1;
        let output = run(command(&Workplace::public(), who, &lacks));
        if !holds(expected, &output) {
            wrong.push(format!("{line}\n  got {output:?}"));
        }
    }
    testkit::tally("jail", "missing layers", tried, "started with less", wrong.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
