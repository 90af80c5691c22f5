//! Forgetting the text of old runs. The chain stays whole: it never held the text.

use crate::audit::{self, AuditEvent, CAPSULES_PRUNED};
use crate::store::{Conn, args};
use crate::{Ledger, LedgerError, time};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

/// How many go in one piece of work, so that records of running requests do not wait long.
const SLICE: usize = 200;

impl Ledger {
    /// Deletes capsules that are older than `keep_days`; how many. Their entries stay.
    pub async fn prune(&self, keep_days: u32) -> Result<usize, LedgerError> {
        let age = SignedDuration::from_hours(24 * i64::from(keep_days));
        let before = Timestamp::now().saturating_sub(age).unwrap_or(Timestamp::MIN);
        let mut pruned = 0;
        if self.write(move |conn| announce(conn, before)).await? {
            // Only what is signed excuses a capsule that is gone.
            self.sign_head().await?;
            loop {
                let gone = self.write(move |conn| slice(conn, before)).await?;
                pruned += gone;
                if gone < SLICE {
                    break;
                }
            }
        }
        Ok(pruned)
    }
}

/// Says in the chain that capsules made before `before` may be gone: without it, their absence is a flaw.
/// False when there are none.
fn announce(conn: &dyn Conn, before: Timestamp) -> Result<bool, LedgerError> {
    let before = time::text(before);
    let sql = "SELECT EXISTS (SELECT 1 FROM run_capsules WHERE created_at < $1) AS some";
    let any: bool = conn.only(sql, args![&before])?.get("some")?;
    if any {
        audit::append(conn, &AuditEvent::new(CAPSULES_PRUNED).detail(json!({"before": before})))?;
    }
    Ok(any)
}

/// Deletes at most [`SLICE`] of them; how many it were.
fn slice(conn: &dyn Conn, before: Timestamp) -> Result<usize, LedgerError> {
    let sql = "DELETE FROM run_capsules WHERE run_id IN \
               (SELECT run_id FROM run_capsules WHERE created_at < $1 LIMIT $2)";
    conn.execute(sql, args![time::text(before), SLICE as i64])
}
