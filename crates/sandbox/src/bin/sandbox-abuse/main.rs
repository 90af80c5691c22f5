//! For the tests of the sandbox only: a worker that misbehaves as told, and a supervisor for it.
//!
//! `sandbox-abuse supervise BWRAP OPEN CLOSED` reads names of cases from stdin, one a line, runs each
//! in a fresh worker that may read the directory OPEN and not CLOSED, and writes one JSON line for each.

mod files;
mod kernel;
mod network;
mod resources;
mod supervise;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

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
    let [case, open, closed] = words.as_slice() else { return ExitCode::from(2) };
    let scene = Scene { open: open.into(), closed: closed.into(), tmp: std::env::temp_dir() };
    let cases = [files::CASES, network::CASES, kernel::CASES, resources::CASES].concat();
    let Some((_, attempt)) = cases.iter().find(|(name, _)| case == name) else { return ExitCode::from(2) };
    let said = match attempt(&scene) {
        Ok(what) => format!("allowed: {what}"),
        Err(error) => format!("refused: {error}"),
    };
    let written = io::Write::write_all(&mut io::stdout(), said.as_bytes());
    ExitCode::from(u8::from(written.is_err()))
}

/// The result of a system call.
fn called(code: impl Into<i64>) -> Attempt {
    match code.into() {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value.to_string()),
    }
}
