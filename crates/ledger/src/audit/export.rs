//! The chain as lines, for whoever keeps a copy of it elsewhere.

use crate::store::Row;
use crate::{Home, LedgerError};
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::Write;
use std::ops::ControlFlow;

/// One entry as it is handed out: its text as it was hashed.
#[derive(Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Box<RawValue>>,
    prev_hash: String,
    hash: String,
}

impl crate::Ledger {
    /// Writes every entry, the first one first, as a line of JSON; how many. Nothing is checked, and nothing written to
    /// the ledger.
    pub fn export_chain(home: &Home, to: &mut (dyn Write + Send)) -> Result<u64, LedgerError> {
        home.examine(|conn| {
            let mut count = 0;
            let mut put = |row: &Row| {
                let line = Line {
                    entry: row.raw("entry_json").ok().flatten(),
                    prev_hash: row.get("prev_hash")?,
                    hash: row.get("hash")?,
                };
                let line = serde_json::to_string(&line)?;
                writeln!(to, "{line}").map_err(LedgerError::file("write to", "output"))?;
                count += 1;
                Ok(ControlFlow::Continue(()))
            };
            conn.each("SELECT entry_json, prev_hash, hash FROM audit ORDER BY seq", &mut put)?;
            Ok(count)
        })
    }
}
