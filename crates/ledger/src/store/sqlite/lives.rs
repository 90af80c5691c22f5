//! Which servers on this file are alive: each holds a lock on a file of its own, which the system lets go of when the
//! process ends, however it ends.

use crate::{LedgerError, files};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub(crate) struct Lives {
    dir: PathBuf,
}

impl Lives {
    pub(crate) fn beside(ledger: &Path) -> Self {
        let mut dir = ledger.as_os_str().to_owned();
        dir.push("-servers");
        Self { dir: dir.into() }
    }

    /// As long as the file is held, server `id` is alive.
    pub(crate) fn begin(&self, id: &str) -> Result<File, LedgerError> {
        files::private_dir(&self.dir)?;
        let path = self.dir.join(id);
        let open = || {
            let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            file.lock().map(|()| file)
        };
        open().map_err(LedgerError::file("lock", &path))
    }

    /// Where that cannot be found out, it is taken to be alive.
    pub(crate) fn is_over(&self, id: &str) -> bool {
        match File::open(self.dir.join(id)) {
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
            Ok(file) => file.try_lock().is_ok(),
        }
    }

    /// Nothing is left of a server that is over.
    pub(crate) fn forget(&self, id: &str) {
        if !id.is_empty() {
            drop(fs::remove_file(self.dir.join(id)));
        }
    }
}
