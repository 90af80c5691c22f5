//! The contracts in force, read from their directory and reloaded when they change.
//!
//! A file that breaks keeps its last good text in force, and says so in the log, `/healthz` and
//! `doctor`. At start there is no last good text: a broken contract then keeps the house shut.

use arc_swap::ArcSwap;
use ledger::{AuditEvent, Ledger};
use policy::Policy;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

pub struct Contracts {
    dir: PathBuf,
    policy: ArcSwap<Policy>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Name, size and time of change of each file when it was last read.
    stamp: Vec<(String, u64, Option<SystemTime>)>,
    good: BTreeMap<String, String>,
    problems: Vec<String>,
}

impl Contracts {
    pub fn open(dir: &Path) -> Result<Self, Vec<String>> {
        let files = read(dir).map_err(|e| vec![format!("contracts in `{}` cannot be read: {e}", dir.display())])?;
        let policy = load(&files).map_err(|(_, problems)| problems)?;
        let state = State { stamp: stamp(dir), good: files, problems: Vec::new() };
        Ok(Self { dir: dir.to_owned(), policy: ArcSwap::from_pointee(policy), state: Mutex::new(state) })
    }

    pub fn policy(&self) -> Arc<Policy> {
        self.policy.load_full()
    }

    /// What is wrong with files that are not in force.
    pub fn problems(&self) -> Vec<String> {
        self.lock().problems.clone()
    }

    /// Takes up changes, if there are any, and puts the change of policy on record.
    pub async fn reload(&self, ledger: &Ledger) {
        let Some(fingerprint) = self.take_up() else { return };
        tracing::info!(policy = fingerprint, "contracts reloaded");
        let event =
            AuditEvent::new("contracts.reloaded").detail(serde_json::json!({ "policy_fingerprint": fingerprint }));
        if let Err(error) = ledger.append(event).await {
            tracing::error!(%error, "the reload of contracts cannot be recorded");
        }
    }

    /// The new fingerprint, if policy has changed.
    fn take_up(&self) -> Option<String> {
        let seen = stamp(&self.dir);
        let mut state = self.lock();
        if seen == state.stamp {
            return None;
        }
        state.stamp = seen;
        let files = match read(&self.dir) {
            Ok(files) => files,
            Err(error) => {
                state.problems = vec![format!("contracts cannot be read, the last good ones stay in force: {error}")];
                tracing::error!(%error, "contracts cannot be read");
                return None;
            }
        };
        let (policy, good, problems) = load_with_last_good(files, &state.good)?;
        for problem in &problems {
            tracing::error!(problem, "broken contract: its last good version stays in force");
        }
        state.good = good;
        state.problems = problems;
        let changed = policy.fingerprint() != self.policy.load().fingerprint();
        let fingerprint = policy.fingerprint().to_owned();
        self.policy.store(Arc::new(policy));
        changed.then_some(fingerprint)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Files = BTreeMap<String, String>;

/// The policy, or the files at fault and what is wrong with them.
fn load(files: &Files) -> Result<Policy, (BTreeSet<String>, Vec<String>)> {
    Policy::load(files.iter().map(|(name, text)| (name.clone(), text.clone()))).map_err(|errors| {
        let broken: BTreeSet<String> = errors.iter().map(|e| e.file.clone()).collect();
        (broken, errors.iter().map(ToString::to_string).collect())
    })
}

/// Replaces broken files by their last good text, or leaves them out, until the rest holds together.
fn load_with_last_good(mut files: Files, last_good: &Files) -> Option<(Policy, Files, Vec<String>)> {
    let mut problems = Vec::new();
    loop {
        match load(&files) {
            Ok(policy) => return Some((policy, files, problems)),
            Err((broken, said)) => {
                let before = files.clone();
                problems.extend(said);
                for name in broken {
                    match last_good.get(&name).filter(|good| files.get(&name) != Some(good)) {
                        Some(good) => files.insert(name, good.clone()),
                        None => files.remove(&name),
                    };
                }
                if files == before {
                    return None;
                }
            }
        }
    }
}

fn read(dir: &Path) -> std::io::Result<Files> {
    let mut files = Files::new();
    for entry in entries(dir)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, std::fs::read_to_string(entry.path())?);
    }
    Ok(files)
}

fn stamp(dir: &Path) -> Vec<(String, u64, Option<SystemTime>)> {
    let mut seen: Vec<_> = entries(dir)
        .unwrap_or_default()
        .iter()
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some((entry.file_name().to_string_lossy().into_owned(), meta.len(), meta.modified().ok()))
        })
        .collect();
    seen.sort();
    seen
}

/// The YAML files of the directory. No directory means no contracts: only admins see anything.
fn entries(dir: &Path) -> std::io::Result<Vec<std::fs::DirEntry>> {
    let listing = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let is_yaml = |e: &std::fs::DirEntry| e.path().extension().is_some_and(|x| x == "yaml" || x == "yml");
    Ok(listing.collect::<Result<Vec<_>, _>>()?.into_iter().filter(is_yaml).collect())
}
