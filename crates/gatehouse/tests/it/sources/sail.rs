//! Sail, a distributed engine, over tables in Parquet that it reads itself, behind a gate that knows who may ask.

use super::files::Files;
use super::{Had, Source, Trouble, data};
use std::path::{Path, PathBuf};
use testkit::{GrpcGate, Mode};

/// What the gate asks for.
const TOKEN: &str = "a-pass-of-ours";

pub struct Sail {
    engine: testkit::Sail,
    gate: GrpcGate,
    mode: Mode,
    dir: PathBuf,
    trouble: Option<Trouble>,
}

impl Sail {
    pub fn new(mode: Mode, dir: &Path) -> Self {
        // The very files that the others are compared with.
        let dir = dir.join("lake");
        std::fs::create_dir(&dir).unwrap();
        drop(Files::new(&dir));
        let engine = testkit::Sail::start(mode);
        let gate = GrpcGate::before(&engine.url(), TOKEN);
        let sail = Self { engine, gate, mode, dir, trouble: None };
        sail.make_tables();
        sail
    }

    fn make_tables(&self) {
        let tables = data::tables();
        for table in tables.iter().map(|table| table.name).chain(["kinds", "nobody"]) {
            self.make(table, &format!("{table}.parquet"));
        }
    }

    fn make(&self, table: &str, file: &str) {
        let file = self.dir.join(file);
        self.engine.sql(&format!("CREATE TABLE {table} USING parquet LOCATION '{}'", file.display()));
    }
}

impl Sail {
    /// Puts another table in the place of `doomed`.
    fn replace(&self, sql: &str, file: &str) {
        let duck = duckdb::Connection::open_in_memory().unwrap();
        duck.execute_batch(&format!("COPY ({sql}) TO '{}'", self.dir.join(file).display())).unwrap();
        self.engine.sql("DROP TABLE doomed");
        self.make("doomed", file);
    }
}

impl Source for Sail {
    fn kind(&self) -> &'static str {
        match self.mode {
            Mode::Local => "sail",
            Mode::Cluster => "sail, a driver and workers",
        }
    }

    fn section(&self) -> String {
        format!("kind = 'flight'\nurl = '{}'\ntoken_env = 'LAKE_TOKEN'", self.gate.url)
    }

    fn variables(&self) -> Vec<(String, String)> {
        vec![("LAKE_TOKEN".to_owned(), TOKEN.to_owned())]
    }

    /// It has no such types: they arrive as bytes.
    fn has(&self, kind: &data::Kind) -> bool {
        !matches!(kind.duckdb.0, "UUID" | "INTERVAL")
    }

    fn trouble(&mut self, trouble: Trouble) -> Had {
        self.trouble = Some(trouble);
        match trouble {
            Trouble::Lost => self.engine.kill(),
            Trouble::Credentials => self.gate.demand("another"),
            Trouble::TableGone => drop(self.engine.sql("DROP TABLE doomed")),
            Trouble::TypeChanged => self.replace("SELECT 1 AS id, 7 AS word", "changed.parquet"),
            Trouble::ColumnGone => self.replace("SELECT 1 AS id", "less.parquet"),
        }
        Had::Yes
    }

    fn mend(&mut self) {
        match self.trouble.take() {
            Some(Trouble::TableGone) => self.make("doomed", "doomed.parquet"),
            Some(Trouble::Credentials) => self.gate.demand(TOKEN),
            Some(Trouble::TypeChanged | Trouble::ColumnGone) => {}
            // It is down, or still at work on what nobody waits for.
            Some(Trouble::Lost) | None => {
                self.engine.kill();
                self.engine.restart();
                self.make_tables();
            }
        }
    }

    /// A join keeps the threads that all statements share.
    fn works_beside(&self) -> bool {
        false
    }

    /// It stops where nobody takes its rows; what gives none before its end, it works on to the end.
    fn stops(&self) -> bool {
        false
    }
}
