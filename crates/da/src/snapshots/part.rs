//! A copy on its way, which nobody sees before it is whole.

use super::install::Held;
use crate::files;
use crate::place::{Place, Shelf};
use crate::problem::{Exit, Problem, Result};
use crate::signals;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;

/// Its file is locked as long as this lives, and gone when it is dropped before it was installed.
#[derive(Debug)]
pub struct Part {
    pub shelf: Shelf,
    pub name: String,
    pub path: PathBuf,
    file: File,
    installed: bool,
}

impl Part {
    /// One program at a time fetches into a name; another one is told so at once.
    pub fn begin(place: &Place, _held: &Held, shelf: Shelf, name: &str) -> Result<Self> {
        let path = place.shelf(shelf).join(format!(".{name}.part"));
        let failed = |error: std::io::Error| Problem::file(&format!("`{}` cannot be written", path.display()), &error);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another command is fetching into `{name}`");
                let hint = "wait for it, or choose another name with --as";
                return Err(Problem::new(Exit::Exists, "snapshot_busy", message, hint));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        file.set_len(0).map_err(failed)?;
        signals::remove_if_interrupted(&path);
        Ok(Self { shelf, name: name.to_owned(), path, file, installed: false })
    }

    pub fn writer(&self) -> Result<File> {
        self.file.try_clone().map_err(|error| Problem::file("the snapshot cannot be written", &error))
    }

    /// What is written is on the disk; its size.
    pub fn sync(&self) -> Result<u64> {
        let length = self.file.sync_all().and_then(|()| self.file.metadata()).map(|meta| meta.len());
        length.map_err(|error| Problem::file("the snapshot cannot be written", &error))
    }

    pub fn installed(mut self) {
        self.installed = true;
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.installed {
            // What cannot be removed is swept up by the next command.
            drop(files::remove(&self.path));
            signals::finished(&self.path);
        }
    }
}
