//! Programs that another user can run: an unprivileged one cannot enter root's home, where the CLI often is.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The first place on the way to a program, itself included, that this user and group cannot pass.
pub(super) fn barrier(program: &Path, user: (u32, u32)) -> Option<PathBuf> {
    let path = found(program)?;
    let real = path.canonicalize().ok()?;
    let ways = [path.as_path(), real.as_path()];
    ways.into_iter().flat_map(Path::ancestors).find(|place| !is_open(place, user)).map(Path::to_owned)
}

/// Where a program is: a path as it stands, a name on the `PATH`.
fn found(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return std::path::absolute(program).ok();
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Whether the user may pass a directory, and run a file. Scripts have to be read as well.
fn is_open(place: &Path, (uid, gid): (u32, u32)) -> bool {
    let Ok(meta) = place.metadata() else { return false };
    let wanted = if meta.is_dir() { 0o1 } else { 0o5 };
    let shift = match () {
        () if meta.uid() == uid => 6,
        () if meta.gid() == gid => 3,
        () => 0,
    };
    meta.mode() >> shift & wanted == wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_barrier_is_the_first_place_that_is_shut() {
        let dir = tempfile::tempdir().unwrap();
        let (inner, stranger) = (dir.path().join("bin"), (4_000_000, 4_000_000));
        std::fs::create_dir(&inner).unwrap();
        let program = inner.join("claude");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        let modes = |outer: u32, file: u32| {
            std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(outer)).unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(file)).unwrap();
            barrier(&program, stranger)
        };
        assert_eq!(modes(0o711, 0o755), None);
        assert_eq!(modes(0o711, 0o711), Some(program.clone()), "a script that cannot be read");
        assert_eq!(modes(0o700, 0o755), Some(dir.path().to_owned()));
        let owner = inner.metadata().unwrap();
        assert_eq!(barrier(&program, (owner.uid(), owner.gid())), None);
    }
}
