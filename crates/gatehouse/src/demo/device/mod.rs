//! The demo's device: a directory that stands for its disk, and the programs that would run on it.
//!
//! Three of its programs do not work, each for a reason that is really there: a lock whose process is gone, a log beyond
//! its limit, a configuration with a word in it that nobody knows. What they say about it is read from the disk each
//! time ([`Disk::journal`]): a fault that was repaired is not complained about any more, and one that was put back is.

mod faults;

use super::files::directory;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// As the house knows it.
pub const ID: &str = "pump-demo";
pub const NAME: &str = "Pump in hall 4 (demo)";

/// Where scripts write, as far as their manifests say so.
const FOLDERS: [&str; 3] = ["run", "log", "etc"];

pub struct Disk {
    root: PathBuf,
}

impl Disk {
    /// A disk with all faults in it, whatever was there before. Its place is one that policy lets scripts write in, and it
    /// is another for every directory of data.
    pub fn broken(data: &Path, user: Option<&str>) -> io::Result<Self> {
        let data = fs::canonicalize(data)?;
        let name = domain::sha256_hex(data.as_os_str().as_encoded_bytes());
        let disk =
            Self { root: Path::new("/var/tmp").join(format!("gatehouse-demo-{}", name.get(..12).unwrap_or("device"))) };
        disk.begin_anew()?;
        for folder in FOLDERS {
            directory(&disk.root.join(folder))?;
        }
        faults::make(&disk)?;
        disk.hand_over(user)?;
        Ok(disk)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Everybody may write in /var/tmp: what lies there under our name must be ours before it is touched.
    fn begin_anew(&self) -> io::Result<()> {
        match fs::symlink_metadata(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(found) if found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() => {
                fs::remove_dir_all(&self.root)?;
            }
            Ok(_) => return Err(io::Error::other(format!("`{}` is somebody else's", self.root.display()))),
            Err(error) => return Err(error),
        }
        fs::create_dir(&self.root)?;
        fs::set_permissions(&self.root, fs::Permissions::from_mode(0o755))
    }

    /// What scripts write in belongs to the user that they run as, where this is root.
    fn hand_over(&self, user: Option<&str>) -> io::Result<()> {
        let Some((uid, gid)) = sandbox::worker_owner(user) else { return Ok(()) };
        for folder in FOLDERS.map(|folder| self.path(folder)) {
            for entry in fs::read_dir(&folder)? {
                chown(entry?.path(), Some(uid), Some(gid))?;
            }
            chown(folder, Some(uid), Some(gid))?;
        }
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
