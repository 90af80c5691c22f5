//! What ran here: durable before it runs, so that nothing runs twice, whatever happens to this device.
//!
//! One file a package. `begun` is written and synced before the script starts; the result takes its place. A file that
//! still says `begun` at a start is a script that was interrupted: it is reported as such and never run again.

use crate::config::{failed, write_durably};
use domain::Fault;
use domain::package::{ClaimToken, ScriptResult, SignedPackage};
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What is known of one package.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub package_id: String,
    /// What was approved; empty where the package can't be opened.
    pub digest: String,
    pub claim_token: ClaimToken,
    pub signed: SignedPackage,
    /// None while it runs, or if this device went down meanwhile.
    pub result: Option<ScriptResult>,
    /// What it said, redacted; until the house has it.
    pub log: String,
    /// Whether the house has the result.
    pub reported: bool,
}

pub struct Journal {
    dir: PathBuf,
}

impl Journal {
    pub fn open(state: &Path) -> Result<Self, Fault> {
        let dir = state.join("journal");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(|e| failed("device.journal", e))?;
        Ok(Self { dir })
    }

    /// Notes that this package is about to run. False if it is known: then it must not.
    pub fn begin(&self, entry: &Entry) -> Result<bool, Fault> {
        let path = self.path(&entry.package_id);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let mut file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            made => made.map_err(|e| failed("device.journal", e))?,
        };
        let write = |file: &mut fs::File| -> io::Result<()> {
            file.write_all(&serde_json::to_vec(entry)?)?;
            file.sync_all()?;
            fs::File::open(&self.dir)?.sync_all()
        };
        write(&mut file).map_err(|e| failed("device.journal", e))?;
        Ok(true)
    }

    pub fn update(&self, entry: &Entry) -> Result<(), Fault> {
        let bytes = serde_json::to_vec(entry).map_err(|e| failed("device.journal", e))?;
        write_durably(&self.path(&entry.package_id), &bytes).map_err(|e| failed("device.journal", e))
    }

    pub fn find(&self, package_id: &str) -> Option<Entry> {
        serde_json::from_slice(&fs::read(self.path(package_id)).ok()?).ok()
    }

    /// Packages that the house has no result of, oldest first. A file that was cut short is one that never began to run.
    pub fn unreported(&self) -> Vec<Entry> {
        let names = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut entries: Vec<Entry> = names
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok())
            .filter(|entry: &Entry| !entry.reported)
            .collect();
        entries.sort_by(|a, b| a.package_id.cmp(&b.package_id));
        entries
    }

    /// By the digest of its id: an id is never a path.
    fn path(&self, package_id: &str) -> PathBuf {
        self.dir.join(format!("{}.json", domain::sha256_hex(package_id.as_bytes())))
    }
}
