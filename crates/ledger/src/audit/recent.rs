//! The end of the chain, for people who look at it.

use super::SignedHead;
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError};
use serde::{Deserialize, Serialize};

/// Where the chain stands.
#[derive(Debug, Serialize)]
pub struct AuditState {
    pub entries: i64,
    /// The last head that was signed.
    pub head: Option<SignedHead>,
    /// The newest first.
    pub recent: Vec<AuditEntry>,
}

/// One entry as it is listed.
#[derive(Debug, Serialize)]
pub struct AuditEntry {
    pub seq: i64,
    #[serde(flatten)]
    said: Said,
    pub hash: String,
}

/// What an entry says, as far as it is listed. One that cannot be read says nothing: that is for `verify` to tell.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Said {
    #[serde(default)]
    at: String,
    #[serde(default)]
    kind: String,
    actor: Option<String>,
    role: Option<String>,
    run_id: Option<String>,
}

impl Ledger {
    /// How long the chain is, its last signed head and its last entries. Says nothing of whether it is whole.
    pub async fn audit_state(&self, last: usize) -> Result<AuditState, LedgerError> {
        self.read(move |conn| state(conn, last)).await
    }
}

fn state(conn: &dyn Conn, last: usize) -> Result<AuditState, LedgerError> {
    let head = conn.first("SELECT * FROM audit_heads ORDER BY seq DESC LIMIT 1", &[])?;
    let head = head.as_ref().map(SignedHead::read).transpose()?;
    let recent =
        conn.query("SELECT seq, entry_json, hash FROM audit ORDER BY seq DESC LIMIT $1", args![last as i64])?;
    let recent = recent.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    // Entries are numbered without gaps; whether that still holds is for `verify` to say.
    let entries = recent.first().map_or(0, |entry| entry.seq);
    Ok(AuditState { entries, head, recent })
}

fn entry(row: &Row) -> Result<AuditEntry, LedgerError> {
    Ok(AuditEntry { seq: row.get("seq")?, said: row.json("entry_json").unwrap_or_default(), hash: row.get("hash")? })
}
