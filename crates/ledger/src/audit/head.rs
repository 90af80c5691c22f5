//! Signed heads: what the chain was at some moment, so that it can be held to it later.
//!
//! A head is kept in the table `audit_heads` and exported to `audit-heads.jsonl`, beside the ledger's file or in each server's
//! own directory.
//! A copy of that file on another machine proves the chain even against whoever owns this one.

use crate::keys::AuditKey;
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
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
    fn new(seq: i64, hash: String, key: &AuditKey) -> Self {
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

impl Ledger {
    /// Signs the last entry and exports the signature. None while the chain is empty.
    pub async fn sign_head(&self) -> Result<Option<SignedHead>, LedgerError> {
        let (key, file) = (self.key.clone(), self.heads.clone());
        let Some(head) = self.write(move |conn| sign(conn, &key)).await? else { return Ok(None) };
        let exported = move || export(&file, &head).map(|()| Some(head));
        tokio::task::spawn_blocking(exported).await.map_err(|_| LedgerError::Closed)?
    }
}

/// Signs the last entry, in a write transaction. Nothing new since the last head: that one. Nothing at all: none.
fn sign(conn: &dyn Conn, key: &AuditKey) -> Result<Option<SignedHead>, LedgerError> {
    let Some((seq, hash)) = super::tail(conn)? else { return Ok(None) };
    if let Some(known) = conn.first("SELECT * FROM audit_heads WHERE seq = $1", args![seq])? {
        return SignedHead::read(&known).map(Some);
    }
    let head = SignedHead::new(seq, hash, key);
    conn.execute(
        "INSERT INTO audit_heads (seq, hash, at, key, signature) VALUES ($1, $2, $3, $4, $5)",
        args![head.seq, &head.hash, &head.at, &head.key, &head.signature],
    )?;
    Ok(Some(head))
}

/// Adds a head to the exported file, unless it is its last line already. Called only after the
/// head's entry is on disk: a file that is ahead of its chain means that the chain was cut.
fn export(path: &Path, head: &SignedHead) -> Result<(), LedgerError> {
    let line = serde_json::to_string(head)?;
    append_line(path, &line).map_err(LedgerError::file("append to", path))
}

fn append_line(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    // Another process may be exporting too. Closing the file lets go of the lock.
    file.lock()?;
    let end = cut_torn_line(&mut file)?;
    let tail = last_bytes(&mut file, end)?;
    if tail.trim_end().ends_with(line) {
        return Ok(());
    }
    let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_data());
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
