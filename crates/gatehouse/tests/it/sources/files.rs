//! Parquet files, read by DuckDB.

use super::{Had, Source, Trouble, data};
use std::path::{Path, PathBuf};

pub struct Files {
    dir: PathBuf,
    tables: Vec<&'static str>,
}

impl Files {
    pub fn new(dir: &Path) -> Self {
        let duck = duckdb::Connection::open_in_memory().unwrap();
        duck.execute_batch("SET TimeZone = 'UTC'").unwrap();
        duck.execute_batch(&data::kinds(|kind| Some(kind.duckdb))).unwrap();
        let mut tables = vec!["kinds", "nobody"];
        for table in data::tables() {
            let csv = dir.join("data.csv");
            std::fs::write(&csv, &table.csv).unwrap();
            let columns: Vec<String> = table.columns.iter().map(|(name, kind)| format!("'{name}': '{kind}'")).collect();
            let (name, csv, columns) = (table.name, csv.display(), columns.join(", "));
            let read = format!("read_csv('{csv}', header = false, columns = {{{columns}}})");
            duck.execute_batch(&format!("CREATE TABLE {name} AS FROM {read}")).unwrap();
            tables.push(name);
        }
        for table in &tables {
            let file = dir.join(format!("{table}.parquet"));
            duck.execute_batch(&format!("COPY {table} TO '{}'", file.display())).unwrap();
        }
        Self { dir: dir.into(), tables }
    }

    fn file(&self, table: &str) -> PathBuf {
        self.dir.join(format!("{table}.parquet"))
    }
}

impl Source for Files {
    fn kind(&self) -> &'static str {
        "files"
    }

    fn section(&self) -> String {
        let files: Vec<String> =
            self.tables.iter().map(|table| format!("{table} = '{}'", self.file(table).display())).collect();
        format!("kind = 'files'\ntables = {{{}}}", files.join(", "))
    }

    /// Its tables are looked at before each statement: nothing of them is older than the files.
    fn code(&self, trouble: Trouble) -> &'static str {
        match trouble {
            Trouble::TableGone => "scan.unknown_table",
            _ => "scan.unknown_column",
        }
    }

    fn trouble(&mut self, trouble: Trouble) -> Had {
        match trouble {
            Trouble::TypeChanged => {
                let duck = duckdb::Connection::open_in_memory().unwrap();
                let file = self.file("doomed");
                duck.execute_batch(&format!("COPY (SELECT 1 AS id, 7 AS word) TO '{}'", file.display())).unwrap();
            }
            Trouble::TableGone => std::fs::rename(self.file("doomed"), self.file("hidden")).unwrap(),
            Trouble::ColumnGone => {
                let duck = duckdb::Connection::open_in_memory().unwrap();
                let file = self.file("doomed");
                duck.execute_batch(&format!("COPY (SELECT 1 AS id) TO '{}'", file.display())).unwrap();
            }
            Trouble::Lost | Trouble::Credentials => return Had::CannotBe,
        }
        Had::Yes
    }

    fn mend(&mut self) {
        if self.file("hidden").exists() {
            std::fs::rename(self.file("hidden"), self.file("doomed")).unwrap();
        }
    }
}
