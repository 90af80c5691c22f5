//! Packages that a device fetched and said nothing of again. Nobody knows whether they ran: they are closed as that, and are
//! given to no device again. A device that comes back late is heard all the same ([`super::results::end`]).

use super::{note, results};
use crate::store::{Conn, Row, args};
use crate::{LedgerError, time};
use domain::{Caller, Fault, Kind, ScriptProposal};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

/// After the longest time that a script may take: a device that could not reach the house asks every 5 minutes at least.
const GRACE: SignedDuration = SignedDuration::from_mins(10);

/// Closes what can't be fetched again, and can't be running any more.
pub(super) fn close_overdue(conn: &dyn Conn, house: &Caller, now: Timestamp) -> Result<(), LedgerError> {
    let sql = "SELECT p.*, s.proposal_json FROM packages p JOIN script_proposals s ON s.id = p.proposal_id \
               WHERE p.state = 'claimed' AND p.lease_until <= $1 AND p.expires_at <= $1 ORDER BY p.created_at, p.id";
    for row in conn.query(sql, args![time::text(now)])? {
        if may_run_until(&row)? <= now {
            close(conn, house, &row)?;
        }
    }
    Ok(())
}

/// A device that enrols anew may have lost its journal with what it has run: what was fetched before is not for it.
pub(super) fn close_of(conn: &dyn Conn, caller: &Caller, device: &str) -> Result<(), LedgerError> {
    let sql = "SELECT * FROM packages WHERE device_id = $1 AND state = 'claimed' ORDER BY created_at, id";
    conn.query(sql, args![device])?.iter().try_for_each(|row| close(conn, caller, row))
}

/// It begins when it is fetched, and what its device says shows that it has not ended.
fn may_run_until(row: &Row) -> Result<Timestamp, LedgerError> {
    let timeout = row.json::<ScriptProposal>("proposal_json")?.manifest.timeout_seconds.0;
    let longest = SignedDuration::from_secs(i64::try_from(timeout).unwrap_or(i64::MAX)).saturating_add(GRACE);
    let heard_at = time::parse("heard_at", &row.get::<String>("heard_at")?)?;
    Ok(heard_at.saturating_add(longest).unwrap_or(Timestamp::MAX))
}

fn close(conn: &dyn Conn, caller: &Caller, row: &Row) -> Result<(), LedgerError> {
    let (id, device, digest): (String, String, String) = (row.get("id")?, row.get("device_id")?, row.get("digest")?);
    let heard_at = time::parse("heard_at", &row.get::<String>("heard_at")?)?;
    conn.execute("UPDATE packages SET state = 'unheard' WHERE id = $1", args![&id])?;
    let message = format!("the device fetched the script, and nothing was heard of it since {heard_at:.0}");
    results::leave_open(conn, row.json("run_json")?, Fault::new(Kind::Timeout, "script.unheard", message))?;
    let detail = json!({ "package": id, "device": device, "digest": digest, "heard_at": heard_at });
    note(conn, "script.unheard", caller, detail)
}
