//! The end of the chain, for people who look at it.

use super::SignedHead;
use crate::LedgerError;
use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;

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
    pub at: String,
    pub kind: String,
    pub actor: Option<String>,
    pub role: Option<String>,
    pub run_id: Option<String>,
    pub hash: String,
}

pub(crate) fn state(conn: &Connection, last: usize) -> Result<AuditState, LedgerError> {
    let mut heads = conn.prepare_cached("SELECT * FROM audit_heads ORDER BY seq DESC LIMIT 1")?;
    let head = heads.query_row([], SignedHead::read).optional()?;
    let mut entries =
        conn.prepare_cached("SELECT seq, at, kind, actor, role, run_id, hash FROM audit ORDER BY seq DESC LIMIT ?1")?;
    let recent = entries.query_map([last as i64], |row| {
        Ok(AuditEntry {
            seq: row.get("seq")?,
            at: row.get("at")?,
            kind: row.get("kind")?,
            actor: row.get("actor")?,
            role: row.get("role")?,
            run_id: row.get("run_id")?,
            hash: row.get("hash")?,
        })
    })?;
    let recent = recent.collect::<Result<Vec<_>, _>>()?;
    // Entries are numbered without gaps; whether that still holds is for `verify` to say.
    let entries = recent.first().map_or(0, |entry| entry.seq);
    Ok(AuditState { entries, head, recent })
}
