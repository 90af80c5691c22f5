//! When the head of the chain is signed: by a server at intervals, and by every process before it adds to a tail that
//! it did not sign. So no entry is left without a head while much younger ones follow; a chain in which that happened
//! has lost heads ([`gap`]).

use super::head::{self, SignedHead};
use super::span::{Moment, Span};
use super::{AuditEvent, HEADS_MISSING, HEADS_REEXPORTED, append, tail};
use crate::keys::AuditKey;
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, time};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::json;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Intervals that an entry may go without a head while others follow. A busy server may miss one or two.
const FEW: i32 = 5;
/// Signing waits its turn among writers, and a stalled disk or database holds all of them up: short intervals get at least
/// this long, so that a late head is not taken for a deleted one.
const LEAST: SignedDuration = SignedDuration::from_mins(1);

/// How long an entry may go without a head while others follow.
pub(super) fn patience(interval: Duration) -> SignedDuration {
    SignedDuration::try_from(interval).unwrap_or(SignedDuration::MAX).saturating_mul(FEW).max(LEAST)
}

/// Heads signed before this should be in the exported file.
pub(super) fn young(patience: SignedDuration) -> String {
    time::text(Timestamp::now().saturating_sub(patience).unwrap_or(Timestamp::MIN))
}

/// Where heads are exported to, how often one is signed, and what this process signed last.
pub(crate) struct Signing {
    pub file: PathBuf,
    /// Several servers share the chain, each with a file of its own.
    pub shared: bool,
    pub interval: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    looked: Option<Timestamp>,
    last: Option<Known>,
}

/// A head that this process has seen cover the whole chain, and from when on, by a clock that cannot be set.
#[derive(Clone)]
struct Known {
    head: SignedHead,
    since: Instant,
}

impl Known {
    /// All that came after the head is no older than `patience`, whatever times the entries say: nothing is overdue, also
    /// if the machine's clock was set meanwhile.
    fn is_fresh(&self, patience: SignedDuration) -> bool {
        SignedDuration::try_from(self.since.elapsed()).is_ok_and(|elapsed| elapsed < patience)
    }
}

impl Signing {
    pub(crate) fn new(file: PathBuf, shared: bool, interval: Duration) -> Self {
        Self { file, shared, interval, state: Mutex::default() }
    }

    /// Two intervals without a look at the tail: nothing signs it regularly. By the clock of the entries, which also
    /// counts the time that a machine sleeps.
    pub(crate) fn is_due(&self) -> bool {
        let Some(looked) = self.state().looked else { return true };
        let since = Timestamp::now().duration_since(looked);
        since.is_negative() || since > SignedDuration::try_from(self.interval * 2).unwrap_or(SignedDuration::MAX)
    }

    /// Signs the tail before something is added to it; none where that cannot be done.
    pub(crate) fn try_sign(&self, conn: &dyn Conn, key: &AuditKey) -> Option<SignedHead> {
        sign(conn, key, self.last().as_ref(), self.interval).ok().flatten()
    }

    /// The number of these heads that should have been exported before. A young one may be late, after a crash between
    /// table and file. Of several servers each has a file of its own, which knows of no heads before the server began.
    fn overdue(&self, heads: &[SignedHead]) -> usize {
        let young = young(patience(self.interval));
        if self.shared { 0 } else { heads.iter().filter(|head| head.at < young).count() }
    }

    fn last(&self) -> Option<Known> {
        self.state().last.clone()
    }

    /// The tail was looked at after `begun`, and has this head.
    fn looked(&self, head: Option<&SignedHead>, begun: Instant) {
        let mut state = self.state();
        state.looked = Some(Timestamp::now());
        state.last = head.map(|head| Known { head: head.clone(), since: begun }).or(state.last.take());
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger {
    /// Signs the last entry and exports the signature. None while the chain is empty.
    pub async fn sign_head(&self) -> Result<Option<SignedHead>, LedgerError> {
        let (key, last, interval) = (self.key.clone(), self.signing.last(), self.signing.interval);
        let begun = Instant::now();
        let head = self.store.write(move |conn| sign(conn, &key, last.as_ref(), interval)).await?;
        self.signing.looked(head.as_ref(), begun);
        if let Some(head) = &head {
            self.export_heads(head).await?;
        }
        Ok(head)
    }

    /// At the start of a server, before it adds anything: signs what a killed one left unsigned, and exports heads that
    /// the file lacks; how many those were.
    pub async fn take_up_chain(&self) -> Result<usize, LedgerError> {
        self.sign_head().await?;
        if self.signing.shared {
            return Ok(0);
        }
        let kept = self.read(|conn| conn.query("SELECT * FROM audit_heads ORDER BY seq", &[])).await?;
        let kept = kept.iter().map(SignedHead::read).collect::<Result<Vec<_>, _>>()?;
        let file = self.signing.file.clone();
        let filled = tokio::task::spawn_blocking(move || head::fill(&file, &kept));
        let filled = filled.await.map_err(|_| LedgerError::Closed)??;
        self.note_reexport(self.signing.overdue(&filled)).await?;
        Ok(filled.len())
    }

    /// Exporting hides that the file lacked heads, which `verify` told until then: the chain says so from now on.
    async fn note_reexport(&self, heads: usize) -> Result<(), LedgerError> {
        if heads == 0 {
            return Ok(());
        }
        let event = AuditEvent::new(HEADS_REEXPORTED).detail(json!({ "heads": heads }));
        self.store.write(move |conn| append(conn, &event)).await.map(drop)
    }

    /// After a write before which the tail was signed. A head that cannot be signed or exported stops no record: the next
    /// one makes up for it.
    pub(crate) async fn signed_by_the_way(&self, head: Option<SignedHead>, begun: Instant) {
        self.signing.looked(head.as_ref(), begun);
        if let Some(head) = head
            && let Err(error) = self.export_heads(&head).await
        {
            tracing::error!(%error, "a signed head cannot be exported");
        }
    }

    /// Exports a head, and those before it that the file lacks since its last line.
    async fn export_heads(&self, head: &SignedHead) -> Result<(), LedgerError> {
        const AT_ONCE: usize = 1_000;
        let mut overdue = 0;
        loop {
            let file = self.signing.file.clone();
            let known = tokio::task::spawn_blocking(move || head::last_exported(&file));
            let from = match known.await.map_err(|_| LedgerError::Closed)?? {
                head::Exported::UpTo(seq) => seq,
                // Another server's heads are in that server's file.
                head::Exported::Nothing if !self.signing.shared => 0,
                head::Exported::Nothing | head::Exported::Unreadable => head.seq,
            };
            let to = head.seq;
            let sql = "SELECT * FROM audit_heads WHERE seq > $1 AND seq < $2 ORDER BY seq LIMIT $3";
            let more = self.read(move |conn| conn.query(sql, args![from, to, AT_ONCE as i64])).await?;
            let mut heads = more.iter().map(SignedHead::read).collect::<Result<Vec<_>, _>>()?;
            let is_last = heads.len() < AT_ONCE;
            if is_last {
                heads.push(head.clone());
            }
            // Where nothing is new, the head is in the file already.
            if from < to {
                overdue += self.signing.overdue(&heads);
            }
            let file = self.signing.file.clone();
            let exported = tokio::task::spawn_blocking(move || head::export(&file, &heads));
            exported.await.map_err(|_| LedgerError::Closed)??;
            if is_last {
                return self.note_reexport(overdue).await;
            }
        }
    }
}

/// Signs the last entry, in a write transaction. Nothing new since the last head: that one. Nothing at all: none.
fn sign(
    conn: &dyn Conn,
    key: &AuditKey,
    last: Option<&Known>,
    interval: Duration,
) -> Result<Option<SignedHead>, LedgerError> {
    if let Some(last) = last {
        put_back(conn, &last.head)?;
    }
    let Some((seq, _)) = tail(conn)? else { return Ok(None) };
    if let Some(known) = conn.first("SELECT * FROM audit_heads WHERE seq = $1", args![seq])? {
        return SignedHead::read(&known).map(Some);
    }
    // A head by another key would make the whole chain look forged.
    let public = conn.first("SELECT public FROM audit_key", &[])?.map(|row| row.get::<String>("public")).transpose()?;
    if public.is_some_and(|public| public != key.public()) {
        return Err(LedgerError::OtherKey);
    }
    let patience = patience(interval);
    let is_fresh = last.is_some_and(|last| last.is_fresh(patience));
    if !is_fresh && let Some(gap) = gap(conn, patience)? {
        // Signing hides that heads are gone. The chain says so from now on.
        let detail = json!({ "from": gap.from, "to": gap.to, "since": gap.since, "until": gap.until });
        append(conn, &AuditEvent::new(HEADS_MISSING).detail(detail))?;
    }
    let Some((seq, hash)) = tail(conn)? else { return Ok(None) };
    let head = SignedHead::new(seq, hash, key);
    insert(conn, &head)?;
    Ok(Some(head))
}

/// A head that this process signed and that is gone from the table was deleted by somebody else.
fn put_back(conn: &dyn Conn, last: &SignedHead) -> Result<(), LedgerError> {
    match conn.first("SELECT seq FROM audit_heads WHERE seq = $1", args![last.seq])? {
        Some(_) => Ok(()),
        None => insert(conn, last),
    }
}

fn insert(conn: &dyn Conn, head: &SignedHead) -> Result<(), LedgerError> {
    conn.execute(
        "INSERT INTO audit_heads (seq, hash, at, key, signature) VALUES ($1, $2, $3, $4, $5)",
        args![head.seq, &head.hash, &head.at, &head.key, &head.signature],
    )
    .map(drop)
}

/// Entries without a head, though some of them are much younger than others.
struct Gap {
    from: i64,
    to: i64,
    since: String,
    until: String,
}

fn gap(conn: &dyn Conn, patience: SignedDuration) -> Result<Option<Gap>, LedgerError> {
    let signed: i64 = conn.only("SELECT coalesce(max(seq), 0) AS seq FROM audit_heads", &[])?.get("seq")?;
    let (mut unsigned, mut to) = (Span::default(), signed);
    let mut see = |row: &Row| {
        to = row.get("seq")?;
        // One that cannot be read is for `verify` to tell.
        if let Some(at) = at(row) {
            unsigned.add(Moment { seq: to, at });
        }
        Ok(ControlFlow::Continue(()))
    };
    conn.each(&format!("SELECT seq, entry_json FROM audit WHERE seq > {signed} ORDER BY seq"), &mut see)?;
    Ok(unsigned.beyond(patience).map(|(oldest, youngest)| Gap {
        from: signed + 1,
        to,
        since: time::text(oldest.at),
        until: time::text(youngest.at),
    }))
}

/// When an entry was added, as it says itself.
fn at(row: &Row) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Dated {
        at: String,
    }
    let entry = row.json::<Dated>("entry_json").ok()?;
    time::parse("at", &entry.at).ok()
}
