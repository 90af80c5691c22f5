//! When the head of the chain is signed: by a server at intervals, and by every process before it adds to a tail that
//! it did not sign. So no entry is left without a head while much younger ones follow; a chain in which that happened
//! has lost heads ([`gap`]).

use super::head::{self, SignedHead};
use super::{AuditEvent, HEADS_MISSING, append, tail};
use crate::keys::AuditKey;
use crate::store::{Conn, args};
use crate::{Ledger, LedgerError, time};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Intervals that an entry may go without a head while others follow. A busy server may miss one or two.
const FEW: i32 = 5;
/// Signing waits its turn among writers: short intervals get at least this long.
const LEAST: SignedDuration = SignedDuration::from_mins(1);

/// How long an entry may go without a head while others follow.
pub(super) fn patience(interval: Duration) -> SignedDuration {
    SignedDuration::try_from(interval).unwrap_or(SignedDuration::MAX).saturating_mul(FEW).max(LEAST)
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
    last: Option<SignedHead>,
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

    fn last(&self) -> Option<SignedHead> {
        self.state().last.clone()
    }

    fn looked(&self, head: Option<&SignedHead>) {
        let mut state = self.state();
        state.looked = Some(Timestamp::now());
        state.last = head.cloned().or(state.last.take());
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger {
    /// Signs the last entry and exports the signature. None while the chain is empty.
    pub async fn sign_head(&self) -> Result<Option<SignedHead>, LedgerError> {
        let (key, last, interval) = (self.key.clone(), self.signing.last(), self.signing.interval);
        let head = self.store.write(move |conn| sign(conn, &key, last.as_ref(), interval)).await?;
        self.signing.looked(head.as_ref());
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
        filled.await.map_err(|_| LedgerError::Closed)?
    }

    /// After a write before which the tail was signed. A head that cannot be signed or exported stops no record: the next
    /// one makes up for it.
    pub(crate) async fn signed_by_the_way(&self, head: Option<SignedHead>) {
        self.signing.looked(head.as_ref());
        if let Some(head) = head
            && let Err(error) = self.export_heads(&head).await
        {
            tracing::error!(%error, "a signed head cannot be exported");
        }
    }

    /// Exports a head, and those before it that the file lacks since its last line.
    async fn export_heads(&self, head: &SignedHead) -> Result<(), LedgerError> {
        const AT_ONCE: usize = 1_000;
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
            let file = self.signing.file.clone();
            let exported = tokio::task::spawn_blocking(move || head::export(&file, &heads));
            exported.await.map_err(|_| LedgerError::Closed)??;
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Signs the last entry, in a write transaction. Nothing new since the last head: that one. Nothing at all: none.
fn sign(
    conn: &dyn Conn,
    key: &AuditKey,
    last: Option<&SignedHead>,
    interval: Duration,
) -> Result<Option<SignedHead>, LedgerError> {
    if let Some(last) = last {
        put_back(conn, last)?;
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
    if let Some(gap) = gap(conn, patience(interval))? {
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

/// Entries without a head, though the last of them is much younger than the first.
struct Gap {
    from: i64,
    to: i64,
    since: String,
    until: String,
}

fn gap(conn: &dyn Conn, patience: SignedDuration) -> Result<Option<Gap>, LedgerError> {
    let signed: i64 = conn.only("SELECT coalesce(max(seq), 0) AS seq FROM audit_heads", &[])?.get("seq")?;
    let (from, Some((to, _))) = (signed + 1, tail(conn)?) else { return Ok(None) };
    let (Some(since), Some(until)) = (at(conn, from)?, at(conn, to)?) else { return Ok(None) };
    Ok(is_overdue(&since, &until, patience).then_some(Gap { from, to, since, until }))
}

/// When an entry was added, as it says itself. One that cannot be read is for `verify` to tell.
fn at(conn: &dyn Conn, seq: i64) -> Result<Option<String>, LedgerError> {
    let entry = conn.first("SELECT entry_json FROM audit WHERE seq = $1", args![seq])?;
    let entry = entry.and_then(|row| row.json::<serde_json::Value>("entry_json").ok());
    Ok(entry.and_then(|entry| entry.get("at")?.as_str().map(str::to_owned)))
}

/// Between the first and the last entry without a head lies more time than a server lets pass.
pub(super) fn is_overdue(since: &str, until: &str, patience: SignedDuration) -> bool {
    match (time::parse("at", since), time::parse("at", until)) {
        (Ok(since), Ok(until)) => until.duration_since(since) > patience,
        _ => false,
    }
}
