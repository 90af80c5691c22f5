//! Hot copies, as the worker sees them: made from a file, and read instead of it.

use super::{Duck, connect, create_view, failed_on_data, literal, lock_down, quoted, source_failed};
use crate::protocol::{CopyOut, Failed, OpenTable};
use duckdb::Connection;
use std::path::Path;

/// The one table of a copy.
const TABLE: &str = "copied";

/// Makes a copy. Rows keep the order of the file, and columns the types that they have there.
pub fn copy(CopyOut { path, to, memory_bytes, threads }: &CopyOut) -> Result<(), Failed> {
    let connection = connect(*memory_bytes, *threads).map_err(|e| source_failed("the engine does not start", &e))?;
    create_view(&connection, TABLE, path).map_err(|e| source_failed("a file cannot be read", &e))?;
    let to = literal(&to.to_string_lossy());
    // The newest format that this library writes: none but the same will read it.
    let made = connection.execute_batch(&format!(
        "ATTACH {to} AS hot (STORAGE_VERSION 'latest');
         CREATE TABLE hot.{TABLE} AS FROM {TABLE};
         DETACH hot;"
    ));
    made.map_err(|e| failed_on_data(&e))
}

/// Shows a table from its copy. False when that cannot be read: its file can.
pub fn attach(connection: &Connection, number: usize, table: &str, copy: &Path) -> bool {
    let file = literal(&copy.to_string_lossy());
    let attached = connection.execute_batch(&format!(
        "ATTACH {file} AS hot_{number} (READ_ONLY);
         CREATE VIEW {} AS FROM hot_{number}.{TABLE};",
        quoted(table)
    ));
    if let Err(error) = &attached {
        eprintln!("a hot copy cannot be opened, its file is read: {error}");
    }
    attached.is_ok()
}

impl Duck {
    /// The connection that sees the file of this table, even where its copy is read.
    pub(super) fn by_file(&self, table: &OpenTable) -> duckdb::Result<&Connection> {
        if table.copy.is_none() || !is_parquet(&table.path) {
            return Ok(&self.connection);
        }
        if let Some(known) = self.by_file.get() {
            return Ok(known);
        }
        let connection = connect(self.memory_bytes, self.threads)?;
        for table in self.tables.iter().filter(|table| is_parquet(&table.path)) {
            create_view(&connection, &quoted(&table.name), &table.path)?;
        }
        lock_down(&connection, &self.tables)?;
        Ok(self.by_file.get_or_init(|| connection))
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_files_are_asked_of_files() {
        let dir = tempfile::tempdir().unwrap();
        let (path, to) = (dir.path().join("t.parquet"), dir.path().join("copy.duckdb"));
        let duck = Connection::open_in_memory().unwrap();
        duck.execute_batch(&format!("COPY (SELECT 1 AS n) TO '{}'", path.display())).unwrap();
        copy(&CopyOut { path: path.clone(), to: to.clone(), memory_bytes: 512 << 20, threads: 1 }).unwrap();
        let table = OpenTable { name: "t".to_owned(), path, copy: Some(to) };
        let duck = Duck::open(&[table], 512 << 20, 1, false).unwrap();
        let plan = |connection: &Connection| {
            connection.query_row("EXPLAIN SELECT n FROM main.t", [], |row| row.get::<_, String>(1)).unwrap()
        };
        assert!(!plan(&duck.connection).contains("PARQUET"), "{}", plan(&duck.connection));
        let by_file = duck.by_file(&duck.tables[0]).unwrap();
        assert!(plan(by_file).contains("PARQUET"), "{}", plan(by_file));
    }
}
