//! Records that do not match the chain one to one: the walk meets what the chain names, and these it would not meet.

use super::RUN_RECORDED;
use super::report::Flaw;
use crate::LedgerError;
use rusqlite::{Connection, OptionalExtension};

/// The first of them. The chain has been walked: its entries can be read.
pub(super) fn find(conn: &Connection) -> Result<Option<Flaw>, LedgerError> {
    if let Some((run_id, seq)) = recorded_twice(conn)? {
        return Ok(Some(Flaw::recorded_twice(&run_id, seq)));
    }
    if let Some(run_id) = unrecorded(conn)? {
        return Ok(Some(Flaw::unrecorded(&run_id)));
    }
    Ok(kept_twice(conn)?.map(|run_id| Flaw::kept_twice(&run_id)))
}

/// A run with two entries, and the later one.
fn recorded_twice(conn: &Connection) -> Result<Option<(String, i64)>, LedgerError> {
    let sql = "SELECT entry_json ->> '$.run_id' AS run, max(seq) FROM audit WHERE entry_json ->> '$.kind' = ?1 \
               GROUP BY run HAVING count(*) > 1 ORDER BY 2 LIMIT 1";
    Ok(conn.query_row(sql, [RUN_RECORDED], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// A capsule that somebody put there past the chain.
fn unrecorded(conn: &Connection) -> Result<Option<String>, LedgerError> {
    let sql = "SELECT run_id FROM run_capsules NOT INDEXED WHERE run_id NOT IN \
               (SELECT ifnull(entry_json ->> '$.run_id', '') FROM audit WHERE entry_json ->> '$.kind' = ?1) LIMIT 1";
    Ok(conn.query_row(sql, [RUN_RECORDED], |row| row.get(0)).optional()?)
}

/// A run with two capsules. The table does not allow it, nor does its index know: whoever has the file made another.
fn kept_twice(conn: &Connection) -> Result<Option<String>, LedgerError> {
    let sql = "SELECT run_id FROM run_capsules NOT INDEXED GROUP BY run_id HAVING count(*) > 1 LIMIT 1";
    Ok(conn.query_row(sql, [], |row| row.get(0)).optional()?)
}
