//! Which servers on this database are alive.
//!
//! A server counts as dead when two things come together: nobody has seen its beat go up for the time of a lease, and the
//! lock that its connection held is free. The beat alone would bury a server that stands still for a moment; the lock
//! alone one that is about to connect again. The lease is measured by whoever looks, and only while that one's own
//! connection stands: clocks need not agree, and an outage of the database buries nobody.

use crate::LedgerError;
use crate::store::Conn;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Lives {
    lease: Duration,
    /// The lock of this server, once it has joined.
    own: OnceLock<i64>,
    /// The beat of each other server, and since when it has been the same.
    seen: Mutex<HashMap<String, (i64, Instant)>>,
}

impl Lives {
    pub(super) fn new(lease: Duration) -> Self {
        Self { lease, own: OnceLock::new(), seen: Mutex::default() }
    }

    /// On the connection that writes: as long as it stands, server `id` is alive.
    pub(crate) fn begin(&self, conn: &dyn Conn, id: &str) -> Result<(), LedgerError> {
        let _ = self.own.set(lock_of(id));
        self.go_on(conn)
    }

    /// The same on a connection that takes another's place, which may still stand: hence a lock that can be shared.
    pub(super) fn go_on(&self, conn: &dyn Conn) -> Result<(), LedgerError> {
        let Some(lock) = self.own.get() else { return Ok(()) };
        conn.query("SELECT pg_advisory_lock_shared($1)::text AS held", &[(*lock).into()]).map(drop)
    }

    /// Those of `others` (with their beats) whose lease is over.
    pub(crate) fn overdue(&self, others: &[(String, i64)]) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|id, _| others.iter().any(|(other, _)| other == id));
        let now = Instant::now();
        let mut overdue = Vec::new();
        for (id, beat) in others {
            let (last, since) = seen.entry(id.clone()).or_insert((*beat, now));
            if last != beat {
                (*last, *since) = (*beat, now);
            } else if now.duration_since(*since) >= self.lease {
                overdue.push(id.clone());
            }
        }
        overdue
    }

    /// After an outage of our own nothing can be said of others.
    pub(crate) fn begin_anew(&self) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Whether nobody holds the lock of a server; nobody will, until this transaction ends.
pub(crate) fn is_let_go(conn: &dyn Conn, id: &str) -> Result<bool, LedgerError> {
    conn.only("SELECT pg_try_advisory_xact_lock($1) AS free", &[lock_of(id).into()])?.get("free")
}

/// Ids are random in their last 64 bits.
fn lock_of(id: &str) -> i64 {
    let digits = id.get(id.len().saturating_sub(16)..).unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or_default().cast_signed()
}
