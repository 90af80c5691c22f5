//! For the tests of the sandbox only: a worker that misbehaves as told, and a supervisor for it.
//!
//! `sandbox-abuse supervise BWRAP OPEN CLOSED [script | CLIENT IMAGE]` reads names of cases from stdin, one a line,
//! runs each in a fresh worker that may read the directory OPEN and not CLOSED, and writes one JSON line
//! for each. Several names with commas between them share a worker. `sandbox-abuse without LAYERS supervise …`
//! does so on a machine that lacks them.

mod files;
mod kernel;
mod machine;
mod network;
mod processes;
mod resources;
mod supervise;
mod without;

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Between the answers of one worker.
const SEPARATOR: &str = "\u{1e}";

/// What a case has to work with.
struct Scene {
    /// The readable directory, as the worker sees it.
    open: PathBuf,
    /// A directory of the machine that was not given to the worker.
    closed: PathBuf,
    tmp: PathBuf,
}

/// `Ok` tells what was possible, `Err` what refused it.
type Attempt = io::Result<String>;
type Case = (&'static str, fn(&Scene) -> Attempt);

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_ref().and_then(|a| a.to_str()) {
        Some("runner") => worker(args.collect()),
        Some("supervise") => supervise::run(args.collect()),
        Some("without") => without::run(args.collect()),
        _ => ExitCode::from(2),
    }
}

fn worker(args: Vec<OsString>) -> ExitCode {
    if sandbox::enter(args).is_err() {
        return ExitCode::from(125);
    }
    let mut order = String::new();
    if io::stdin().read_line(&mut order).is_err() {
        return ExitCode::from(2);
    }
    let words: Vec<&str> = order.trim_end().split('\t').collect();
    let [names, open, closed] = words.as_slice() else { return ExitCode::from(2) };
    let scene = Scene { open: open.into(), closed: closed.into(), tmp: std::env::temp_dir() };
    let cases =
        [files::CASES, machine::CASES, network::CASES, kernel::CASES, processes::CASES, resources::CASES].concat();
    for (number, wanted) in names.split(',').enumerate() {
        let Some((_, attempt)) = cases.iter().find(|(name, _)| wanted == *name) else { return ExitCode::from(2) };
        let separator = if number > 0 { SEPARATOR } else { "" };
        let said = match attempt(&scene) {
            Ok(what) => format!("{separator}allowed: {what}"),
            Err(error) => format!("{separator}refused: {error}"),
        };
        if io::stdout().write_all(said.as_bytes()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn read(path: impl AsRef<Path>) -> Attempt {
    let mut bytes = [0; 16];
    File::open(path)?.read(&mut bytes).map(|n| format!("{n} bytes"))
}

/// Opening is enough to show that it could be written.
fn write(path: impl AsRef<Path>) -> Attempt {
    OpenOptions::new().write(true).create(true).truncate(false).open(path).map(|_| "opened".into())
}

/// Raw system calls that must not get as far as looking at their arguments.
macro_rules! raw {
    ($call:expr $(, $argument:expr)*) => {
        // SAFETY: refused before the kernel looks at the arguments; none of them points to our memory.
        |_| called(unsafe { libc::syscall($call $(, $argument)*) })
    };
}
use raw;

/// The result of a system call.
fn called(code: impl Into<i64>) -> Attempt {
    match code.into() {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value.to_string()),
    }
}
