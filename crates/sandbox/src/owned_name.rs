//! Names of directories and containers that belong to this server, so that a later one can tell whose are orphans.

use rustix::process::{Pid, test_kill_process};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

/// `gatehouse-KIND-PID-NUMBER`, a new number each time.
pub(crate) fn fresh(kind: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("gatehouse-{kind}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Removes what servers left in `parent` that were killed before they could clean up.
pub(crate) fn orphans(parent: &Path, kind: &str, remove: impl Fn(&Path) -> io::Result<()>) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| is_orphan(name, kind)) {
            // Another server may be removing it too.
            let _ = remove(&entry.path());
        }
    }
}

/// Whether the server that gave this name is gone.
pub(crate) fn is_orphan(name: &str, kind: &str) -> bool {
    server_of(name, kind).is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

fn server_of(name: &str, kind: &str) -> Option<Pid> {
    let rest = name.strip_prefix("gatehouse-")?.strip_prefix(kind)?.strip_prefix('-')?;
    Pid::from_raw(rest.split('-').next()?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_server_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let mine = fresh("jail");
        // No process has this id: it is above the largest that the kernel gives.
        let left = format!("gatehouse-jail-{}-0", i32::MAX);
        for name in [mine.as_str(), &left, "gatehouse-jail-x", "gatehouse-server", "other"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        orphans(parent.path(), "jail", |dir| fs::remove_dir(dir));
        assert!(!parent.path().join(&left).exists());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 4);
    }
}
