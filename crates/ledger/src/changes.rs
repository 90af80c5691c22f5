//! Changes on their way: durable before they are made, gone when they are on record.
//!
//! What is left at a start was under way when a server was killed. Whether it was made, only its source knows.

use crate::audit::{self, AuditEvent};
use crate::{LedgerError, time};
use domain::{Caller, Run, RunId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A change that has begun.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begun {
    /// As far as it had come.
    pub run: Run,
    pub claims: BTreeMap<String, String>,
}

impl Begun {
    /// Whoever wanted it, as their token said then.
    pub fn caller(&self) -> Caller {
        Caller { claims: self.claims.clone(), ..Caller::new(&self.run.actor, &self.run.role) }
    }
}

/// Notes a change, with an entry in the chain.
pub(crate) fn begin(conn: &Connection, begun: &Begun) -> Result<(), LedgerError> {
    let run = &begun.run;
    let sql = "INSERT INTO changes_under_way (run_id, at, begun) VALUES (?1, ?2, ?3)";
    let text = serde_json::to_string(begun)?;
    conn.prepare_cached(sql)?.execute((run.run_id.to_string(), time::text(run.created_at), text))?;
    let detail = serde_json::json!({ "dataset": run.dataset_id, "proposal_hash": run.proposal_hash });
    let mut event = AuditEvent::new("change.begun").about(&run.actor, &run.role).through(run.door).detail(detail);
    event.run_id = Some(run.run_id);
    event.request_id = Some(run.request_id.clone());
    audit::append(conn, &event).map(drop)
}

/// Its run is on record now.
pub(crate) fn end(conn: &Connection, run: RunId) -> Result<(), LedgerError> {
    conn.prepare_cached("DELETE FROM changes_under_way WHERE run_id = ?1")?.execute([run.to_string()])?;
    Ok(())
}

/// Those whose end nobody saw, in the order in which they began.
pub(crate) fn left(conn: &Connection) -> Result<Vec<Begun>, LedgerError> {
    let mut statement = conn.prepare("SELECT begun FROM changes_under_way ORDER BY at, run_id")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut left = Vec::new();
    for text in rows {
        left.push(serde_json::from_str(&text?)?);
    }
    Ok(left)
}
