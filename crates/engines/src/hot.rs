//! Hot copies: tables in DuckDB's own format, read instead of their files.
//!
//! A copy belongs to one state of one file, and is named for it: a file that changed has none until a new one is made.
//! It is made in a jail like any other, which can write nothing but its own scratch directory and hands the copy out
//! through its pipe; meanwhile statements read the file. A worker that cannot open a copy reads the file as well, so
//! that no answer ever depends on one.

use crate::client::{Room, Worker};
use crate::fault;
use crate::source::{FileTable, Source, SourceKind, stamp};
use domain::{Fault, Kind};
use sandbox::{JailLimits, Sandbox};
use std::collections::HashSet;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a copy may take to make.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where copies are kept, and how large one may get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotSettings {
    pub dir: PathBuf,
    pub most_bytes: u64,
}

/// The copies of this house.
pub(crate) struct HotCopies {
    settings: HotSettings,
    /// Copies that are being made, and those that could not be made: neither is begun again.
    begun: Mutex<HashSet<PathBuf>>,
}

impl HotCopies {
    pub fn new(settings: HotSettings) -> Self {
        Self { settings, begun: Mutex::default() }
    }

    /// The tables of a source that are to have copies, each with the place of the copy of its present state.
    pub fn wanted<'s>(&self, source: &'s Source) -> Vec<(&'s FileTable, PathBuf)> {
        let SourceKind::Files(tables) = &source.kind else { return Vec::new() };
        let hot = tables.iter().filter(|table| table.hot);
        hot.filter_map(|table| Some((table, self.place(&source.name, table).ok()?))).collect()
    }

    /// Whether this copy is to be made now, by whoever asks first.
    pub fn begin(&self, copy: &Path) -> bool {
        !copy.exists() && self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(copy.to_owned())
    }

    /// Makes a copy; older ones of the same table go. A file that changes meanwhile has none under this name.
    pub async fn make(
        &self,
        sandbox: Arc<Sandbox>,
        (source, table): (&str, &FileTable),
        copy: &Path,
        room: Room,
    ) -> Result<(), Fault> {
        let is_of = || self.place(source, table).is_ok_and(|place| place == copy);
        let before = is_of();
        let part = copy.with_extension("part");
        let made = tokio::time::timeout(PATIENCE, self.write(sandbox, table, &part, room)).await;
        let made = made.unwrap_or_else(|_| Err(fault::timeout(PATIENCE.as_secs())));
        if made.is_ok() && before && is_of() {
            std::fs::rename(&part, copy).map_err(|e| unmade("kept", &e))?;
            self.forget_older(copy);
        } else {
            // What there is of it serves nobody.
            let _ = std::fs::remove_file(&part);
        }
        made
    }

    async fn write(&self, sandbox: Arc<Sandbox>, table: &FileTable, part: &Path, room: Room) -> Result<(), Fault> {
        let most = self.settings.most_bytes;
        // The copy stands in the jail's scratch directory, which is memory, until it has been handed out.
        let jail = JailLimits { tmp_bytes: most, memory_bytes: room.jail.memory_bytes + most, ..room.jail };
        // Beside the directory of the copies nothing has to be readable for the workers' user.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o711)
            .create(&self.settings.dir)
            .map_err(|e| unmade("kept", &e))?;
        let mut options = tokio::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(part).await.map_err(|e| unmade("kept", &e))?;
        Worker::copy_out(sandbox, table, Room { jail, ..room }, most, &mut file).await?;
        let mode = std::fs::metadata(&table.path).map_err(|e| unmade("read", &e))?.permissions().mode();
        // Whoever may read the file may read its copy, and nobody else.
        let mode = std::fs::Permissions::from_mode(mode & 0o444);
        std::fs::set_permissions(part, mode).map_err(|e| unmade("kept", &e))
    }

    fn place(&self, source: &str, table: &FileTable) -> io::Result<PathBuf> {
        let (size, changed) = stamp(&table.path)?;
        let whose = domain::sha256_hex(format!("{source}\0{}", table.table).as_bytes());
        // Another version of the house may come with another DuckDB.
        let house = env!("CARGO_PKG_VERSION");
        let state = format!("{}\0{size}\0{changed}\0{house}", table.path.display());
        let state = domain::sha256_hex(state.as_bytes());
        Ok(self.settings.dir.join(format!("{whose:.16}-{state:.16}.duckdb")))
    }

    /// Workers that still read an older copy have it open, and keep it until they end.
    fn forget_older(&self, copy: &Path) {
        let name = copy.file_name().unwrap_or_default().to_string_lossy();
        let Some((whose, _)) = name.split_once('-') else { return };
        for entry in std::fs::read_dir(&self.settings.dir).into_iter().flatten().flatten() {
            let other = entry.file_name();
            let other = other.to_string_lossy();
            if other.starts_with(whose) && other != name && other.ends_with(".duckdb") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn unmade(what: &str, error: &io::Error) -> Fault {
    tracing::warn!(%error, "a hot copy cannot be {what}");
    Fault::new(Kind::Unavailable, "engine.hot_copy", format!("a hot copy cannot be {what}"))
        .hint("see the server's log; the table's file is read meanwhile")
}
