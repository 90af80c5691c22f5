//! One part: a statement on its own source, and its rows in a file.

use super::Register;
use crate::House;
use crate::doors::scan::fetch::{self, Refusal};
use crate::doors::scan::query::placed;
use crate::streamed::{Piece, Streamed, Tail, Wanted};
use domain::{Caller, Column, Fault, Kind, Purpose, SessionId, Table};
use engines::{FileTable, Form};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// What a part may bring into a join. More belongs into its own statement, as a filter or an aggregate.
const MOST_ROWS: u64 = 5_000_000;
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// A result that a caller was given, to be joined.
pub struct Part {
    pub file: FileTable,
    pub table: Table,
    /// Resources of which it holds only some rows.
    pub filtered_by: Vec<String>,
}

impl Part {
    /// Runs the statement on the path, like any other, and keeps its rows.
    pub async fn fetch(
        house: &Arc<House>,
        caller: &Caller,
        session: SessionId,
        register: Register,
        dir: &Path,
    ) -> Result<Self, Refusal> {
        let Register { name, sql } = register;
        let proposal = placed(house, caller, sql).await?;
        let wanted = Wanted { form: Form::Parquet, rows: MOST_ROWS };
        let mut streamed = fetch::stream_in(house, caller, session, (proposal, Purpose::Answer), wanted, None).await?;
        let path = dir.join(format!("{name}.parquet"));
        let tail = keep(&mut streamed, &path, &name).await?;
        if tail.truncated {
            let fault = if tail.rows < MOST_ROWS { cut(&name, tail.rows) } else { too_large(&name) };
            return Err(fault.into());
        }
        let columns = streamed.head.columns.iter().map(|column| Column::new(&column.name, column.kind)).collect();
        let table = Table { name: name.clone(), columns, row_count: Some(tail.rows), given: true, ..Table::default() };
        Ok(Self { file: FileTable::new(name, path), table, filtered_by: streamed.head.filtered_by })
    }

    /// What the statement would read and give.
    pub async fn estimate(
        house: &Arc<House>,
        caller: &Caller,
        session: SessionId,
        register: Register,
    ) -> Result<Value, Refusal> {
        let proposal = placed(house, caller, register.sql).await?;
        let source = proposal.source().to_owned();
        let wanted = Wanted::all(Form::Estimate);
        let streamed = fetch::stream_in(house, caller, session, (proposal, Purpose::Estimate), wanted, None).await?;
        let filtered_by = streamed.head.filtered_by.clone();
        let (figures, _) = streamed.whole().await?;
        let figures: engines::Estimate =
            serde_json::from_slice(&figures).map_err(|_| Fault::internal("hybrid.estimate"))?;
        Ok(json!({
            "name": register.name,
            "source": source,
            "estimated_scan_bytes": figures.scan_bytes,
            "estimated_result_rows": figures.result_rows,
            "estimated_result_bytes": figures.result_bytes,
            "filtered_by": filtered_by,
        }))
    }
}

/// Writes the pieces to a file as they come.
async fn keep(streamed: &mut Streamed, path: &Path, name: &str) -> Result<Tail, Fault> {
    let unwritable = |error: std::io::Error| {
        tracing::error!(%error, "a part cannot be kept");
        Fault::new(Kind::Unavailable, "hybrid.disk", "the server has no room for the parts of this statement")
    };
    let mut file = tokio::fs::File::create(path).await.map_err(unwritable)?;
    // A worker is another user, whatever this one's mask says. Nobody else gets as far as the server's data.
    file.set_permissions(std::fs::Permissions::from_mode(0o644)).await.map_err(unwritable)?;
    let mut bytes = 0;
    while let Some(piece) = streamed.next().await {
        match piece? {
            Piece::Bytes(more) => {
                bytes += more.len() as u64;
                if bytes > MOST_BYTES {
                    return Err(too_large(name));
                }
                file.write_all(&more).await.map_err(unwritable)?;
            }
            Piece::Tail(tail) => {
                file.flush().await.map_err(unwritable)?;
                return Ok(tail);
            }
        }
    }
    Err(Fault::internal("stream.cut"))
}

/// It has a limit of the server's, or of the caller's, behind it.
fn cut(name: &str, rows: u64) -> Fault {
    let message = format!("the part `{name}` has more than the {rows} rows that one statement may give here");
    Fault::new(Kind::ResourceExceeded, "hybrid.part_too_large", message)
        .hint("filter or aggregate it in its own statement")
}

/// A join with a part of a part would be wrong.
fn too_large(name: &str) -> Fault {
    let mib = MOST_BYTES / 1024 / 1024;
    let message = format!("the part `{name}` has more than {MOST_ROWS} rows or {mib} MiB");
    Fault::new(Kind::ResourceExceeded, "hybrid.part_too_large", message)
        .hint("filter or aggregate it in its own statement")
}
