//! A place to work in, and a supervisor that runs as root or as somebody else.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod engine;
pub mod table;

use sandbox::{Host, Program};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Whom the supervisor runs as. Without root, both are whoever runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum As {
    Root,
    User,
}

pub fn root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Directories `open` and `closed`, with something in them.
pub struct Workplace {
    dir: TempDir,
    _socket: UnixListener,
}

impl Workplace {
    /// Reachable for every user.
    pub fn public() -> Self {
        Self::with_mode(0o755)
    }

    /// Only its owner may enter.
    pub fn private() -> Self {
        Self::with_mode(0o700)
    }

    fn with_mode(mode: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("open")).unwrap();
        fs::create_dir(at("closed")).unwrap();
        fs::write(at("open/hello.txt"), "hello").unwrap();
        fs::write(at("closed/secret.txt"), "secret").unwrap();
        symlink(at("closed/secret.txt"), at("open/link")).unwrap();
        install(Path::new(env!("CARGO_BIN_EXE_sandbox-abuse")), &at("sandbox-abuse"));
        let socket = UnixListener::bind(at("open/socket")).unwrap();
        Self { dir, _socket: socket }
    }

    pub fn open(&self) -> PathBuf {
        self.dir.path().join("open")
    }

    pub fn closed(&self) -> PathBuf {
        self.dir.path().join("closed")
    }

    /// A copy of the abusive program: where it was built may be closed to other users.
    pub fn program(&self) -> PathBuf {
        self.dir.path().join("sandbox-abuse")
    }
}

/// This machine as it is.
pub fn machine() -> Host {
    Host::detect(Some("nobody")).unwrap()
}

/// This machine with another bubblewrap.
pub fn machine_with(bwrap: &Path) -> Host {
    let mut host = machine();
    host.bwrap = bwrap.to_owned();
    host
}

pub fn program(place: &Workplace) -> Program {
    Program { path: place.program(), args: vec!["runner".into()], libraries: Vec::new() }
}

/// Makes a program of a file. By another process: while one is open for writing here, a child started meanwhile by
/// another test would hold it open too, and nobody could run it.
pub fn install(from: &Path, to: &Path) {
    assert!(Command::new("install").args(["-m", "755"]).arg(from).arg(to).status().unwrap().success());
}

/// A program that is a shell script.
pub fn script(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, format!("#!/bin/sh\n{text}\n")).unwrap();
    install(&draft, path);
    fs::remove_file(draft).unwrap();
}

/// The bubblewrap that gives this tier: none for T2.
pub fn bwrap(tier: &str) -> &'static Path {
    Path::new(if tier == "T1" { "/usr/bin/bwrap" } else { "/nonexistent/bwrap" })
}

/// Runs the cases; returns the report and one result for each.
pub fn supervise(user: As, tier: &str, place: &Workplace, cases: &[&str]) -> (Value, Vec<Value>) {
    supervise_as(user, tier, place, cases, false)
}

/// Under the profile of scripts, if so.
pub fn supervise_as(user: As, tier: &str, place: &Workplace, cases: &[&str], script: bool) -> (Value, Vec<Value>) {
    let program = place.program();
    let mut command = if user == As::User && root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.arg("supervise").arg(bwrap(tier)).arg(place.open()).arg(place.closed());
    if script {
        command.arg("script");
    }
    run(command, cases)
}

/// The same in containers of a real engine.
pub fn supervise_in(engine: &engine::Engine, place: &Workplace, cases: &[&str]) -> (Value, Vec<Value>) {
    let mut command = Command::new(place.program());
    command.arg("supervise").arg(bwrap("T2")).arg(place.open()).arg(place.closed());
    command.arg(&engine.client).arg(&engine.image).env("CONTAINERS_CONF", engine.settings());
    run(command, cases)
}

fn run(mut command: Command, cases: &[&str]) -> (Value, Vec<Value>) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all((cases.join("\n") + "\n").as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the supervisor failed: {:?}", output.status);
    let said = String::from_utf8(output.stdout).unwrap();
    let mut lines = said.lines().map(|line| serde_json::from_str(line).unwrap());
    (lines.next().unwrap(), lines.collect())
}
