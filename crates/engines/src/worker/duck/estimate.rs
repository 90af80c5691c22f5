//! What a statement would read and give: rows counted, their width looked at, files measured by their footers.

use super::footer::{self, Reads};
use super::{Duck, bound, encode, failed_on_data};
use crate::protocol::{Estimate, Failed, Query};
use duckdb::{Connection, params_from_iter};
use serde_json::Value;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long each part may take. What is not found out by then is not known.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Rows that tell how wide the others are.
const LOOKED_AT: usize = 2_000;

impl Duck {
    /// With a row filter, only by what those rows say that pass it: files, and what DuckDB knows of them, are about all.
    pub fn measure(&self, query: &Query, patience: Duration) -> Result<Estimate, Failed> {
        let mut result_rows = self.within(patience, || self.count(query))?;
        let width = self.within(patience, || self.width(query))?.flatten();
        let mut scan_bytes = None;
        if !query.filtered {
            // Of a file of text DuckDB guesses by its size.
            if result_rows.is_none() && query.sees_all {
                result_rows = self.within(patience, || self.planned(query))?.flatten();
            }
            scan_bytes = self.within(patience, || self.scan_bytes(query))?.flatten();
        }
        let result_bytes = width.zip(result_rows).map(|(width, rows)| scaled(width, rows));
        Ok(Estimate { scan_bytes, result_rows, result_bytes })
    }

    /// What DuckDB plans with, by statistics: where counting takes too long.
    fn planned(&self, query: &Query) -> duckdb::Result<Option<u64>> {
        let plan = explained(&self.connection, query)?;
        Ok(cardinality(&plan).map(|rows| rows.min(query.rows)))
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

    /// Of a Parquet file the columns that are read, in the row groups that may hold a match; any other file whole, which its
    /// size tells who may see all of it.
    fn scan_bytes(&self, query: &Query) -> duckdb::Result<Option<u64>> {
        let [table] = query.tables.as_slice() else { return Ok(None) };
        let Some(table) = self.tables.iter().find(|t| t.name == *table) else { return Ok(None) };
        let path = &table.path;
        // Also where a copy is read: it is the file that an estimate is about.
        let connection = self.by_file(table)?;
        let plan = explained(connection, query)?;
        match Reads::of_plan(&plan) {
            // DuckDB knows from the footers alone that there is nothing.
            None if plan.contains("\"EMPTY_RESULT\"") => Ok(Some(0)),
            None => Ok(std::fs::metadata(path).ok().map(|meta| meta.len()).filter(|_| query.sees_all)),
            Some(reads) => {
                let kinds = self.describe_table(&table.name)?.columns;
                match self.bytes(&footer::bytes_query(path, &reads, &kinds)) {
                    Ok(bytes) => Ok(Some(bytes)),
                    // A condition that cannot be asked of a footer: every row group counts then.
                    Err(_) => self.bytes(&footer::bytes_query(path, &reads.without_conditions(), &kinds)).map(Some),
                }
            }
        }
    }

    fn bytes(&self, (sql, constants): &(String, Vec<String>)) -> duckdb::Result<u64> {
        let bytes: i64 = self.connection.query_row(sql, params_from_iter(constants), |row| row.get(0))?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    fn within<T>(&self, patience: Duration, work: impl FnOnce() -> duckdb::Result<T>) -> Result<Option<T>, Failed> {
        let interrupt = self.connection.interrupt_handle();
        let (done, waiting) = channel::<()>();
        let (worked, late) = thread::scope(|scope| {
            let watchman = scope.spawn(move || {
                let late = matches!(waiting.recv_timeout(patience), Err(RecvTimeoutError::Timeout));
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

fn explained(connection: &Connection, query: &Query) -> duckdb::Result<String> {
    let sql = format!("EXPLAIN (FORMAT json) {}", query.sql);
    connection.query_row(&sql, params_from_iter(query.params.iter().map(bound)), |row| row.get(1))
}

/// Of the first step from the top that says one.
fn cardinality(plan: &str) -> Option<u64> {
    fn of(node: &Value) -> Option<u64> {
        match node {
            Value::Array(nodes) => nodes.iter().find_map(of),
            Value::Object(fields) => {
                let told = fields.get("extra_info").and_then(|info| info.get("Estimated Cardinality"));
                let told = told.and_then(|told| told.as_u64().or_else(|| told.as_str()?.parse().ok()));
                told.or_else(|| fields.get("children").and_then(of))
            }
            _ => None,
        }
    }
    of(&serde_json::from_str(plan).ok()?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::OpenTable;

    fn query(sql: &str, filtered: bool) -> Query {
        serde_json::from_value(serde_json::json!({
            "sql": sql, "params": [], "rows": u64::MAX, "bytes": 1 << 20, "tables": ["t"], "filtered": filtered, "sees_all": !filtered
        }))
        .unwrap()
    }

    /// What takes too long to count is taken from statistics, and of rows that somebody may not see nothing is told by them.
    #[test]
    fn statistics_stand_in_for_a_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        let rows = "SELECT range AS id, 'x' AS note FROM range(100000)";
        let made = Connection::open_in_memory().unwrap();
        made.execute_batch(&format!("COPY ({rows}) TO '{}' (ROW_GROUP_SIZE 10000)", path.display())).unwrap();
        let duck = Duck::open(&[OpenTable { name: "t".into(), path, copy: None }], 256 << 20, 1, false).unwrap();
        let endless = "SELECT a.id FROM t AS a CROSS JOIN t AS b CROSS JOIN t AS c WHERE a.id + b.id + c.id > 5";
        let patience = Duration::from_millis(20);
        let estimate = duck.measure(&query(endless, false), patience).unwrap();
        assert!(estimate.result_rows.is_some_and(|rows| rows > 1_000_000), "{estimate:?}");
        let estimate = duck.measure(&query(endless, true), patience).unwrap();
        assert_eq!((estimate.result_rows, estimate.result_bytes, estimate.scan_bytes), (None, None, None));

        let narrow = "SELECT id, note FROM t WHERE id < 20000";
        let counted = duck.measure(&query(narrow, false), PATIENCE).unwrap();
        assert_eq!(counted.result_rows, Some(20_000));
        let planned = duck.planned(&query(narrow, false)).unwrap().unwrap();
        assert!((10_000..=40_000).contains(&planned), "{planned}");
        let (all, some) = (duck.measure(&query("SELECT id, note FROM t", false), PATIENCE).unwrap(), counted);
        assert!(some.scan_bytes.unwrap() * 4 < all.scan_bytes.unwrap(), "{some:?} {all:?}");
        assert_eq!(duck.measure(&query(narrow, true), PATIENCE).unwrap().scan_bytes, None);
    }
}
