//! What a statement would read and give: rows counted, their width looked at, files measured by their footers.

use super::footer::{self, Reads};
use super::{Duck, bound, encode, failed_on_data};
use crate::protocol::{Estimate, Failed, Query};
use duckdb::params_from_iter;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long each part may take. What is not found out by then is not known.
const PATIENCE: Duration = Duration::from_secs(2);
/// Rows that tell how wide the others are.
const LOOKED_AT: usize = 2_000;

impl Duck {
    pub fn measure(&self, query: &Query) -> Result<Estimate, Failed> {
        let result_rows = self.within_patience(|| self.count(query))?;
        let width = self.within_patience(|| self.width(query))?.flatten();
        let result_bytes = width.zip(result_rows).map(|(width, rows)| scaled(width, rows));
        let scan_bytes = self.within_patience(|| self.scan_bytes(query))?.flatten();
        Ok(Estimate { scan_bytes, result_rows, result_bytes })
    }

    /// DuckDB counts by reading nothing but the columns of the predicate, and those only where footers leave room for a
    /// match.
    fn count(&self, query: &Query) -> duckdb::Result<u64> {
        let sql = format!("SELECT count(*) FROM ({})", query.sql);
        let params = params_from_iter(query.params.iter().map(bound));
        let rows: i64 = self.connection.query_row(&sql, params, |row| row.get(0))?;
        Ok(u64::try_from(rows).unwrap_or_default().min(query.rows))
    }

    /// Bytes of Arrow of one row, on average over the first. Nothing without rows.
    fn width(&self, query: &Query) -> duckdb::Result<Option<f64>> {
        let mut statement = self.connection.prepare(&format!("FROM ({}) LIMIT {LOOKED_AT}", query.sql))?;
        let (mut rows, mut bytes) = (0, 0);
        for batch in statement.stream_arrow(params_from_iter(query.params.iter().map(bound)))? {
            let batch = batch?;
            rows += batch.num_rows();
            bytes += encode::size(&batch);
        }
        #[allow(clippy::cast_precision_loss, reason = "an average")]
        Ok((rows > 0).then(|| bytes as f64 / rows as f64))
    }

    /// Of a Parquet file the columns that are read, in the row groups that may hold a match; any other file whole.
    fn scan_bytes(&self, query: &Query) -> duckdb::Result<Option<u64>> {
        let [table] = query.tables.as_slice() else { return Ok(None) };
        let Some(table) = self.tables.iter().find(|t| t.name == *table) else { return Ok(None) };
        let path = &table.path;
        // Also where a copy is read: it is the file that an estimate is about.
        let connection = self.by_file(table)?;
        let sql = format!("EXPLAIN (FORMAT json) {}", query.sql);
        let plan: String =
            connection.query_row(&sql, params_from_iter(query.params.iter().map(bound)), |row| row.get(1))?;
        match Reads::of_plan(&plan) {
            // DuckDB knows from the footers alone that there is nothing.
            None if plan.contains("\"EMPTY_RESULT\"") => Ok(Some(0)),
            None => Ok(std::fs::metadata(path).ok().map(|meta| meta.len())),
            Some(reads) => {
                let kinds = self.describe_table(&table.name)?.columns;
                let sql = footer::bytes_query(path, &reads, &kinds);
                let pruned = self.must_be_one_select(&sql).ok().map(|()| self.bytes(&sql));
                match pruned {
                    Some(Ok(bytes)) => Ok(Some(bytes)),
                    // A condition that cannot be asked of a footer: every row group counts then.
                    _ => self.bytes(&footer::bytes_query(path, &reads.without_conditions(), &kinds)).map(Some),
                }
            }
        }
    }

    fn bytes(&self, sql: &str) -> duckdb::Result<u64> {
        let bytes: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    fn within_patience<T>(&self, work: impl FnOnce() -> duckdb::Result<T>) -> Result<Option<T>, Failed> {
        let interrupt = self.connection.interrupt_handle();
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
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate of bytes"
)]
fn scaled(width: f64, rows: u64) -> u64 {
    (width * rows as f64) as u64
}
