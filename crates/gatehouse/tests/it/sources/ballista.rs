//! Ballista, a distributed engine of several processes, over tables in Parquet that it reads itself.

use super::files::Files;
use super::{Had, Source, Trouble, data};
use std::path::{Path, PathBuf};

pub struct Ballista {
    cluster: testkit::Ballista,
    dir: PathBuf,
    trouble: Option<Trouble>,
}

impl Ballista {
    pub fn new(dir: &Path) -> Self {
        // The very files that the others are compared with.
        let dir = dir.join("lake");
        std::fs::create_dir(&dir).unwrap();
        drop(Files::new(&dir));
        let ballista = Self { cluster: testkit::Ballista::start(), dir, trouble: None };
        ballista.make_tables();
        ballista
    }

    fn make_tables(&self) {
        let tables = data::tables();
        for table in tables.iter().map(|table| table.name).chain(["kinds", "nobody"]) {
            self.make(table, &format!("{table}.parquet"));
        }
    }

    fn make(&self, table: &str, file: &str) {
        let file = self.dir.join(file);
        self.cluster.sql(&format!("CREATE EXTERNAL TABLE {table} STORED AS PARQUET LOCATION '{}'", file.display()));
    }
}

/// A section over a cluster, below its head.
pub fn section(cluster: &testkit::Ballista) -> String {
    format!("kind = 'flight'\nurl = '{}'\ndialect = 'datafusion'", cluster.url())
}

impl Ballista {
    /// Puts another table in the place of `doomed`.
    fn replace(&self, sql: &str, file: &str) {
        let duck = duckdb::Connection::open_in_memory().unwrap();
        duck.execute_batch(&format!("COPY ({sql}) TO '{}'", self.dir.join(file).display())).unwrap();
        self.cluster.sql("DROP TABLE doomed");
        self.make("doomed", file);
    }
}

impl Source for Ballista {
    fn kind(&self) -> &'static str {
        "ballista"
    }

    fn section(&self) -> String {
        section(&self.cluster)
    }

    /// It has no such types: they arrive as bytes.
    fn has(&self, kind: &data::Kind) -> bool {
        !matches!(kind.duckdb.0, "UUID" | "INTERVAL")
    }

    /// It is built to be built quickly, not to run quickly.
    fn seconds(&self) -> u32 {
        15
    }

    fn trouble(&mut self, trouble: Trouble) -> Had {
        self.trouble = Some(trouble);
        match trouble {
            Trouble::Lost => self.cluster.kill(),
            // It knows nobody but by the tokens that it gives itself: see `cluster`.
            Trouble::Credentials => return Had::CannotBe,
            Trouble::TableGone => drop(self.cluster.sql("DROP TABLE doomed")),
            Trouble::TypeChanged => self.replace("SELECT 1 AS id, 7 AS word", "changed.parquet"),
            Trouble::ColumnGone => self.replace("SELECT 1 AS id", "less.parquet"),
        }
        Had::Yes
    }

    fn mend(&mut self) {
        match self.trouble.take() {
            Some(Trouble::TableGone) => self.make("doomed", "doomed.parquet"),
            Some(Trouble::TypeChanged | Trouble::ColumnGone | Trouble::Credentials) => {}
            // It is down, or still at work on what nobody waits for.
            Some(Trouble::Lost) | None => {
                self.cluster.kill();
                self.cluster.restart();
                self.make_tables();
            }
        }
    }

    /// It is tried too seldom to keep the list.
    fn is_known(&self) -> bool {
        false
    }

    /// Its executors have one place each, and what runs keeps it.
    fn works_beside(&self) -> bool {
        false
    }

    /// A statement there runs to its end, whoever still waits for it.
    fn stops(&self) -> bool {
        false
    }
}
