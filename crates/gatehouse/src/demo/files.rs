//! Files that are whole or not there.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A file that everybody may read and its owner replace.
pub const READABLE: u32 = 0o644;
/// A file that nobody may write, not even by mistake.
pub const READ_ONLY: u32 = 0o444;

/// Lets `fill` write a file under another name, then puts it in place: readers see the old file
/// or the new one.
pub fn place(path: &Path, mode: u32, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
    // What an interrupted process of the same id left behind (in a container that is every one).
    let _ = fs::remove_file(&draft);
    let done = fill(&draft)
        .and_then(|()| fs::set_permissions(&draft, Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&draft, path));
    if done.is_err() {
        // The error that matters is the first one; the draft may not even exist.
        let _ = fs::remove_file(&draft);
    }
    done
}

/// [`place`] for content that is at hand.
pub fn place_bytes(path: &Path, content: &[u8]) -> io::Result<()> {
    place(path, READABLE, |draft| fs::write(draft, content))
}

/// A directory that workers under another user can enter.
pub fn directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Another name for a file, relative to where the name is; one that is there already stays.
pub fn link(target: &Path, name: &Path) -> io::Result<()> {
    match std::os::unix::fs::symlink(target, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
