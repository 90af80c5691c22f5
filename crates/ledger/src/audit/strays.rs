//! Records that do not match the chain one to one: the walk meets what the chain names, and these it would not meet.

use super::report::Flaw;
use crate::LedgerError;
use crate::store::{Conn, Row};
use domain::{RunId, sha256_hex};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Runs that have been met, by 16 bytes each: a chain of ten million runs takes some 300 MB to walk.
#[derive(Default)]
pub(super) struct Met(HashSet<[u8; 16]>);

impl Met {
    /// False when it was met before.
    pub(super) fn add(&mut self, run_id: &str) -> bool {
        self.0.insert(short(run_id))
    }
}

/// Ids of runs are 16 bytes; of what somebody made up, as many of its digest.
fn short(run_id: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    let digits = match run_id.parse::<RunId>() {
        Ok(id) => id.to_string().replace('-', ""),
        Err(_) => sha256_hex(run_id.as_bytes()).chars().take(32).collect(),
    };
    // 32 hex digits, either way.
    let _ = hex::decode_to_slice(digits, &mut bytes);
    bytes
}

/// The first capsule that no entry names, or that a run has besides another. The chain has been walked: `recorded` are
/// the runs that it names.
pub(super) fn find(conn: &dyn Conn, recorded: &Met) -> Result<Option<Flaw>, LedgerError> {
    let (mut kept, mut unrecorded, mut twice) = (Met::default(), None, None);
    // Not by an index, which does not know of what somebody put into the file.
    let all = conn.either("SELECT run_id FROM run_capsules NOT INDEXED", "SELECT run_id FROM run_capsules");
    let mut see = |row: &Row| {
        let run_id: String = row.get("run_id")?;
        if !recorded.0.contains(&short(&run_id)) {
            unrecorded = Some(Flaw::unrecorded(&run_id));
            return Ok(ControlFlow::Break(()));
        }
        if !kept.add(&run_id) {
            twice = twice.take().or_else(|| Some(Flaw::kept_twice(&run_id)));
        }
        Ok(ControlFlow::Continue(()))
    };
    conn.each(all, &mut see)?;
    Ok(unrecorded.or(twice))
}
