//! Walking the whole chain.

use super::head::{self, SignedHead};
use super::report::{ChainReport, Flaw, FlawKind};
use super::strays::{self, Met};
use super::{CAPSULES_PRUNED, GENESIS, RUN_RECORDED, RunDetail, link};
use crate::keys::AuditKey;
use crate::store::{Conn, Row, args};
use crate::{Home, Ledger, LedgerError, capsule};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;

impl Ledger {
    /// Walks the whole chain: hashes, signed heads (of the ledger and of the exported file), capsules.
    pub async fn verify(&self) -> Result<ChainReport, LedgerError> {
        // The heads of the file first: they then cannot be newer than what the walk sees.
        let (key, exported) = (self.key.clone(), exported_heads(&self.heads)?);
        self.store.snapshot(move |conn| verify(conn, &key, &exported)).await
    }

    /// The same for a ledger that is only looked at: nothing is written, so that it also works where nothing can be.
    pub fn verify_at(home: &Home, keys: &Path) -> Result<ChainReport, LedgerError> {
        let (key, exported) = (AuditKey::existing(keys)?, exported_heads(&home.heads())?);
        home.examine(move |conn| verify(conn, &key, &exported))
    }
}

/// Heads, and the first thing in their place that is none.
type Heads = (BTreeSet<SignedHead>, Option<Flaw>);

/// Checks every entry, head and capsule as of one moment, and stops at the first flaw.
fn verify(conn: &dyn Conn, key: &AuditKey, (exported, no_line): &Heads) -> Result<ChainReport, LedgerError> {
    let (kept, no_row) = kept_heads(conn)?;
    let mut walk = Walk::new(conn, key, exported.union(&kept))?;
    let mut flaw = walk.entries()?.or(no_line.clone()).or(no_row);
    // A head is kept before it is exported.
    flaw = flaw.or_else(|| exported.difference(&kept).next().map(Flaw::head_missing));
    if flaw.is_none() {
        flaw = strays::find(conn, &walk.recorded)?;
    }
    Ok(ChainReport { flaw, ..walk.report })
}

/// The heads of the table, and whether a row is none.
fn kept_heads(conn: &dyn Conn) -> Result<Heads, LedgerError> {
    let (mut heads, mut unreadable) = (BTreeSet::new(), None);
    for row in conn.query("SELECT * FROM audit_heads", &[])? {
        match SignedHead::read(&row) {
            Ok(head) => drop(heads.insert(head)),
            Err(_) => unreadable = unreadable.or_else(|| Some(Flaw::bad_head("a row of `audit_heads`"))),
        }
    }
    Ok((heads, unreadable))
}

/// The heads of the file, and the first line that is none.
fn exported_heads(path: &Path) -> Result<Heads, LedgerError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        other => other.map_err(LedgerError::file("read", path))?,
    };
    let (mut heads, mut unreadable) = (BTreeSet::new(), None);
    // A last line without its end is one that is being written, or was when the machine stopped.
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    for (i, line) in lines.enumerate() {
        match serde_json::from_slice(line) {
            Ok(head) => drop(heads.insert(head)),
            Err(_) => {
                let place = format!("line {} of `{}`", i + 1, head::FILE);
                unreadable = unreadable.or_else(|| Some(Flaw::bad_head(&place)));
            }
        }
    }
    Ok((heads, unreadable))
}

const NOT_SIGNED: &str = "a head of it is not signed with this ledger's key";

struct Walk<'a> {
    conn: &'a dyn Conn,
    key: &'a AuditKey,
    /// Heads that no entry has met yet, by entry.
    heads: BTreeMap<i64, Vec<SignedHead>>,
    /// Capsules made before this may be gone.
    pruned_before: String,
    /// Runs that have an entry.
    recorded: Met,
    report: ChainReport,
}

/// Why a walk ends early: for what it is there to find, or because the file cannot be read.
enum Stop {
    Flaw(Flaw),
    Error(LedgerError),
}

impl Stop {
    fn at(seq: i64, kind: FlawKind, message: impl Into<String>) -> Self {
        Self::Flaw(Flaw { seq: Some(seq), kind, message: message.into() })
    }
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Self {
        Self::Error(error)
    }
}

/// The parts of an entry that the walk looks into.
#[derive(Deserialize)]
struct Seen {
    seq: i64,
    kind: String,
    run_id: Option<String>,
    detail: Option<Box<RawValue>>,
}

impl<'a> Walk<'a> {
    fn new(
        conn: &'a dyn Conn,
        key: &'a AuditKey,
        signed: impl Iterator<Item = &'a SignedHead>,
    ) -> Result<Self, LedgerError> {
        let mut report = ChainReport { entries: 0, signed: 0, heads: 0, capsules: 0, pruned: 0, flaw: None };
        let mut heads = BTreeMap::<i64, Vec<SignedHead>>::new();
        for head in signed {
            report.heads += 1;
            if head.is_signed_with(key) {
                report.signed = report.signed.max(head.seq);
            }
            heads.entry(head.seq).or_default().push(head.clone());
        }
        let pruned_before = pruned_before(conn, report.signed)?;
        Ok(Self { conn, key, heads, pruned_before, recorded: Met::default(), report })
    }

    fn entries(&mut self) -> Result<Option<Flaw>, LedgerError> {
        let (conn, mut last, mut flaw) = (self.conn, GENESIS.to_owned(), None);
        let mut see = |row: &Row| {
            let due = self.report.entries + 1;
            match self.entry(due, row, &last) {
                Ok(hash) => last = hash,
                Err(Stop::Error(error)) => return Err(error),
                Err(Stop::Flaw(found)) => {
                    flaw = Some(found);
                    return Ok(ControlFlow::Break(()));
                }
            }
            self.report.entries = due;
            Ok(ControlFlow::Continue(()))
        };
        conn.each("SELECT seq, entry_json, prev_hash, hash FROM audit ORDER BY seq", &mut see)?;
        Ok(flaw.or_else(|| self.heads_beyond()))
    }

    /// Heads that no entry has met: of entries that were cut off, or of none that ever were.
    fn heads_beyond(&self) -> Option<Flaw> {
        if let Some(forged) = self.heads.values().flatten().find(|head| !head.is_signed_with(self.key)) {
            return Some(Flaw { seq: Some(forged.seq), kind: FlawKind::HeadForged, message: NOT_SIGNED.into() });
        }
        let (signed, _) = self.heads.last_key_value()?;
        let message = format!("it is missing; a signed head knows of {signed} entries, so the tail was cut");
        Some(Flaw { seq: Some(self.report.entries + 1), kind: FlawKind::TailCut, message })
    }

    /// Checks the entry that is due; its hash.
    fn entry(&mut self, due: i64, row: &Row, last: &str) -> Result<String, Stop> {
        let next: i64 = row.get("seq")?;
        if next != due {
            return Err(Stop::at(due, FlawKind::EntryMissing, format!("it is missing; the next one is {next}")));
        }
        // What is no text any more was written into the file past SQLite.
        let text = |column| row.get::<String>(column).map_err(|_| changed(due, "it is not text"));
        let (entry, prev, hash) = (text("entry_json")?, text("prev_hash")?, text("hash")?);
        let hashed = link(&prev, &entry) == hash;
        let seen: Seen = serde_json::from_str(&entry).map_err(|_| changed(due, "it cannot be read"))?;
        if hashed && seen.seq != due {
            return Err(Stop::at(due, FlawKind::OutOfOrder, format!("entry {} stands in its place", seen.seq)));
        }
        if prev != last {
            return Err(changed(due, "it does not follow from the one before"));
        }
        if !hashed {
            return Err(changed(due, "its text does not have its hash"));
        }
        self.heads_at(due, &hash)?;
        if seen.kind == RUN_RECORDED {
            self.capsule(due, &seen)?;
        }
        Ok(hash)
    }

    fn heads_at(&mut self, due: i64, hash: &str) -> Result<(), Stop> {
        for head in self.heads.remove(&due).unwrap_or_default() {
            if !head.is_signed_with(self.key) {
                return Err(Stop::at(due, FlawKind::HeadForged, NOT_SIGNED));
            }
            if head.hash != hash {
                let message = "a signed head has another hash for it, so the chain was written anew";
                return Err(Stop::at(due, FlawKind::Rewritten, message));
            }
        }
        Ok(())
    }

    fn capsule(&mut self, due: i64, seen: &Seen) -> Result<(), Stop> {
        let detail = seen.detail.as_ref().and_then(|raw| serde_json::from_str::<RunDetail>(raw.get()).ok());
        let (Some(detail), Some(run_id)) = (detail, &seen.run_id) else {
            return Err(changed(due, "it speaks of a run, but does not say which"));
        };
        if !self.recorded.add(run_id) {
            return Err(Stop::Flaw(Flaw::recorded_twice(run_id, due)));
        }
        let kept = self.conn.first("SELECT * FROM run_capsules WHERE run_id = $1", args![run_id])?;
        let (kind, what) = match kept {
            Some(row) if capsule::digest_of_row(&row).is_ok_and(|digest| digest == detail.capsule) => {
                self.report.capsules += 1;
                return Ok(());
            }
            None if detail.created_at < self.pruned_before => {
                self.report.pruned += 1;
                return Ok(());
            }
            Some(_) => (FlawKind::CapsuleChanged, "was changed"),
            None => (FlawKind::CapsuleMissing, "is missing"),
        };
        Err(Stop::at(due, kind, format!("the capsule of run `{run_id}` {what}")))
    }
}

fn changed(seq: i64, message: &str) -> Stop {
    Stop::at(seq, FlawKind::EntryChanged, message)
}

/// As the chain itself says it, in entries that the walk checks like any other, and that are signed: anybody could add
/// one at the end and then take away what they like.
fn pruned_before(conn: &dyn Conn, signed: i64) -> Result<String, LedgerError> {
    let sql = format!("SELECT entry_json FROM audit WHERE seq <= $1 AND entry_json LIKE '%\"{CAPSULES_PRUNED}\"%'");
    let said = conn.query(&sql, args![signed])?;
    // One that was damaged must not end the walk before it has begun.
    let entries = said.iter().filter_map(|row| row.json::<serde_json::Value>("entry_json").ok());
    let pruned = entries.filter(|entry| entry.get("kind").is_some_and(|kind| kind == CAPSULES_PRUNED));
    let before = pruned.filter_map(|entry| entry.get("detail")?.get("before")?.as_str().map(str::to_owned));
    Ok(before.max().unwrap_or_default())
}
