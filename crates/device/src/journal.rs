//! What ran here: durable before it runs, so that nothing runs twice, whatever happens to this device.
//!
//! One file a package, which appears whole or not at all. Without a result it is a script that is running, or was running
//! when this device went down: it is reported as interrupted and never run again.

use crate::config::{failed, write_durably, write_synced};
use domain::Fault;
use domain::package::{ClaimToken, ScriptResult, SignedPackage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What a fault of the journal is called: without it nothing may run.
pub const FAILED: &str = "device.journal";

/// What is known of one package.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub package_id: String,
    /// What was approved; empty where the package can't be opened.
    pub digest: String,
    pub claim_token: ClaimToken,
    pub signed: SignedPackage,
    /// When it was opened, and the public half of the key that had signed it: what it is opened by again for its rollback.
    /// A journal of an earlier version lacks them.
    #[serde(default)]
    pub begun_at: Option<Timestamp>,
    #[serde(default)]
    pub signed_with: Option<String>,
    /// None while it runs, or if this device went down meanwhile.
    pub result: Option<ScriptResult>,
    /// What it said, redacted, in the pieces that it is sent in.
    pub log: Vec<String>,
    /// How many of them the house has.
    pub log_sent: usize,
    pub told: Told,
}

/// Whether the house knows how it ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    #[default]
    NotYet,
    Heard,
    /// It would not hear it: told again only if it sends the package again.
    Refused,
}

pub struct Journal {
    dir: PathBuf,
}

impl Journal {
    pub fn open(state: &Path) -> Result<Self, Fault> {
        let dir = state.join("journal");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(|e| failed(FAILED, e))?;
        Ok(Self { dir })
    }

    /// Waits until no other process of this device is running a script; none will while this is held.
    pub fn alone(&self) -> Result<File, Fault> {
        let path = self.dir.join("running.lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        file.and_then(|file| file.lock().map(|()| file)).map_err(|e| failed(FAILED, e))
    }

    /// Notes that this package is about to run. False if it is known: then it must not.
    pub fn begin(&self, entry: &Entry) -> Result<bool, Fault> {
        let path = self.path(&entry.package_id);
        let begin = || -> io::Result<bool> {
            let draft = write_synced(&path, &serde_json::to_vec(entry)?)?;
            // Unlike a rename, a link never takes the place of a file.
            let linked = fs::hard_link(&draft, &path);
            let _ = fs::remove_file(&draft);
            match linked {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
                linked => linked?,
            }
            File::open(&self.dir)?.sync_all().map(|()| true)
        };
        begin().map_err(|e| failed(FAILED, e))
    }

    pub fn update(&self, entry: &Entry) -> Result<(), Fault> {
        let bytes = serde_json::to_vec(entry).map_err(|e| failed(FAILED, e))?;
        write_durably(&self.path(&entry.package_id), &bytes).map_err(|e| failed(FAILED, e))
    }

    pub fn find(&self, package_id: &str) -> Option<Entry> {
        serde_json::from_slice(&fs::read(self.path(package_id)).ok()?).ok()
    }

    /// Packages that the house was not told the end of, oldest first.
    pub fn untold(&self) -> Vec<Entry> {
        let names = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut entries: Vec<Entry> = names
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok())
            .filter(|entry: &Entry| entry.told == Told::NotYet)
            .collect();
        entries.sort_by(|a, b| a.package_id.cmp(&b.package_id));
        entries
    }

    /// By the digest of its id: an id is never a path.
    fn path(&self, package_id: &str) -> PathBuf {
        self.dir.join(format!("{}.json", domain::sha256_hex(package_id.as_bytes())))
    }
}
