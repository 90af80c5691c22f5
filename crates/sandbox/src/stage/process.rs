//! What the process itself gives up: inherited files, threads, limits, being looked at.

use crate::probe::Tier;
use crate::spec::Spec;
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use std::io;
use std::os::fd::RawFd;

/// Keeps stdin, stdout, stderr and a window. A server's libraries may have left others open across exec.
pub(super) fn close_inherited_files(window: Option<RawFd>) -> io::Result<()> {
    let window = window.and_then(|window| u32::try_from(window).ok()).unwrap_or(u32::MAX);
    for (first, last) in [(3, window.saturating_sub(1)), (window.saturating_add(1).max(3), u32::MAX)] {
        // SAFETY: this runs first in `main`; nothing in this process owns a descriptor above 2 yet.
        if first <= last && unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Fails if there is a second thread, which Landlock would not hold.
pub(super) fn require_single_thread() -> io::Result<()> {
    // SAFETY: with CLONE_THREAD alone the call changes nothing; it fails when there are more threads.
    let alone = match unsafe { libc::unshare(libc::CLONE_THREAD) } {
        0 => true,
        // Container engines refuse the question itself; they have a /proc to ask instead.
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::EPERM) => {
            std::fs::read_dir("/proc/self/task")?.count() == 1
        }
        _ => false,
    };
    if alone {
        return Ok(());
    }
    Err(io::Error::other("a second thread runs already: `enter` must come first in `main`"))
}

/// A worker is not part of the server's terminal session: Ctrl-C there is for the server, which then
/// ends its workers as it likes. And when the whole machine runs out of memory, it goes first.
pub(super) fn stand_apart() -> io::Result<()> {
    rustix::process::setsid()?;
    // Some containers have no writable /proc. This is a wish, not a lock.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}

/// After the change of user, which would undo it.
pub(super) fn die_with_supervisor(supervisor: i32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have died before the line above.
    match rustix::process::getppid() {
        Some(parent) if parent.as_raw_nonzero().get() == supervisor => Ok(()),
        _ => Err(io::Error::other("the supervisor is gone")),
    }
}

/// As large as a file may become that a worker is given to write. What it has for itself is capped by its mount.
const WRITTEN_BYTES: u64 = 64 << 30;

pub(super) fn set_limits(spec: &Spec) -> io::Result<()> {
    let limits = &spec.limits;
    let set =
        |resource, most: u64| rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    set(Resource::As, limits.address_space_bytes)?;
    set(Resource::Nofile, limits.open_files)?;
    set(Resource::Fsize, if spec.reads.iter().any(|read| read.write) { WRITTEN_BYTES } else { limits.tmp_bytes })?;
    set(Resource::Core, 0)?;
    set(Resource::Memlock, 0)?;
    set(Resource::Msgqueue, 0)?;
    if spec.tier == Tier::T1 {
        // Counted per user namespace. In T2 it would count all that the user runs anywhere.
        set(Resource::Nproc, limits.processes)?;
    }
    // Then a write past the limit is an error that the engine reports, and not its death.
    // SAFETY: ignoring a signal installs no handler.
    match unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// No core dump, no tracing, no look into its memory by others of the same user; no way up by exec.
pub(super) fn close_to_peers() -> io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(rustix::thread::set_no_new_privs(true)?)
}
