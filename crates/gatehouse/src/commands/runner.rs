//! `gatehouse runner …`: this program as a worker.

use std::ffi::OsString;
use std::process::ExitCode;

/// Walks the stages of the sandbox, then serves statements until the server closes the pipe.
pub fn run(args: Vec<OsString>) -> ExitCode {
    if let Err(refused) = sandbox::enter(args) {
        eprintln!("gatehouse runner: {refused}");
        return ExitCode::from(2);
    }
    match engines::run_worker() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gatehouse runner: {error}");
            ExitCode::from(1)
        }
    }
}
