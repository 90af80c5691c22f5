//! Ctrl-C: what is half done is removed, what is being installed is finished, and the exit code is 130.

use crate::problem::{Problem, Result};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that nobody wants if this program does not live to finish them.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Held while the files of a snapshot change places: a signal waits that long.
pub struct Uninterrupted {
    held: MutexGuard<'static, BTreeSet<PathBuf>>,
}

pub fn uninterrupted() -> Uninterrupted {
    Uninterrupted { held: unfinished() }
}

pub fn remove_if_interrupted(path: &Path) {
    unfinished().insert(path.to_owned());
}

impl Uninterrupted {
    /// The file is what it was meant to be.
    pub fn finished(&mut self, path: &Path) {
        self.held.remove(path);
    }
}

pub fn finished(path: &Path) {
    unfinished().remove(path);
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens from now on. `as_json` is how to say so.
pub fn listen(as_json: bool) -> Result<()> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| Problem::unexpected("no signals", error))?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let unfinished = unfinished();
            for path in unfinished.iter() {
                drop(std::fs::remove_file(path));
            }
            let code = 128 + signal;
            let (message, hint) = ("interrupted", "nothing was changed by what was under way");
            match as_json {
                true => {
                    eprintln!("{}", json!({ "error": message, "message": message, "hint": hint, "exit_code": code }))
                }
                false => eprintln!("Error: {message}\nHint: {hint}"),
            }
            std::process::exit(code);
        }
    });
    Ok(())
}
