//! Forgetting the text of old runs. The chain stays whole: it never held the text.

use crate::audit::{self, AuditEvent, CAPSULES_PRUNED};
use crate::{LedgerError, time};
use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::json;

/// How many go in one piece of work, so that records of running requests do not wait long.
pub(crate) const SLICE: usize = 200;

/// Says in the chain that capsules made before `before` may be gone: without it, their absence is a flaw.
/// False when there are none.
pub(crate) fn announce(conn: &Connection, before: Timestamp) -> Result<bool, LedgerError> {
    let before = time::text(before);
    let sql = "SELECT EXISTS (SELECT 1 FROM run_capsules WHERE created_at < ?1)";
    let any: bool = conn.query_row(sql, [&before], |row| row.get(0))?;
    if any {
        audit::append(conn, &AuditEvent::new(CAPSULES_PRUNED).detail(json!({"before": before})))?;
    }
    Ok(any)
}

/// Deletes at most [`SLICE`] of them; how many it were.
pub(crate) fn slice(conn: &Connection, before: Timestamp) -> Result<usize, LedgerError> {
    let sql = "DELETE FROM run_capsules WHERE run_id IN \
               (SELECT run_id FROM run_capsules WHERE created_at < ?1 LIMIT ?2)";
    Ok(conn.prepare_cached(sql)?.execute((time::text(before), SLICE as i64))?)
}
