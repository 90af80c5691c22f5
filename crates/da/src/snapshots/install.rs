//! Putting a copy in its place: one rename decides, and what follows is finished by whoever comes next.

use super::{Meta, Part, publish};
use crate::files;
use crate::place::{Place, Shelf};
use crate::problem::{Problem, Result};
use crate::{print, signals};
use serde::Serialize;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The lock of spec 004 §4.2: nobody else installs, drops or sweeps.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

impl Place {
    /// Waits for the lock, and finishes what others left.
    pub fn lock(&self) -> Result<Held> {
        self.make()?;
        let failed = |error: io::Error| Problem::file("the snapshots cannot be locked", &error);
        let options = File::options().read(true).write(true).create(true).truncate(false).open(self.lock_file());
        let file = options.map_err(failed)?;
        file.lock().map_err(failed)?;
        let held = Held { _file: file };
        self.tidy(&held).map_err(|error| Problem::file("the snapshots cannot be tidied", &error))?;
        Ok(held)
    }

    /// Makes a part the copy of its name. From the commit on it counts as done, whatever happens to this program.
    pub fn install(&self, held: &Held, part: Part, sidecar: &impl Serialize) -> Result<()> {
        let (shelf, name) = (part.shelf, part.name.clone());
        let mut uninterrupted = signals::uninterrupted();
        let text = serde_json::to_vec_pretty(sidecar).unwrap_or_default();
        let commit = self.shelf(shelf).join(commit_name(&name));
        let failed = |error: io::Error| Problem::file(&format!("`{name}` cannot be installed"), &error);
        fs::write(self.behind(), []).map_err(failed)?;
        decided(&commit, files::write(&commit, &text)).map_err(failed)?;
        uninterrupted.finished(&part.path);
        part.installed();
        self.finish(shelf, &name).map_err(|error| {
            let what = format!("`{name}` is whole, but cannot be put in its place (the next `da` command will)");
            Problem::file(&what, &error)
        })?;
        self.publish_or_warn(held, &[&name]);
        Ok(())
    }

    /// Says something newer of a snapshot whose file stays as it is.
    pub fn rewrite(&self, _held: &Held, meta: &Meta) -> Result<()> {
        let text = serde_json::to_vec_pretty(meta).unwrap_or_default();
        files::write(&self.sidecar(Shelf::Snapshots, &meta.name), &text)
            .map_err(|error| Problem::file(&format!("the sidecar of `{}` cannot be written", meta.name), &error))
    }

    /// Takes a copy away: first its sidecar, by which it is known.
    pub fn remove(&self, held: &Held, shelf: Shelf, names: &[&str]) -> Result<()> {
        let _uninterrupted = signals::uninterrupted();
        for name in names {
            let gone = fs::write(self.behind(), [])
                .and_then(|()| files::remove(&self.sidecar(shelf, name)))
                .and_then(|()| files::remove(&self.parquet(shelf, name)));
            gone.map_err(|error| Problem::file(&format!("`{name}` cannot be removed"), &error))?;
        }
        self.publish_or_warn(held, &[]);
        Ok(())
    }

    /// Brings the views up to date, if they may lag behind. Whether they are now.
    pub fn catch_up(&self) -> bool {
        !self.behind().exists() || self.lock().is_ok_and(|held| publish(self, &held, &[]).is_ok())
    }

    /// The copy is there and known by its sidecar: a view that has to wait is no failure.
    fn publish_or_warn(&self, held: &Held, changed: &[&str]) {
        if let Err(problem) = publish(self, held, changed) {
            print::warn(format!("{}; the next `da` command tries again", problem.message));
        }
    }

    /// The renames that follow a commit. Each may have been done already.
    fn finish(&self, shelf: Shelf, name: &str) -> io::Result<()> {
        let dir = self.shelf(shelf);
        let parquet = self.parquet(shelf, name);
        match fs::rename(dir.join(format!(".{name}.part")), &parquet) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(dir.join(commit_name(name)), self.sidecar(shelf, name))?;
        files::sync_directory(&parquet)
    }

    /// Finishes commits, and removes parts that nobody writes any more.
    fn tidy(&self, _held: &Held) -> io::Result<()> {
        for shelf in Shelf::ALL {
            let entries = fs::read_dir(self.shelf(shelf))?.filter_map(|e| e.ok()?.file_name().into_string().ok());
            let hidden: Vec<String> = entries.filter(|name| name.starts_with('.') && name != ".lock").collect();
            for name in hidden.iter().filter_map(|name| name.strip_prefix('.')?.strip_suffix(".commit")) {
                fs::write(self.behind(), [])?;
                self.finish(shelf, name)?;
            }
            for name in &hidden {
                let path = self.shelf(shelf).join(name);
                if name.ends_with(".new") || (name.ends_with(".part") && is_orphan(&path)) {
                    files::remove(&path)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a commit stands, which may be in its place although writing it failed (its directory could not be synced).
/// It is taken back then: without its part, which goes with the failure, it would name the new copy and mean the old file.
/// One that cannot be taken back stands, and its part with it.
fn decided(commit: &Path, written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if files::remove(commit).is_ok() || !commit.exists() => {
            // Of a disk that fails no more can be asked.
            drop(files::sync_directory(commit));
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Whoever writes a part holds a lock on it.
fn is_orphan(part: &Path) -> bool {
    File::open(part).is_ok_and(|file| file.try_lock().is_ok())
}

fn commit_name(name: &str) -> String {
    format!(".{name}.commit")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rename of a commit that could not be made to last.
    #[test]
    fn a_commit_that_failed_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let commit = dir.path().join(commit_name("copy"));
        let unsynced = || io::Result::<()>::Err(io::ErrorKind::Other.into());
        assert!(decided(&commit, unsynced()).is_err(), "it was never there");
        fs::write(&commit, "{}").unwrap();
        assert!(decided(&commit, unsynced()).is_err());
        assert!(!commit.exists(), "nobody finishes it later without its part");
        // What is in its place and cannot be removed: a directory, for example.
        fs::create_dir(&commit).unwrap();
        assert!(decided(&commit, unsynced()).is_ok());
    }
}
