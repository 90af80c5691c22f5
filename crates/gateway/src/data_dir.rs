//! The data directory: its owner's, and nobody else's on this machine.
//!
//! Only the directory itself is shut. What is in it keeps its modes: workers of a root server run as another user, and are
//! brought each file that they may read past the directories above it (T1), so that the file must be readable to them.

use sandbox::Tier;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::Path;

/// Rights of a group, and of everybody.
const GROUP: u32 = 0o070;
const OTHERS: u32 = 0o007;
/// Set on directories that are for everybody, as `/tmp` is.
const STICKY: u32 = 0o1000;

/// Makes the directory, for its owner alone; one that is there is left as it is.
pub fn create(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Whether other users of this machine may look into the directory.
pub fn is_open(dir: &Path) -> bool {
    fs::metadata(dir).is_ok_and(|found| found.mode() & OTHERS != 0)
}

/// Shuts a directory that everybody may look into, as an earlier version made them. One that a group may enter, and nobody
/// else, was given to that group by somebody.
///
/// Where workers run as another user and reach files by their paths (T2), their group may pass.
pub fn shut(dir: &Path, tier: Tier, workers: Option<(u32, u32)>) -> io::Result<()> {
    let found = fs::metadata(dir)?;
    let is_ours = found.uid() == rustix::process::geteuid().as_raw();
    let passes = workers.filter(|_| tier == Tier::T2);
    let is_shut = found.mode() & OTHERS == 0 && (passes.is_none() || found.mode() & GROUP != 0);
    if is_shut {
        return Ok(());
    }
    if !is_ours || found.mode() & STICKY != 0 || dir.parent().is_none() {
        return Err(io::Error::other("it is not this server's alone"));
    }
    if let Some((_, group)) = passes {
        chown(dir, None, Some(group))?;
    }
    let mode = if passes.is_some() { 0o710 } else { 0o700 };
    fs::set_permissions(dir, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(dir: &Path) -> u32 {
        fs::metadata(dir).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_new_directory_is_its_owners() {
        let dir = tempfile::tempdir().unwrap();
        let new = dir.path().join("deep/data");
        create(&new).unwrap();
        assert_eq!((mode(&new), mode(&dir.path().join("deep")), is_open(&new)), (0o700, 0o700, false));
    }

    #[test]
    fn what_everybody_may_enter_is_shut_and_what_is_for_a_group_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let cases = [(0o755, 0o700), (0o777, 0o700), (0o711, 0o700), (0o705, 0o700), (0o750, 0o750), (0o700, 0o700)];
        for (before, after) in cases {
            fs::set_permissions(dir.path(), Permissions::from_mode(before)).unwrap();
            shut(dir.path(), Tier::T1, Some((65534, 65534))).unwrap();
            assert_eq!(mode(dir.path()), after, "{before:o}");
            assert!(!is_open(dir.path()));
        }
    }

    #[test]
    fn a_directory_for_everybody_is_never_shut() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o1777)).unwrap();
        shut(dir.path(), Tier::T1, None).unwrap_err();
        assert_eq!(mode(dir.path()), 0o1777);
        assert!(shut(Path::new("/"), Tier::T1, None).is_err());
    }

    /// Without a mount of their own, workers go by the path.
    #[test]
    fn where_workers_go_by_the_path_their_group_may_pass() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        for before in [0o755, 0o700] {
            fs::set_permissions(dir.path(), Permissions::from_mode(before)).unwrap();
            chown(dir.path(), None, Some(0)).unwrap();
            shut(dir.path(), Tier::T2, Some((65534, 65534))).unwrap();
            assert_eq!((mode(dir.path()), fs::metadata(dir.path()).unwrap().gid()), (0o710, 65534));
        }
    }
}
