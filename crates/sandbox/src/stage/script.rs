//! What a script has of the machine: its programs, read-only, and what it was granted.

use super::filesystem::{READ_FILE, READ_TREE, SCRATCH};
use crate::jail::ScriptProfile;
use landlock::{AccessFs, BitFlags, make_bitflags};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAMS: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
/// Read-only, as far as the script's user may read them at all. Not /run: no socket of a service is in reach. Not /home.
const SHOWN: [&str; 6] = ["/etc", "/var", "/opt", "/srv", "/sys", "/boot"];
/// Links that programs expect.
const LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// Added to what bubblewrap mounts for every worker.
pub(super) fn mounts(command: &mut Command, profile: &ScriptProfile) {
    if profile.network {
        command.arg("--share-net");
    }
    for dir in ["/bin", "/sbin"] {
        match fs::read_link(dir) {
            Ok(target) => command.arg("--symlink").arg(target).arg(dir),
            Err(_) => command.args(["--ro-bind-try", dir, dir]),
        };
    }
    for dir in SHOWN {
        command.args(["--ro-bind-try", dir, dir]);
    }
    command.args(["--proc", "/proc"]);
    for device in ["/dev/zero", "/dev/random"] {
        command.args(["--dev-bind-try", device, device]);
    }
    for (target, link) in LINKS {
        command.args(["--symlink", target, link]);
    }
    for path in &profile.writable {
        command.arg("--bind").arg(path).arg(path);
    }
    // Last, so that nothing above shows it again.
    profile.hidden.iter().for_each(|path| hide(command, path));
}

/// A directory becomes an empty one that takes nothing, a file becomes one that can't be opened. What the script's user
/// can't come to needs no cover, and could be given none.
fn hide(command: &mut Command, path: &Path) {
    match fs::metadata(path) {
        Ok(found) if !found.is_dir() => command.args(["--ro-bind", "/dev/null"]).arg(path),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => command,
        _ => command.arg("--tmpfs").arg(path).arg("--remount-ro").arg(path),
    };
}

/// Added to what Landlock lets through.
pub(super) fn allowed(profile: &ScriptProfile) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let run = READ_TREE | make_bitflags!(AccessFs::{Execute});
    let there = |path: &&&str| fs::metadata(**path).is_ok();
    let mut allowed: Vec<(PathBuf, BitFlags<AccessFs>)> = Vec::new();
    allowed.extend(PROGRAMS.iter().filter(there).map(|path| ((*path).into(), run)));
    allowed.extend(SHOWN.iter().chain(&["/proc"]).filter(there).map(|path| ((*path).into(), READ_TREE)));
    allowed.extend(["/dev/zero", "/dev/random"].iter().filter(there).map(|path| ((*path).into(), READ_FILE)));
    for path in &profile.writable {
        let whole = SCRATCH | make_bitflags!(AccessFs::{MakeSym | Refer});
        let file = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});
        allowed.push((path.clone(), if path.is_dir() { whole } else { file }));
    }
    allowed
}
