//! For the tests of the engines only: the real worker, one whose engine nobody has locked down, and one that lies.
//!
//! All are held by the real sandbox. It is never part of the `gatehouse` binary.

mod frames;
mod lying;
mod unlocked;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_ref().and_then(|a| a.to_str()) {
        Some("runner") => worker(args.collect(), engines::run_worker),
        Some("unlocked") => worker(args.collect(), unlocked::run),
        Some("lying") => worker(args.collect(), lying::run),
        _ => ExitCode::from(2),
    }
}

fn worker(args: Vec<OsString>, work: fn() -> io::Result<()>) -> ExitCode {
    if sandbox::enter(args).is_err() {
        return ExitCode::from(125);
    }
    ExitCode::from(u8::from(work().is_err()))
}
