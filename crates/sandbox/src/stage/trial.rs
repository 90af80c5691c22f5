//! A trial worker looks whether the lock holds, from inside.

use crate::probe::Found;
use crate::spec::Spec;
use std::fs::{self, File};
use std::io::{self, Write};

pub(super) fn check(spec: &Spec) -> Result<(), String> {
    // Without Landlock, what a container's image holds stays open. Nobody's data is in it.
    let closed: &[&str] = if spec.landlock_abi == 0 { &[] } else { &["/", "/usr", "/etc/passwd"] };
    for closed in closed {
        must_fail(&format!("reading `{closed}`"), File::open(closed).and_then(|f| f.metadata()))?;
    }
    // SAFETY: the call makes a descriptor or fails.
    must_fail("a socket", result(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) }))?;
    // SAFETY: the call changes this process's namespace or fails.
    must_fail("a user namespace", result(unsafe { libc::unshare(libc::CLONE_NEWUSER) }))?;

    let file = spec.tmp.join("trial");
    let works = |what: &str, error: io::Error| format!("{what} is refused: {error}");
    fs::write(&file, "x").and_then(|()| fs::remove_file(&file)).map_err(|e| works("the scratch directory", e))?;
    let thread = std::thread::Builder::new().spawn(|| ()).map_err(|e| works("a thread", e))?;
    thread.join().map_err(|_| "a thread did not end".to_owned())
}

/// What a trial found out where the supervisor can't look, as the one thing on stdout.
pub(super) fn tell(found: Option<&Found>) -> io::Result<()> {
    match found {
        Some(found) => io::stdout().write_all(&serde_json::to_vec(found)?),
        None => Ok(()),
    }
}

fn must_fail<T>(what: &str, result: io::Result<T>) -> Result<(), String> {
    match result {
        Ok(_) => Err(format!("{what} is not refused")),
        Err(_) => Ok(()),
    }
}

fn result(code: i32) -> io::Result<()> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
