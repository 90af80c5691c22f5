//! What the supervisor tells the two stages, as one JSON argument. No secrets in it.

use crate::account::Account;
use crate::container::Named;
use crate::jail::{JailLimits, Profile, Program};
use crate::probe::Tier;
use serde::{Deserialize, Serialize};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

/// Where the worker's private scratch directory is inside T1 and containers.
pub(crate) const T1_TMP: &str = "/tmp";
/// Below this, they show the files that may be read.
pub(crate) const T1_DATA: &str = "/data";

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub tier: Tier,
    /// A trial run: check the lock from inside, say so, end.
    pub trial: bool,
    /// Who started it: without this parent it must not live.
    pub supervisor: i32,
    /// Whom to drop to; none when the supervisor is not root.
    pub account: Option<Account>,
    /// Directories of cgroups to join.
    pub groups: Vec<PathBuf>,
    pub bwrap: PathBuf,
    /// The container that it runs in, if it does.
    pub container: Option<Named>,
    pub landlock_abi: u32,
    pub program: Program,
    pub reads: Vec<Read>,
    /// Whether it may lock files.
    pub locks: bool,
    /// The descriptor at which it is given a window, if it is.
    pub window: Option<RawFd>,
    /// The scratch directory as the worker sees it.
    pub tmp: PathBuf,
    pub limits: JailLimits,
    pub profile: Profile,
}

/// One readable file or directory, or one that may be written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Read {
    /// As the caller names it, made absolute.
    pub name: PathBuf,
    /// What that is, links resolved.
    pub real: PathBuf,
    /// Where the worker finds it.
    pub inside: PathBuf,
    pub write: bool,
}

/// Names the places inside. Files of one directory stay together (a database finds its journal).
pub(crate) fn place(tier: Tier, paths: Vec<(PathBuf, PathBuf, bool)>) -> Vec<Read> {
    let mut parents: Vec<PathBuf> = Vec::new();
    let mut inside = |name: &Path| {
        let parent = name.parent().unwrap_or(Path::new("/"));
        let number = parents.iter().position(|p| p == parent).unwrap_or_else(|| {
            parents.push(parent.to_owned());
            parents.len() - 1
        });
        Path::new(T1_DATA).join(number.to_string()).join(name.file_name().unwrap_or("root".as_ref()))
    };
    let mut reads: Vec<Read> = Vec::new();
    for (name, real, write) in paths {
        if reads.iter().any(|r| r.name == name) {
            continue;
        }
        let inside = match tier {
            Tier::T1 | Tier::Container => inside(&name),
            Tier::T2 => name.clone(),
        };
        reads.push(Read { name, real, inside, write });
    }
    reads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_directory_stay_together() {
        let same = |path: &str| (PathBuf::from(path), PathBuf::from(path), false);
        let reads = place(Tier::T1, vec![same("/a/x.db"), same("/b/x.db"), same("/a/x.db-wal"), same("/a/x.db")]);
        let inside: Vec<_> = reads.iter().map(|r| r.inside.to_str().unwrap()).collect();
        assert_eq!(inside, ["/data/0/x.db", "/data/1/x.db", "/data/0/x.db-wal"]);
    }
}
