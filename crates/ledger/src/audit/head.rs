//! Signed heads: what the chain was at some moment, so that it can be held to it later.
//!
//! A head is kept in the table `audit_heads` and exported to `audit-heads.jsonl`, beside the ledger's file or in each server's
//! own directory.
//! A copy of that file on another machine proves the chain even against whoever owns this one.

use crate::keys::AuditKey;
use crate::store::Row;
use crate::{LedgerError, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) const FILE: &str = "audit-heads.jsonl";
/// Longer than any line of the file.
const TAIL: u64 = 4096;

/// The chain had `seq` entries, the last with `hash`; signed at `at` with the private half of `key`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SignedHead {
    pub seq: i64,
    pub hash: String,
    pub at: String,
    pub key: String,
    pub signature: String,
}

impl SignedHead {
    pub(super) fn new(seq: i64, hash: String, key: &AuditKey) -> Self {
        let at = time::text(Timestamp::now());
        let signature = key.sign(&message(seq, &hash, &at));
        Self { seq, hash, at, key: key.public(), signature }
    }

    pub(crate) fn is_signed_with(&self, key: &AuditKey) -> bool {
        self.key == key.public() && key.verifies(&message(self.seq, &self.hash, &self.at), &self.signature)
    }

    pub(crate) fn read(row: &Row) -> Result<Self, LedgerError> {
        let (seq, hash, at, key, signature) =
            (row.get("seq")?, row.get("hash")?, row.get("at")?, row.get("key")?, row.get("signature")?);
        Ok(Self { seq, hash, at, key, signature })
    }
}

fn message(seq: i64, hash: &str, at: &str) -> Vec<u8> {
    format!("gatehouse audit head 1\n{seq}\n{hash}\n{at}\n").into_bytes()
}

/// How far the exported file has come.
pub(crate) enum Exported {
    Nothing,
    /// Its last line is of this entry.
    UpTo(i64),
    /// Its last line is no head, which `verify` tells.
    Unreadable,
}

pub(crate) fn last_exported(path: &Path) -> Result<Exported, LedgerError> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Exported::Nothing),
        other => other.map_err(LedgerError::file("read", path))?,
    };
    let end = file.metadata().map_err(LedgerError::file("look at", path))?.len();
    let tail = last_bytes(&mut file, end).map_err(LedgerError::file("read", path))?;
    let whole = tail.rfind('\n').and_then(|end| tail.get(..end)).unwrap_or_default();
    Ok(match whole.lines().next_back() {
        None => Exported::Nothing,
        Some(line) => serde_json::from_str::<SignedHead>(line).map_or(Exported::Unreadable, |h| Exported::UpTo(h.seq)),
    })
}

/// Adds heads to the exported file, unless they are among its last lines already. Called only after their entries are on
/// disk: a file that is ahead of its chain means that the chain was cut.
pub(crate) fn export(path: &Path, heads: &[SignedHead]) -> Result<(), LedgerError> {
    let lines = heads.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    append_lines(path, &lines).map_err(LedgerError::file("append to", path))
}

/// Exports those of all heads that the file lacks; which those were.
pub(crate) fn fill(path: &Path, kept: &[SignedHead]) -> Result<Vec<SignedHead>, LedgerError> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        other => other.map_err(LedgerError::file("read", path))?,
    };
    let exported: BTreeSet<SignedHead> =
        text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let missing: Vec<SignedHead> = kept.iter().filter(|head| !exported.contains(head)).cloned().collect();
    if !missing.is_empty() {
        let newest = kept.last().filter(|newest| missing.last() != Some(newest)).cloned();
        export(path, &missing.iter().cloned().chain(newest).collect::<Vec<_>>())?;
    }
    Ok(missing)
}

fn append_lines(path: &Path, lines: &[String]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    // Another process may be exporting too. Closing the file lets go of the lock.
    file.lock()?;
    let end = cut_torn_line(&mut file)?;
    let tail = last_bytes(&mut file, end)?;
    let is_new = |line: &&String| tail.lines().all(|known| known != *line);
    if !lines.iter().any(|line| is_new(&line)) {
        return Ok(());
    }
    // The last line says how far the file has come: it stands after those that came late, also if it is there already.
    let last = lines.last().filter(|line| !is_new(line));
    let new: String = lines.iter().filter(is_new).chain(last).map(|line| format!("{line}\n")).collect();
    let written = file.write_all(new.as_bytes()).and_then(|()| file.sync_data());
    if written.is_err() {
        file.set_len(end)?;
    }
    written
}

/// A line without its end was never exported: the machine stopped in the middle of it.
fn cut_torn_line(file: &mut File) -> std::io::Result<u64> {
    let end = file.metadata()?.len();
    let tail = last_bytes(file, end)?;
    let torn = tail.len() - tail.rfind('\n').map_or(0, |at| at + 1);
    let end = end.saturating_sub(torn as u64);
    if torn > 0 {
        file.set_len(end)?;
    }
    Ok(end)
}

fn last_bytes(file: &mut File, end: u64) -> std::io::Result<String> {
    file.seek(SeekFrom::Start(end.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
