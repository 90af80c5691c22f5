//! Walking the whole chain.

use super::head::{self, SignedHead};
use super::registers::{Registers, Said};
use super::report::{ChainReport, Flaw, FlawKind, Reexport};
use super::signing::{patience, young};
use super::span::{Moment, Span};
use super::strays::{self, Met};
use super::{CAPSULES_PRUNED, GENESIS, HEADS_MISSING, HEADS_REEXPORTED, RUN_RECORDED, RunDetail, link};
use crate::keys::AuditKey;
use crate::store::{Conn, Row, args};
use crate::{Home, Ledger, LedgerError, capsule, time};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

impl Ledger {
    /// Walks the whole chain: hashes, signed heads (of the ledger and of the exported file), capsules, and the tables that
    /// decide who may do what.
    pub async fn verify(&self) -> Result<ChainReport, LedgerError> {
        // The heads of the file first: they then cannot be newer than what the walk sees.
        let exported = Exported::read(&self.signing.file, self.signing.shared)?;
        let (key, patience) = (self.key.clone(), patience(self.signing.interval));
        self.store.snapshot(move |conn| verify(conn, &key, &exported, patience)).await
    }

    /// The same for a ledger that is only looked at: nothing is written, so that it also works where nothing can be. Its
    /// servers sign a head every `interval`.
    pub fn verify_at(home: &Home, keys: &Path, interval: Duration) -> Result<ChainReport, LedgerError> {
        let exported = Exported::read(&home.heads(), matches!(home, Home::Postgres { .. }))?;
        let key = AuditKey::existing(keys)?;
        home.examine(move |conn| verify(conn, &key, &exported, patience(interval)))
    }
}

/// Heads, and the first thing in their place that is none.
type Heads = (BTreeSet<SignedHead>, Option<Flaw>);

/// Checks every entry, head and capsule as of one moment, and stops at the first flaw.
fn verify(
    conn: &dyn Conn,
    key: &AuditKey,
    exported: &Exported,
    patience: SignedDuration,
) -> Result<ChainReport, LedgerError> {
    let (kept, no_row) = kept_heads(conn)?;
    let mut walk = Walk::new(conn, key, exported.heads.union(&kept))?;
    walk.report.exported = exported.is_there.then_some(exported.heads.len() as i64);
    let mut flaw = walk.entries()?.or(walk.undated.take()).or(exported.unreadable.clone()).or(no_row);
    flaw = flaw.or_else(|| exported.disagrees(&kept, patience)).or_else(|| walk.heads_missing(patience));
    if flaw.is_none() {
        flaw = strays::find(conn, &walk.recorded)?;
    }
    if flaw.is_none() {
        flaw = walk.registers.compare(conn)?;
    }
    // It stays true for good, so that it must not hide another one.
    Ok(ChainReport { flaw: flaw.or(walk.heads_were_missing), ..walk.report })
}

/// What the exported file says.
struct Exported {
    heads: BTreeSet<SignedHead>,
    unreadable: Option<Flaw>,
    is_there: bool,
    /// Each server has a file of its own, which need not know of what others signed.
    is_shared: bool,
}

impl Exported {
    fn read(path: &Path, is_shared: bool) -> Result<Self, LedgerError> {
        let is_there = path.exists();
        let (heads, unreadable) = exported_heads(path)?;
        Ok(Self { heads, unreadable, is_there, is_shared })
    }

    /// The first head that the file has and the table has not, or the other way round. A head is kept first, and exported
    /// at once: only a young one may be missing in the file.
    fn disagrees(&self, kept: &BTreeSet<SignedHead>, patience: SignedDuration) -> Option<Flaw> {
        if let Some(head) = self.heads.difference(kept).next() {
            return Some(Flaw::head_missing(head));
        }
        if !self.is_there {
            return None;
        }
        let young = young(patience);
        let (first, last) = (self.heads.first().map(|head| head.seq), self.heads.last().map_or(0, |head| head.seq));
        let is_due = |head: &&SignedHead| match self.is_shared {
            true => first.is_some_and(|first| first < head.seq) && head.seq < last,
            false => head.seq < last || head.at < young,
        };
        kept.difference(&self.heads).find(is_due).map(Flaw::head_unexported)
    }
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
    registers: Registers,
    /// Entries that no head covers.
    unsigned: Span,
    /// The first entry whose time cannot be read.
    undated: Option<Flaw>,
    heads_were_missing: Option<Flaw>,
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
    #[serde(default)]
    at: String,
    actor: Option<String>,
    role: Option<String>,
    run_id: Option<String>,
    detail: Option<Box<RawValue>>,
}

/// The entries that an entry of kind `heads.missing` names.
#[derive(Deserialize)]
struct Uncovered {
    from: i64,
    to: i64,
}

impl<'a> Walk<'a> {
    fn new(
        conn: &'a dyn Conn,
        key: &'a AuditKey,
        signed: impl Iterator<Item = &'a SignedHead>,
    ) -> Result<Self, LedgerError> {
        let mut report = ChainReport {
            entries: 0,
            signed: 0,
            unsigned_since: None,
            heads: 0,
            exported: None,
            reexported: None,
            capsules: 0,
            pruned: 0,
            flaw: None,
        };
        let mut heads = BTreeMap::<i64, Vec<SignedHead>>::new();
        for head in signed {
            report.heads += 1;
            if head.is_signed_with(key) {
                report.signed = report.signed.max(head.seq);
            }
            heads.entry(head.seq).or_default().push(head.clone());
        }
        let pruned_before = pruned_before(conn, report.signed)?;
        Ok(Self {
            conn,
            key,
            heads,
            pruned_before,
            recorded: Met::default(),
            registers: Registers::default(),
            unsigned: Span::default(),
            undated: None,
            heads_were_missing: None,
            report,
        })
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
        self.date(due, &seen.at);
        if seen.kind == RUN_RECORDED {
            self.capsule(due, &seen)?;
        }
        self.note(due, seen);
        Ok(hash)
    }

    /// An entry that hides its time could hide that heads of it are gone.
    fn date(&mut self, due: i64, at: &str) {
        match time::parse("at", at) {
            Ok(at) if due > self.report.signed => self.unsigned.add(Moment { seq: due, at }),
            Ok(_) => {}
            Err(_) => self.undated = self.undated.take().or_else(|| Some(Flaw::undated(due, at))),
        }
    }

    /// What later parts of the walk need to know of a good entry.
    fn note(&mut self, seq: i64, seen: Seen) {
        let detail = seen.detail.as_deref().map(RawValue::get);
        let (actor, role) = (seen.actor.as_deref(), seen.role.as_deref());
        self.registers.see(&Said { seq, kind: &seen.kind, actor, role, detail });
        if seen.kind == HEADS_MISSING {
            let named = detail.and_then(|raw| serde_json::from_str::<Uncovered>(raw).ok());
            let Uncovered { from, to } = named.unwrap_or(Uncovered { from: 0, to: seq - 1 });
            self.heads_were_missing =
                self.heads_were_missing.take().or_else(|| Some(Flaw::heads_were_missing(seq, (from, to))));
        }
        if seen.kind == HEADS_REEXPORTED {
            let times = self.report.reexported.as_ref().map_or(0, |before| before.times) + 1;
            self.report.reexported = Some(Reexport { seq, at: seen.at.clone(), times });
        }
        if seq == self.report.signed + 1 {
            self.report.unsigned_since = Some(seen.at);
        }
    }

    /// Entries that should have a head by now. The chain has been walked to its end.
    fn heads_missing(&self, patience: SignedDuration) -> Option<Flaw> {
        self.unsigned.beyond(patience).map(|ends| Flaw::heads_missing(ends, self.report.entries))
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
