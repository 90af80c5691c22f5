//! Quotas of scans: how many at once, and how many bytes a day, for each actor.
//!
//! They are held here and not in memory, so that a restart does not give anybody a new day. What a scan may fetch is set
//! aside before it begins and settled when it ends: scans side by side cannot overdraw together.

use crate::audit::{self, AuditEvent};
use crate::runs::Sealed;
use crate::store::{Conn, args};
use crate::{Ledger, LedgerError, time};
use domain::{Caller, Run, RunId};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::sync::{Arc, Mutex, PoisonError};

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

/// Scans whose end could not be recorded when it came.
#[derive(Default)]
pub(crate) struct Owed(Mutex<Vec<Arc<Ended>>>);

/// The end of a scan: its run, its line of the audit, and what it fetched.
struct Ended {
    id: RunId,
    run: Sealed,
    event: AuditEvent,
    bytes: u64,
}

impl Ledger {
    /// Before a scan: sets aside up to `bytes` of its actor's quota, durably, or says what is used up. What is granted
    /// is all that the scan may fetch.
    pub async fn begin_scan(
        &self,
        run: RunId,
        caller: &Caller,
        bytes: u64,
        quota: ScanQuota,
    ) -> Result<Result<u64, OverQuota>, LedgerError> {
        let (caller, server) = (caller.clone(), self.server_id().await?.to_owned());
        let scan = Scan { run: run.to_string(), caller, server };
        self.write(move |conn| begin(conn, &scan, bytes, quota, Timestamp::now())).await
    }

    /// After a scan that had begun: its capsule, its entries in the chain and what it took of the quota, all or nothing.
    /// Where that fails it is owed: [`Ledger::pay_owed`] tries again, so that the quota is not held for ever.
    pub async fn end_scan(&self, run: &Run, bytes: u64, event: AuditEvent) -> Result<(), LedgerError> {
        let ended = Arc::new(Ended { id: run.run_id, run: Sealed::of(run, self.result_bytes)?, event, bytes });
        let recorded = self.record_end(&ended).await;
        if recorded.is_err() {
            self.owed.0.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
        }
        recorded
    }

    async fn record_end(&self, ended: &Arc<Ended>) -> Result<(), LedgerError> {
        let ended = ended.clone();
        self.write(move |conn| {
            ended.run.keep(conn)?;
            audit::append(conn, &ended.event)?;
            settle(conn, &ended.id.to_string(), ended.bytes, Timestamp::now())
        })
        .await
    }

    /// Records the ends of scans that could not be recorded when they came; how many are left.
    pub async fn pay_owed(&self) -> usize {
        let owed = std::mem::take(&mut *self.owed.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut left = Vec::new();
        for ended in owed {
            match self.record_end(&ended).await {
                Ok(()) => {}
                // The answer was lost, not the record.
                Err(LedgerError::AlreadyRecorded(id)) => {
                    tracing::info!(run_id = %id, "the end of a scan was on record already");
                }
                Err(_) => left.push(ended),
            }
        }
        let count = left.len();
        self.owed.0.lock().unwrap_or_else(PoisonError::into_inner).extend(left);
        count
    }

    /// A scan whose `sent` bytes are at hand when it begins: all of it at once, and one flush for what would take two.
    /// False, and nothing is written, where its actor can't be granted `bytes`: [`Ledger::begin_scan`] tells why.
    pub async fn record_whole_scan(
        &self,
        run: &Run,
        (bytes, sent): (u64, u64),
        quota: ScanQuota,
        event: AuditEvent,
    ) -> Result<bool, LedgerError> {
        let (actor, run) = (run.actor.clone(), Sealed::of(run, self.result_bytes)?);
        self.write(move |conn| {
            let now = Timestamp::now();
            if grant(conn, &actor, bytes, quota, now)? != Ok(bytes) {
                return Ok(false);
            }
            run.keep(conn)?;
            audit::append(conn, &event)?;
            count(conn, &actor, sent, now)?;
            Ok(true)
        })
        .await
    }

    /// A scan that did not come as far as to begin.
    pub async fn refuse_scan(&self, run: &Run, event: AuditEvent) -> Result<(), LedgerError> {
        let (id, run) = (run.run_id.to_string(), Sealed::of(run, self.result_bytes)?);
        self.write(move |conn| {
            run.keep(conn)?;
            audit::append(conn, &event)?;
            // Whoever left while its quota was being set aside may have one after all.
            settle(conn, &id, 0, Timestamp::now())
        })
        .await
    }
}

/// A scan that is to begin.
struct Scan {
    run: String,
    caller: Caller,
    server: String,
}

/// Sets aside at most `bytes` for a scan, or says what is used up.
fn begin(
    conn: &dyn Conn,
    scan: &Scan,
    bytes: u64,
    quota: ScanQuota,
    now: Timestamp,
) -> Result<Result<u64, OverQuota>, LedgerError> {
    let actor = &scan.caller.actor;
    let granted = match grant(conn, actor, bytes, quota, now)? {
        Ok(granted) => granted,
        over => return Ok(over),
    };
    let sql = "INSERT INTO scans_under_way (run_id, actor, request_id, at, reserved, server) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let request = scan.caller.request_id.as_str();
    conn.execute(sql, args![&scan.run, actor, request, time::text(now), signed(granted), &scan.server])?;
    Ok(Ok(granted))
}

/// How much of `bytes` an actor may fetch now, or what is used up.
fn grant(
    conn: &dyn Conn,
    actor: &str,
    bytes: u64,
    quota: ScanQuota,
    now: Timestamp,
) -> Result<Result<u64, OverQuota>, LedgerError> {
    let of = "SELECT count(*) AS running, CAST(coalesce(sum(reserved), 0) AS BIGINT) AS reserved \
              FROM scans_under_way WHERE actor = $1";
    let held = conn.only(of, args![actor])?;
    let (running, reserved) = (unsigned(held.get("running")?), unsigned(held.get("reserved")?));
    if running >= quota.concurrent {
        let kind = QuotaKind::ConcurrentScans;
        return Ok(Err(OverQuota { kind, current: running, limit: quota.concurrent, retry_after_seconds: 0 }));
    }
    let used = used_today(conn, actor, now)?;
    let left = quota.daily_bytes.saturating_sub(used).saturating_sub(reserved);
    if left == 0 {
        let retry_after_seconds = if used >= quota.daily_bytes { until_midnight(now) } else { 0 };
        let (kind, current) = (QuotaKind::DailyBytes, used.saturating_add(reserved));
        return Ok(Err(OverQuota { kind, current, limit: quota.daily_bytes, retry_after_seconds }));
    }
    Ok(Ok(bytes.min(left)))
}

/// Gives back what was set aside, and counts what was fetched.
fn settle(conn: &dyn Conn, run: &str, bytes: u64, now: Timestamp) -> Result<(), LedgerError> {
    let held = conn.first("DELETE FROM scans_under_way WHERE run_id = $1 RETURNING actor", args![run])?;
    // Another server may have settled it, taking this one for dead.
    let Some(held) = held else { return Ok(()) };
    count(conn, &held.get::<String>("actor")?, bytes, now)
}

/// Counts what was fetched.
fn count(conn: &dyn Conn, actor: &str, bytes: u64, now: Timestamp) -> Result<(), LedgerError> {
    if bytes == 0 {
        return Ok(());
    }
    let sql = "INSERT INTO scan_days (actor, day, bytes) VALUES ($1, $2, $3) \
               ON CONFLICT (actor, day) DO UPDATE SET bytes = scan_days.bytes + excluded.bytes";
    conn.execute(sql, args![actor, day(now), signed(bytes)])?;
    // Earlier days count for nothing any more.
    conn.execute("DELETE FROM scan_days WHERE actor = $1 AND day < $2", args![actor, day(now)]).map(drop)
}

/// What a dead server left behind: each is put on record, and counts with all that was set aside for it.
pub(crate) fn abandon(conn: &dyn Conn, server: &str, now: Timestamp) -> Result<usize, LedgerError> {
    let sql =
        "SELECT run_id, actor, request_id, at, reserved FROM scans_under_way WHERE server = $1 ORDER BY at, run_id";
    let left = conn.query(sql, args![server])?;
    for scan in &left {
        let (run, reserved): (String, i64) = (scan.get("run_id")?, scan.get("reserved")?);
        let (request, at): (String, String) = (scan.get("request_id")?, scan.get("at")?);
        let detail = serde_json::json!({ "run_id": run, "request_id": request, "begun_at": at, "bytes": reserved });
        let mut event = AuditEvent::new("scan.interrupted").through(domain::Door::Scan).detail(detail);
        event.actor = Some(scan.get("actor")?);
        audit::append(conn, &event)?;
        settle(conn, &run, unsigned(reserved), now)?;
    }
    Ok(left.len())
}

fn used_today(conn: &dyn Conn, actor: &str, now: Timestamp) -> Result<u64, LedgerError> {
    let sql = "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS used FROM scan_days WHERE actor = $1 AND day = $2";
    Ok(unsigned(conn.only(sql, args![actor, day(now)])?.get("used")?))
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
