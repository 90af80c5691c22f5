//! What a statement would read and give: rows counted, files measured by their footers.

use super::{bound, failed_on_data};
use crate::protocol::{Estimate, Failed, Query};
use duckdb::{Connection, params_from_iter};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long rows are counted before it is given up: then they are not known.
const PATIENCE: Duration = Duration::from_secs(1);

pub fn estimate(connection: &Connection, query: &Query) -> Result<Estimate, Failed> {
    let result_rows = within_patience(connection, || count(connection, query))?;
    Ok(Estimate { scan_bytes: None, result_rows, result_bytes: None })
}

/// DuckDB counts by reading nothing but the columns of the predicate, and those only where footers leave room for a
/// match.
fn count(connection: &Connection, query: &Query) -> duckdb::Result<u64> {
    let sql = format!("SELECT count(*) FROM ({})", query.sql);
    let params = params_from_iter(query.params.iter().map(bound));
    let rows: i64 = connection.query_row(&sql, params, |row| row.get(0))?;
    Ok(u64::try_from(rows).unwrap_or_default().min(query.rows))
}

fn within_patience<T>(connection: &Connection, work: impl FnOnce() -> duckdb::Result<T>) -> Result<Option<T>, Failed> {
    let interrupt = connection.interrupt_handle();
    let (done, waiting) = channel::<()>();
    let (worked, late) = thread::scope(|scope| {
        let watchman = scope.spawn(move || {
            let late = matches!(waiting.recv_timeout(PATIENCE), Err(RecvTimeoutError::Timeout));
            if late {
                interrupt.interrupt();
            }
            late
        });
        let worked = work();
        drop(done);
        (worked, watchman.join().unwrap_or_default())
    });
    match worked {
        Ok(value) => Ok(Some(value)),
        Err(_) if late => Ok(None),
        Err(error) => Err(failed_on_data(&error)),
    }
}
