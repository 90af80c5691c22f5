//! The demo's device: a directory that stands for its disk, and the programs that would run on it.
//!
//! Three of its programs do not work, each for a reason that is really there: a lock whose process is gone, a log beyond
//! its limit, a configuration with a word in it that nobody knows. What they say about it is read from the disk each
//! time ([`Disk::journal`]): a fault that was repaired is not complained about any more, and one that was put back is.

mod faults;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
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
        let scripts = sandbox::worker_owner(user);
        disk.begin_anew(scripts)?;
        for folder in FOLDERS {
            private(&disk.root.join(folder))?;
        }
        faults::make(&disk)?;
        if let Some(owner) = scripts {
            disk.hand_over(owner)?;
        }
        Ok(disk)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Everybody may write in /var/tmp: what lies there under our name must be ours, or have been handed over by us, before
    /// it is touched.
    fn begin_anew(&self, scripts: Option<(u32, u32)>) -> io::Result<()> {
        let is_ours =
            |uid: u32| uid == rustix::process::geteuid().as_raw() || scripts.is_some_and(|(owner, _)| uid == owner);
        match fs::symlink_metadata(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(found) if found.is_dir() && is_ours(found.uid()) => fs::remove_dir_all(&self.root)?,
            Ok(_) => return Err(io::Error::other(format!("`{}` is somebody else's", self.root.display()))),
            Err(error) => return Err(error),
        }
        private(&self.root)
    }

    /// Scripts run as another user where this is root, and nobody else looks in: all of it becomes that user's. Its root
    /// last, so that the user finds nothing half made.
    fn hand_over(&self, (uid, gid): (u32, u32)) -> io::Result<()> {
        for folder in FOLDERS.map(|folder| self.path(folder)) {
            for entry in fs::read_dir(&folder)? {
                chown(entry?.path(), Some(uid), Some(gid))?;
            }
            chown(folder, Some(uid), Some(gid))?;
        }
        chown(&self.root, Some(uid), Some(gid))
    }
}

/// A new directory that is its owner's alone, from its first moment on.
fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
