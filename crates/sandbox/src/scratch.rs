//! The scratch directory of a worker without a mount namespace of its own.

use crate::account::Account;
use crate::owned_name;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const KIND: &str = "scratch";

/// Private to the worker's user. Removed on drop.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn create(owner: Option<&Account>) -> io::Result<Self> {
        let scratch = loop {
            let path = env::temp_dir().join(owned_name::fresh(KIND));
            // Never one that exists: somebody else may have made it, to look inside.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break made.map(|()| Self(path))?,
            }
        };
        if let Some(owner) = owner {
            chown(&scratch.0, Some(owner.uid), Some(owner.gid))?;
        }
        Ok(scratch)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What could not be removed now, the next server's sweep tries again.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes what killed servers left.
pub(crate) fn sweep() {
    owned_name::orphans(&env::temp_dir(), KIND, |dir| fs::remove_dir_all(dir));
}
