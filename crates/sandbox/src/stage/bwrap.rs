//! The command line of bubblewrap: the namespaces and mounts of T1.

use super::staging::Stage;
use crate::spawn::environment;
use crate::spec::{Spec, T1_DATA, T1_TMP};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Ours inside, so that nothing of the machine's layout shows or collides.
const PROGRAM: &str = "/gatehouse/program";
const LIBRARIES: &str = "/gatehouse/lib";

pub(super) fn command(spec: &Spec, stage: Option<&Stage>, json: &str, tail: &[OsString]) -> Command {
    let mut command = Command::new(&spec.bwrap);
    command.env_clear();
    namespaces(&mut command);
    system(&mut command);
    data(&mut command, spec, stage);
    let libraries = program(&mut command, spec, stage);
    tmp(&mut command, spec, stage);
    command.args(["--remount-ro", "/", "--chdir", T1_TMP, "--clearenv"]);
    for (name, value) in environment(&libraries, Path::new(T1_TMP)) {
        command.arg("--setenv").arg(name).arg(value);
    }
    command.arg("--").arg(PROGRAM).args(&spec.program.args).arg("inner").arg(json).args(tail);
    command
}

fn namespaces(command: &mut Command) {
    command.args(["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]);
    command.args(["--die-with-parent", "--new-session", "--hostname", "worker"]);
}

/// What the loader needs before `main`; Landlock closes it again. No /proc, no /sys, two devices.
fn system(command: &mut Command) {
    command.args(["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]);
    for dir in ["/lib", "/lib64"] {
        match fs::read_link(dir) {
            Ok(target) => command.arg("--symlink").arg(target).arg(dir),
            Err(_) => command.args(["--ro-bind-try", dir, dir]),
        };
    }
    for device in ["/dev/null", "/dev/urandom"] {
        command.args(["--dev-bind", device, device]);
    }
}

fn data(command: &mut Command, spec: &Spec, stage: Option<&Stage>) {
    match stage {
        Some(stage) => {
            command.arg("--ro-bind").arg(stage.data()).arg(T1_DATA);
            for read in spec.reads.iter().filter(|read| read.write) {
                command.arg("--bind").arg(stage.read(&read.inside)).arg(&read.inside);
            }
        }
        None => {
            command.args(["--dir", T1_DATA]);
            for read in &spec.reads {
                let bind = if read.write { "--bind" } else { "--ro-bind" };
                command.arg(bind).arg(&read.real).arg(&read.inside);
            }
        }
    }
}

/// Returns where the libraries are inside.
fn program(command: &mut Command, spec: &Spec, stage: Option<&Stage>) -> Vec<PathBuf> {
    let source = stage.map_or_else(|| spec.program.path.clone(), Stage::program);
    command.arg("--ro-bind").arg(source).arg(PROGRAM);
    let mut inside = Vec::new();
    for (number, library) in spec.program.libraries.iter().enumerate() {
        let target = Path::new(LIBRARIES).join(number.to_string());
        let source = stage.map_or_else(|| library.clone(), |stage| stage.library(number));
        command.arg("--ro-bind").arg(source).arg(&target);
        inside.push(target);
    }
    inside
}

/// Root has made one that also caps the number of files.
fn tmp(command: &mut Command, spec: &Spec, stage: Option<&Stage>) {
    match stage {
        Some(stage) => command.arg("--bind").arg(stage.tmp()).arg(T1_TMP),
        None => command.args(["--size", &spec.limits.tmp_bytes.to_string(), "--tmpfs", T1_TMP]),
    };
}
