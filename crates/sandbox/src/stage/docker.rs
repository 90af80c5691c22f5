//! The command line of Docker: the walls of a worker in a container.

use crate::container::{self, LABEL, Named, USER};
use crate::handshake::Failure;
use crate::spawn::environment;
use crate::spec::{Read, Spec, T1_TMP};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1024 * 1024;

pub(super) fn command(spec: &Spec, worker: &Named, json: &str, tail: &[OsString]) -> Result<Command, Failure> {
    let mut command = container::client(&worker.container.client);
    command.args(["run", "--rm", "-i"]);
    specified(&mut command, spec)?;
    tightened(&mut command, spec);
    command.args(["--name", &worker.name, "--label", &format!("{LABEL}={}", worker.origin)]);
    for (name, value) in environment(&[], Path::new(T1_TMP)) {
        let mut pair = OsString::from(name);
        pair.push("=");
        pair.push(value);
        command.arg("--env").arg(pair);
    }
    command.arg(&worker.container.image).args(&spec.program.args).arg("inner").arg(json).args(tail);
    Ok(command)
}

/// Exactly the flags of the specification, with the limits of this jail: by default 64 processes,
/// 512m, 0.5 and 64m. Of the datasets, the worker gets those files that are its own.
fn specified(command: &mut Command, spec: &Spec) -> Result<(), Failure> {
    let limits = &spec.limits;
    command.args(["--network", "none", "--read-only", "--pids-limit", &limits.processes.to_string()]);
    command.args(["--memory", &megabytes(limits.memory_bytes), "--cpus", &limits.cpus.to_string()]);
    command.args(["--tmpfs", &format!("/tmp:rw,noexec,nosuid,size={}", megabytes(limits.tmp_bytes))]);
    for read in &spec.reads {
        command.arg("-v").arg(volume(read)?);
    }
    Ok(())
}

/// What the specification leaves open. Each of these only takes something away:
/// capabilities and ways to get them; root, and whom the image names; fetching an image that nobody
/// built here; swap beside the memory; `/dev/shm`; the copy of every answer that the engine would
/// keep in its log; programs that the image wants run beside the worker. `--init` gives the worker a
/// parent that is not it: a first process could not end itself by a signal, and engines that run out
/// of memory do.
fn tightened(command: &mut Command, spec: &Spec) {
    command.args(["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", USER, "--pull", "never"]);
    command.args(["--memory-swap", &megabytes(spec.limits.memory_bytes), "--ipc", "none"]);
    command.args(["--log-driver", "none", "--no-healthcheck", "--init"]);
}

fn megabytes(bytes: u64) -> String {
    format!("{}m", bytes / MIB)
}

fn volume(read: &Read) -> Result<OsString, Failure> {
    let mut volume = read.real.clone().into_os_string();
    if volume.as_encoded_bytes().contains(&b':') {
        let reason = "a `:` in a path can't be given to a container (hint: rename it)".to_owned();
        return Err(Failure::Unreadable { path: read.name.clone(), reason });
    }
    volume.push(":");
    volume.push(&read.inside);
    volume.push(if read.write { ":rw" } else { ":ro" });
    Ok(volume)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Container;
    use crate::jail::{JailLimits, Program};
    use crate::probe::Tier;
    use crate::spec;
    use std::path::PathBuf;

    fn arguments(reads: &[&str], limits: JailLimits) -> Result<Vec<String>, Failure> {
        let reads = reads.iter().map(|path| (PathBuf::from(path), PathBuf::from(path), false)).collect();
        let container = Container { client: "/usr/bin/docker".into(), image: "gatehouse-runner:1".into() };
        let worker = Named { container, name: "gatehouse-worker-7-0-1".into(), origin: "boot.1".into() };
        let spec = Spec {
            tier: Tier::Container,
            trial: false,
            supervisor: 7,
            account: None,
            groups: Vec::new(),
            bwrap: PathBuf::new(),
            container: Some(worker.clone()),
            landlock_abi: 7,
            program: Program { path: "/opt/gatehouse".into(), args: vec!["runner".into()], libraries: Vec::new() },
            reads: spec::place(Tier::Container, reads),
            locks: false,
            window: None,
            tmp: T1_TMP.into(),
            limits,
            profile: crate::jail::Profile::Worker,
        };
        let command = command(&spec, &worker, "{…}", &[])?;
        Ok(command.get_args().map(|word| word.to_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn the_flags_are_those_of_the_specification_and_some_that_tighten() {
        let words = arguments(&["/srv/sales/orders.csv", "/srv/sales/items.csv"], JailLimits::default()).unwrap();
        let specified = "--network none --read-only --pids-limit 64 --memory 512m --cpus 0.5 \
            --tmpfs /tmp:rw,noexec,nosuid,size=64m";
        assert!(words.join(" ").starts_with(&format!("run --rm -i {specified} -v ")), "{words:?}");
        // A flag and its value on a line, for people.
        insta::assert_snapshot!(words.join(" ").replace(" --", "\n--").replace(" -", "\n-"), @"
        run
        --rm
        -i
        --network none
        --read-only
        --pids-limit 64
        --memory 512m
        --cpus 0.5
        --tmpfs /tmp:rw,noexec,nosuid,size=64m
        -v /srv/sales/orders.csv:/data/0/orders.csv:ro
        -v /srv/sales/items.csv:/data/0/items.csv:ro
        --cap-drop ALL
        --security-opt no-new-privileges
        --user 65534:65534
        --pull never
        --memory-swap 512m
        --ipc none
        --log-driver none
        --no-healthcheck
        --init
        --name gatehouse-worker-7-0-1
        --label gatehouse.worker=boot.1
        --env TMPDIR=/tmp
        --env MALLOC_ARENA_MAX=2 gatehouse-runner:1 runner inner {…}
        ");
    }

    #[test]
    fn other_limits_are_told_too() {
        let limits =
            JailLimits { memory_bytes: 1 << 30, processes: 8, cpus: 2.0, tmp_bytes: 1 << 20, ..Default::default() };
        let said = arguments(&[], limits).unwrap().join(" ");
        for flag in ["--pids-limit 8 ", "--memory 1024m ", "--memory-swap 1024m ", "--cpus 2 ", "size=1m "] {
            assert!(said.contains(flag), "{flag}: {said}");
        }
    }

    #[test]
    fn a_path_that_would_be_read_as_options_is_refused() {
        let refused = arguments(&["/srv/a:rw/x.csv"], JailLimits::default()).unwrap_err();
        assert!(matches!(&refused, Failure::Unreadable { reason, .. } if reason.contains("`:`")), "{refused:?}");
    }
}
