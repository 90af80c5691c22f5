//! How often somebody may do something, counted over all servers.
//!
//! Only where servers share a database: a file has one, which counts in memory. What is kept for each is the instant up to
//! which it has used its rate; the database's clock counts for all.

use crate::store::{Conn, Store, args};
use crate::{Ledger, LedgerError};
use std::time::Duration;

/// So many at once, and then one each `interval`.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub burst: u32,
    pub interval: Duration,
}

const NOW: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";

impl Ledger {
    /// Counts one for `who`; how long to wait, if it is one too many.
    pub async fn admit(&self, who: &str, pace: Pace) -> Result<Result<(), Duration>, LedgerError> {
        if matches!(*self.store, Store::Sqlite(_)) {
            return Ok(Ok(()));
        }
        let who = who.to_owned();
        // Not durable, and no part of the chain: it does not wait for the writer.
        self.read(move |conn| admit(conn, &who, pace)).await
    }
}

fn admit(conn: &dyn Conn, who: &str, pace: Pace) -> Result<Result<(), Duration>, LedgerError> {
    let interval = i64::try_from(pace.interval.as_micros()).unwrap_or(i64::MAX / 4).max(1);
    let room = interval.saturating_mul(i64::from(pace.burst) - 1).min(i64::MAX / 4);
    let sql = format!(
        "INSERT INTO rates AS r (who, paid_until) VALUES ($1, {NOW} + $2) ON CONFLICT (who) DO UPDATE \
         SET paid_until = greatest(r.paid_until, {NOW}) + $2 WHERE r.paid_until - {NOW} <= $3"
    );
    if conn.execute(&sql, args![who, interval, room])? > 0 {
        return Ok(Ok(()));
    }
    let wait = format!("SELECT paid_until - {NOW} - $2 AS wait FROM rates WHERE who = $1");
    let wait: i64 = conn.first(&wait, args![who, room])?.map_or(Ok(0), |row| row.get("wait"))?;
    Ok(Err(Duration::from_micros(u64::try_from(wait).unwrap_or_default())))
}

/// Those that have used nothing for a while need no row.
pub(crate) fn forget_quiet(conn: &dyn Conn) -> Result<(), LedgerError> {
    conn.execute(&format!("DELETE FROM rates WHERE paid_until < {NOW} - 60000000"), &[]).map(drop)
}
