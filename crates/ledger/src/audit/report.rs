//! What a walk of the chain found.

use super::head::{self, SignedHead};
use super::span::Moment;
use crate::time;
use serde::Serialize;
use std::fmt;

/// The result of `Ledger::verify`.
#[derive(Debug, Clone, Serialize)]
pub struct ChainReport {
    /// Entries that were walked.
    pub entries: i64,
    /// How many of them a signed head covers. Those after it are held by their hashes alone, until the next head.
    pub signed: i64,
    /// When the first entry that no head covers was added: since then the chain could be written anew unnoticed.
    pub unsigned_since: Option<String>,
    /// Signed heads that the chain was held against.
    pub heads: i64,
    /// How many of them the exported file has; none where there is no such file. Without it, and without a copy of it on
    /// another machine, an older copy of the whole ledger looks whole.
    pub exported: Option<i64>,
    /// The exported file has lacked heads, and was made whole from the ledger. No flaw, since a backup that is put back
    /// without its file does this too; but what the file knew before is not known any more.
    pub reexported: Option<Reexport>,
    /// Capsules whose digest was compared.
    pub capsules: i64,
    /// Capsules that are gone because their time was up.
    pub pruned: i64,
    /// The first thing that is wrong; nothing after it was looked at.
    pub flaw: Option<Flaw>,
}

impl ChainReport {
    pub fn is_whole(&self) -> bool {
        self.flaw.is_none()
    }
}

/// The last time that heads were exported anew, and how often that was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reexport {
    /// The entry that says so.
    pub seq: i64,
    pub at: String,
    pub times: i64,
}

/// Where the chain is broken, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flaw {
    /// The first bad entry; none when the flaw is in no entry.
    pub seq: Option<i64>,
    pub kind: FlawKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlawKind {
    EntryChanged,
    EntryMissing,
    /// The entry is a true one, but stands in another's place.
    OutOfOrder,
    /// A signed head knows of more entries than there are.
    TailCut,
    /// Whole in itself, but not the chain that was signed.
    Rewritten,
    HeadForged,
    /// A head was exported, and is not in the ledger any more.
    HeadMissing,
    /// A head was signed, and is not in the exported file.
    HeadUnexported,
    /// Entries have no head, though there are much younger ones that have none either: heads were deleted.
    HeadsMissing,
    CapsuleChanged,
    CapsuleMissing,
    CapsuleUnrecorded,
    /// A run has two entries or two capsules.
    RunTwice,
    /// A token is not what its entries say.
    TokenDiffers,
    /// A sign-in code, or one that a session was started with, is not what its entry says.
    LoginDiffers,
    SessionDiffers,
    ApprovalDiffers,
    /// A script that waits for approval, or did, is not what its entries say.
    ProposalDiffers,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seq {
            Some(seq) => write!(f, "entry {seq}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Flaw {
    pub(super) fn bad_head(place: &str) -> Self {
        Self { seq: None, kind: FlawKind::HeadForged, message: format!("{place} is no signed head") }
    }

    pub(super) fn head_missing(head: &SignedHead) -> Self {
        let message = "a head of it was exported, and is not in the table `audit_heads`".to_owned();
        Self { seq: Some(head.seq), kind: FlawKind::HeadMissing, message }
    }

    pub(super) fn head_unexported(head: &SignedHead) -> Self {
        let message = format!("a head of it is in the table `audit_heads`, and not in `{}`", head::FILE);
        Self { seq: Some(head.seq), kind: FlawKind::HeadUnexported, message }
    }

    pub(super) fn undated(seq: i64, at: &str) -> Self {
        Self { seq: Some(seq), kind: FlawKind::EntryChanged, message: format!("its time `{at}` cannot be read") }
    }

    /// Of the oldest and the youngest entry without a head, in a chain of so many.
    pub(super) fn heads_missing((oldest, youngest): (Moment, Moment), entries: i64) -> Self {
        let (first, other, why) = match oldest.seq < youngest.seq {
            true => (oldest, youngest, "signed heads were deleted"),
            false => (youngest, oldest, "signed heads were deleted, or a clock was set back"),
        };
        let (since, until) = (time::text(first.at), time::text(other.at));
        let name = if other.seq == entries { "the last one".to_owned() } else { format!("entry {}", other.seq) };
        let message = format!("no signed head covers it, though it is of {since} and {name} of {until}: {why}");
        Self { seq: Some(first.seq), kind: FlawKind::HeadsMissing, message }
    }

    pub(super) fn heads_were_missing(seq: i64, (from, to): (i64, i64)) -> Self {
        let message = format!("when it was added, no signed head covered the entries {from} to {to}, which it should");
        Self { seq: Some(seq), kind: FlawKind::HeadsMissing, message }
    }

    pub(super) fn recorded_twice(run_id: &str, seq: i64) -> Self {
        let message = format!("run `{run_id}` has an entry before it");
        Self { seq: Some(seq), kind: FlawKind::RunTwice, message }
    }

    pub(super) fn kept_twice(run_id: &str) -> Self {
        let message = format!("run `{run_id}` has two capsules");
        Self { seq: None, kind: FlawKind::RunTwice, message }
    }

    pub(super) fn unrecorded(run_id: &str) -> Self {
        let message = format!("run `{run_id}` has a capsule, but no entry");
        Self { seq: None, kind: FlawKind::CapsuleUnrecorded, message }
    }
}
