//! The audit chain: who did what, in an order that cannot be changed without being seen.
//!
//! Each entry carries the hash of the one before, so an entry cannot be changed or taken out
//! without breaking all that follow. What hashes alone cannot show, a chain that was cut or written
//! anew as a whole, shows against heads that were signed and exported earlier ([`head`]).
//!
//! Entries hold no question, no SQL and no rows: of a run they hold the digest of its capsule.

mod export;
pub(crate) mod head;
mod recent;
mod registers;
mod report;
mod sign_ins;
pub(crate) mod signing;
mod span;
mod strays;
pub(crate) mod verify;

pub use head::SignedHead;
pub use recent::{AuditEntry, AuditState};
pub(crate) use registers::record;
pub use report::{ChainReport, Flaw, FlawKind, Reexport};

use crate::store::Conn;
use crate::{Ledger, LedgerError, time};
use domain::{Caller, ContractUse, Door, RequestId, Run, RunId, sha256_hex};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) const RUN_RECORDED: &str = "run.recorded";
pub(crate) const CAPSULES_PRUNED: &str = "capsules.pruned";
/// Heads of earlier entries were gone when the next one was signed.
pub(crate) const HEADS_MISSING: &str = "heads.missing";
/// The exported file lacked heads that it should have had, and has them again.
pub(crate) const HEADS_REEXPORTED: &str = "heads.reexported";
/// What the first entry has before it.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Something that happened: `token.revoked`, `contracts.reloaded`, `auth.refused` ….
#[derive(Debug, Clone, Serialize)]
pub struct AuditEvent {
    /// `noun.verb`, in the past tense.
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub door: Option<Door>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// What else is worth knowing. Never a secret, a question, SQL or data: entries are kept for good.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    pub detail: serde_json::Value,
}

impl AuditEvent {
    pub fn new(kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            actor: None,
            role: None,
            door: None,
            run_id: None,
            request_id: None,
            detail: serde_json::Value::Null,
        }
    }

    /// By an identified caller, in the course of its request.
    #[must_use]
    pub fn by(mut self, caller: &Caller) -> Self {
        self.request_id = Some(caller.request_id.clone());
        self.about(&caller.actor, &caller.role)
    }

    /// Concerning an actor, where no request of theirs is under way.
    #[must_use]
    pub fn about(mut self, actor: &str, role: &str) -> Self {
        (self.actor, self.role) = (Some(actor.to_owned()), Some(role.to_owned()));
        self
    }

    #[must_use]
    pub fn through(mut self, door: Door) -> Self {
        self.door = Some(door);
        self
    }

    #[must_use]
    pub fn detail(mut self, detail: serde_json::Value) -> Self {
        self.detail = detail;
        self
    }
}

/// What the chain says of a run: enough to prove its capsule, nothing that has to be forgotten with it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunDetail {
    /// The digest of the capsule.
    pub capsule: String,
    pub created_at: String,
    status: String,
    purpose: String,
    dataset: String,
    contracts: Vec<ContractUse>,
    policy_fingerprint: String,
    proposal_hash: Option<String>,
    fault: Option<String>,
}

/// The event of a run with this capsule.
pub(crate) fn run_event(run: &Run, capsule: String) -> Result<AuditEvent, LedgerError> {
    let detail = RunDetail {
        capsule,
        created_at: time::text(run.created_at),
        status: run.status.as_str().to_owned(),
        purpose: run.purpose.as_str().to_owned(),
        dataset: run.dataset_id.clone(),
        contracts: run.contracts.clone(),
        policy_fingerprint: run.policy_fingerprint.clone(),
        proposal_hash: run.proposal_hash.clone(),
        fault: run.error_json.as_ref().map(|fault| fault.code.clone()),
    };
    let mut event = AuditEvent::new(RUN_RECORDED).about(&run.actor, &run.role).through(run.door);
    event.run_id = Some(run.run_id);
    event.request_id = Some(run.request_id.clone());
    Ok(event.detail(serde_json::to_value(detail)?))
}

/// An entry in its canonical form: these fields in this order, no white space. The text that is
/// kept is the text that was hashed; it is never written again from its parts.
#[derive(Serialize)]
struct Entry<'a> {
    seq: i64,
    at: String,
    #[serde(flatten)]
    event: &'a AuditEvent,
}

impl Ledger {
    /// Adds an entry that belongs to no run; its number in the chain.
    pub async fn append(&self, event: AuditEvent) -> Result<i64, LedgerError> {
        self.write(move |conn| append(conn, &event)).await
    }
}

/// Adds an entry. Must run in a write transaction: the tail that it reads is then the last one,
/// whichever process wrote it.
pub(crate) fn append(conn: &dyn Conn, event: &AuditEvent) -> Result<i64, LedgerError> {
    let known = conn.memo().tail.take();
    let (last, prev_hash) =
        known.map_or_else(|| tail(conn), |known| Ok(Some(known)))?.unwrap_or((0, GENESIS.to_owned()));
    let seq = last + 1;
    let entry = serde_json::to_string(&Entry { seq, at: time::text(Timestamp::now()), event })?;
    let hash = link(&prev_hash, &entry);
    let insert = "INSERT INTO audit (seq, entry_json, prev_hash, hash) VALUES ($1, $2, $3, $4)";
    conn.memo().tail.replace(Some((seq, hash.clone())));
    conn.post(insert, vec![seq.into(), entry.into(), prev_hash.into(), hash.into()])?;
    Ok(seq)
}

/// Number and hash of the last entry.
fn tail(conn: &dyn Conn) -> Result<Option<(i64, String)>, LedgerError> {
    let last = conn.first("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", &[])?;
    last.map(|row| Ok((row.get("seq")?, row.get("hash")?))).transpose()
}

fn link(prev_hash: &str, entry: &str) -> String {
    sha256_hex([prev_hash, entry].concat().as_bytes())
}
