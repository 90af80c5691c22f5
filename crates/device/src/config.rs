//! What a device remembers of its house, in one file that only it can read.

use crate::cells::Demands;
use domain::{Fault, Kind};
use policy::redact::Keep;
use policy::script::{Grants, ScriptSettings};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// In the state directory.
const FILE: &str = "device.json";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub url: String,
    pub device_id: String,
    /// Says who this device is; never shown.
    pub token: String,
    /// The house's public keys, in hex. The house replaces them by word that one of them has signed.
    pub trusted_keys: Vec<String>,
    /// The number of the last such word: an older one is not heard.
    #[serde(default)]
    pub keys_serial: u64,
    /// What this device is willing to give to scripts: for its owner to edit.
    #[serde(default)]
    pub grants: Grants,
    /// Stricter rules than the house's, if the owner wants.
    #[serde(default)]
    pub scripts: ScriptSettings,
    #[serde(default)]
    pub keep: Keep,
    /// What holds scripts of each class of risk.
    #[serde(default)]
    pub cells: Demands,
    /// How often the house is asked while there is nothing to do, in milliseconds.
    #[serde(default = "poll_ms")]
    pub poll_ms: u64,
}

pub fn poll_ms() -> u64 {
    5_000
}

pub fn failed(code: &str, what: impl std::fmt::Display) -> Fault {
    Fault::new(Kind::Unavailable, code, what.to_string())
        .hint("see that the state directory belongs to this program's user")
}

/// The state directory, closed to everybody else, by the one name that the jail can hide it by: where it really is.
pub fn prepare(state: &Path) -> Result<PathBuf, Fault> {
    let wrong = |e: io::Error| failed("device.state", format!("`{}`: {e}", state.display()));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(state).map_err(wrong)?;
    let real = state.canonicalize().map_err(wrong)?;
    if fs::metadata(&real).map_err(wrong)?.permissions().mode() & 0o077 != 0 {
        close(&real).map_err(wrong)?;
    }
    Ok(real)
}

/// A directory of the machine, given by mistake, must not be closed to those who need it.
fn close(dir: &Path) -> io::Result<()> {
    let is_ours = dir.join(FILE).exists() || fs::read_dir(dir)?.next().is_none();
    if !is_ours {
        return Err(io::Error::other("others may read it, and it holds files that are not this program's"));
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
}

impl Config {
    fn path(state: &Path) -> PathBuf {
        state.join(FILE)
    }

    pub fn load(state: &Path) -> Result<Self, Fault> {
        let path = Self::path(state);
        let text = fs::read(&path).map_err(|e| {
            Fault::new(Kind::NotFound, "device.not_enrolled", format!("`{}`: {e}", path.display()))
                .hint("run `gatehouse-device enrol URL CODE`")
        })?;
        serde_json::from_slice(&text).map_err(|e| failed("device.config", format!("`{}`: {e}", path.display())))
    }

    pub fn save(&self, state: &Path) -> Result<(), Fault> {
        let bytes = serde_json::to_vec_pretty(self).map_err(|e| failed("device.config", e))?;
        write_durably(&Self::path(state), &bytes).map_err(|e| failed("device.config", e))
    }
}

/// Whole or not at all, also when the power fails: a file beside it, synced, moved over it, and the directory synced.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::rename(write_synced(path, bytes)?, path)?;
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

/// The draft of a file, beside it. Two processes never write the same one.
pub fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_state_directory_has_its_real_name_and_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        fs::set_permissions(root.join("real"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("real", root.join("link")).unwrap();
        for name in ["link", "real", "real/../link"] {
            assert_eq!(prepare(&root.join(name)).unwrap(), root.join("real"), "{name}");
            assert_eq!(mode(&root.join("real")), 0o700, "{name}");
        }
        fs::write(root.join("real").join(FILE), "{}").unwrap();
        fs::set_permissions(root.join("real"), fs::Permissions::from_mode(0o750)).unwrap();
        prepare(&root.join("link")).unwrap();
        assert_eq!(mode(&root.join("real")), 0o700, "one that has enrolled");
        assert_eq!(mode(&prepare(&root.join("deep/new")).unwrap()), 0o700);
    }

    #[test]
    fn a_directory_of_others_is_not_taken_for_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("passwd"), "").unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let refused = prepare(dir.path()).unwrap_err();
        assert_eq!((refused.code.as_str(), mode(dir.path())), ("device.state", 0o755));
    }
}
