//! Quotas of scans: how many at once, and how many bytes a day, for each actor.
//!
//! They are held here and not in memory, so that a restart does not give anybody a new day. What a scan may fetch is set
//! aside before it begins and settled when it ends: scans side by side cannot overdraw together.

use crate::audit::{self, AuditEvent};
use crate::{LedgerError, time};
use domain::{Caller, RunId};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension};

/// What one actor may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanQuota {
    /// Scans under way at the same time.
    pub concurrent: u64,
    /// Bytes fetched between two midnights, UTC.
    pub daily_bytes: u64,
}

/// A quota that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverQuota {
    pub kind: QuotaKind,
    pub current: u64,
    pub limit: u64,
    /// 0 where it depends on one's own scans.
    pub retry_after_seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaKind {
    ConcurrentScans,
    DailyBytes,
}

impl QuotaKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConcurrentScans => "concurrent_scans",
            Self::DailyBytes => "daily_bytes",
        }
    }
}

/// Sets aside at most `bytes` for a scan, or says what is used up.
pub(crate) fn begin(
    conn: &Connection,
    (run, caller): (RunId, &Caller),
    bytes: u64,
    quota: ScanQuota,
    now: Timestamp,
) -> Result<Result<u64, OverQuota>, LedgerError> {
    let of = "SELECT count(*), coalesce(sum(reserved), 0) FROM scans_under_way WHERE actor = ?1";
    let (running, reserved): (i64, i64) =
        conn.prepare_cached(of)?.query_row([&caller.actor], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (running, reserved) = (unsigned(running), unsigned(reserved));
    if running >= quota.concurrent {
        let kind = QuotaKind::ConcurrentScans;
        return Ok(Err(OverQuota { kind, current: running, limit: quota.concurrent, retry_after_seconds: 0 }));
    }
    let used = used_today(conn, &caller.actor, now)?;
    let left = quota.daily_bytes.saturating_sub(used).saturating_sub(reserved);
    if left == 0 {
        let retry_after_seconds = if used >= quota.daily_bytes { until_midnight(now) } else { 0 };
        let (kind, current) = (QuotaKind::DailyBytes, used.saturating_add(reserved));
        return Ok(Err(OverQuota { kind, current, limit: quota.daily_bytes, retry_after_seconds }));
    }
    let granted = bytes.min(left);
    let sql = "INSERT INTO scans_under_way (run_id, actor, request_id, at, reserved) VALUES (?1, ?2, ?3, ?4, ?5)";
    let (run, request) = (run.to_string(), caller.request_id.as_str());
    conn.prepare_cached(sql)?.execute((run, &caller.actor, request, time::text(now), signed(granted)))?;
    Ok(Ok(granted))
}

/// Gives back what was set aside, and counts what was fetched.
pub(crate) fn end(conn: &Connection, run: RunId, bytes: u64, now: Timestamp) -> Result<(), LedgerError> {
    settle(conn, &run.to_string(), bytes, now)
}

fn settle(conn: &Connection, run: &str, bytes: u64, now: Timestamp) -> Result<(), LedgerError> {
    let sql = "DELETE FROM scans_under_way WHERE run_id = ?1 RETURNING actor";
    let actor: Option<String> = conn.prepare_cached(sql)?.query_row([run], |row| row.get(0)).optional()?;
    // Another server may have settled it, taking it for one that a crash left behind.
    let Some(actor) = actor.filter(|_| bytes > 0) else { return Ok(()) };
    let sql = "INSERT INTO scan_days (actor, day, bytes) VALUES (?1, ?2, ?3) \
               ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes";
    conn.prepare_cached(sql)?.execute((&actor, day(now), signed(bytes)))?;
    // Earlier days count for nothing any more.
    conn.prepare_cached("DELETE FROM scan_days WHERE actor = ?1 AND day < ?2")?.execute((&actor, day(now)))?;
    Ok(())
}

/// A scan whose end nobody saw.
struct Left {
    run: String,
    actor: String,
    request: String,
    at: String,
    reserved: i64,
}

/// What a server that was killed left behind: each is put on record, and counts with all that was set aside for it.
pub(crate) fn abandon(conn: &Connection, now: Timestamp) -> Result<usize, LedgerError> {
    let sql = "SELECT run_id, actor, request_id, at, reserved FROM scans_under_way ORDER BY at, run_id";
    let mut statement = conn.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Left { run: row.get(0)?, actor: row.get(1)?, request: row.get(2)?, at: row.get(3)?, reserved: row.get(4)? })
    })?;
    let left: Vec<Left> = rows.collect::<Result<_, _>>()?;
    for Left { run, actor, request, at, reserved } in &left {
        let detail = serde_json::json!({ "run_id": run, "request_id": request, "begun_at": at, "bytes": reserved });
        let mut event = AuditEvent::new("scan.interrupted").through(domain::Door::Scan).detail(detail);
        event.actor = Some(actor.clone());
        audit::append(conn, &event)?;
        settle(conn, run, unsigned(*reserved), now)?;
    }
    Ok(left.len())
}

fn used_today(conn: &Connection, actor: &str, now: Timestamp) -> Result<u64, LedgerError> {
    let sql = "SELECT coalesce(sum(bytes), 0) FROM scan_days WHERE actor = ?1 AND day = ?2";
    let used: i64 = conn.prepare_cached(sql)?.query_row((actor, day(now)), |row| row.get(0))?;
    Ok(unsigned(used))
}

/// `2026-01-31`.
fn day(now: Timestamp) -> String {
    now.to_zoned(TimeZone::UTC).date().to_string()
}

fn until_midnight(now: Timestamp) -> u64 {
    const DAY: i64 = 24 * 60 * 60;
    unsigned(DAY - now.as_second().rem_euclid(DAY))
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
