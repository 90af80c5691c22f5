//! Changes on their way: durable before they are made, gone when it is on record what became of them.
//!
//! What is left of a dead server was under way when it was killed. Whether it was made, only its source knows. Of some
//! changes that is not known either when their run is recorded: their note stays, and is nobody's until a server takes it
//! up.

use crate::audit::{self, AuditEvent};
use crate::runs::Sealed;
use crate::store::{Conn, args};
use crate::{Ledger, LedgerError, time};
use domain::{Caller, Run, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A change that has begun.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begun {
    /// As far as it had come.
    pub run: Run,
    pub claims: BTreeMap<String, String>,
    /// When it was noted: its run may be older, it itself is not.
    #[serde(default)]
    pub noted: Option<Timestamp>,
}

impl Begun {
    /// Whoever wanted it, as their token said then.
    pub fn caller(&self) -> Caller {
        Caller { claims: self.claims.clone(), ..Caller::new(&self.run.actor, &self.run.role) }
    }
}

impl Ledger {
    /// Before a change is made: durable, so that a start after a crash knows what to look for.
    pub async fn begin_change(&self, run: &Run, caller: &Caller) -> Result<(), LedgerError> {
        let (run, claims) = (run.clone(), caller.claims.clone());
        let server = self.server_id().await?.to_owned();
        self.write(move |conn| {
            // It may have waited for the ledger.
            let begun = Begun { run: run.clone(), claims: claims.clone(), noted: Some(Timestamp::now()) };
            begin(conn, &begun, &server)
        })
        .await
    }

    /// Changes that began and whose end nobody knows: their server is gone, or did not see it. Those that are wanted are this
    /// server's from now on, and no other's.
    pub async fn changes_left<W>(&self, wanted: W) -> Result<Vec<Begun>, LedgerError>
    where
        W: Fn(&Run) -> bool + Send + 'static,
    {
        if self.read(|conn| Ok(conn.query(LEFT, args![])?.is_empty())).await? {
            return Ok(Vec::new());
        }
        let server = self.server_id().await?.to_owned();
        self.write(move |conn| left(conn, &server, &wanted)).await
    }

    /// What could not be found out yet is for whoever comes next.
    pub async fn release_change(&self, run: RunId) -> Result<(), LedgerError> {
        self.write(move |conn| release(conn, run)).await
    }

    /// What became of a change: an entry in the chain and, where there is none yet, the record of its run. Whether there was
    /// none.
    pub async fn settle_change(&self, run: &Run, event: AuditEvent) -> Result<bool, LedgerError> {
        let (id, sealed) = (run.run_id, Sealed::of(run, self.result_bytes)?);
        self.write(move |conn| {
            let known = conn.query("SELECT 1 AS known FROM run_capsules WHERE run_id = $1", args![id.to_string()])?;
            if known.is_empty() {
                sealed.keep(conn)?;
            }
            audit::append(conn, &event)?;
            end(conn, id).map(|()| known.is_empty())
        })
        .await
    }
}

/// Notes a change, with an entry in the chain.
fn begin(conn: &dyn Conn, begun: &Begun, server: &str) -> Result<(), LedgerError> {
    let run = &begun.run;
    let sql = "INSERT INTO changes_under_way (run_id, at, begun, server) VALUES ($1, $2, $3, $4)";
    let text = serde_json::to_string(begun)?;
    conn.execute(sql, args![run.run_id.to_string(), time::text(run.created_at), text, server])?;
    let detail = serde_json::json!({ "dataset": run.dataset_id, "proposal_hash": run.proposal_hash });
    let mut event = AuditEvent::new("change.begun").about(&run.actor, &run.role).through(run.door).detail(detail);
    event.run_id = Some(run.run_id);
    event.request_id = Some(run.request_id.clone());
    audit::append(conn, &event).map(drop)
}

/// Its run is on record now.
pub(crate) fn end(conn: &dyn Conn, run: RunId) -> Result<(), LedgerError> {
    conn.execute("DELETE FROM changes_under_way WHERE run_id = $1", args![run.to_string()]).map(drop)
}

/// Its run is on record, and not what became of it: any server may look.
pub(crate) fn release(conn: &dyn Conn, run: RunId) -> Result<(), LedgerError> {
    conn.execute("UPDATE changes_under_way SET server = '' WHERE run_id = $1", args![run.to_string()]).map(drop)
}

/// Those that no living server looks after.
const LEFT: &str =
    "SELECT run_id, begun FROM changes_under_way WHERE server NOT IN (SELECT id FROM servers) ORDER BY at, run_id";

/// In the order in which they began. Whoever finds them first looks after them.
fn left(conn: &dyn Conn, server: &str, wanted: &dyn Fn(&Run) -> bool) -> Result<Vec<Begun>, LedgerError> {
    let mut left = Vec::new();
    for row in conn.query(LEFT, args![])? {
        let (run, begun): (String, String) = (row.get("run_id")?, row.get("begun")?);
        let begun = serde_json::from_str::<Begun>(&begun);
        if begun.as_ref().is_ok_and(|begun| !wanted(&begun.run)) {
            continue;
        }
        conn.execute("UPDATE changes_under_way SET server = $1 WHERE run_id = $2", args![server, run.as_str()])?;
        match begun {
            Ok(begun) => left.push(begun),
            // One that cannot be read keeps nobody from the others.
            Err(error) => tracing::error!(%error, run, "the note of a change cannot be read"),
        }
    }
    Ok(left)
}
