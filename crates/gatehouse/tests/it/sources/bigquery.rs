//! BigQuery's emulator, behind a gate that knows who may ask.

use super::{Had, Source, Trouble, data, suite};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testkit::{Gate, GrpcGate};

/// The predicates of the suite, line by line.
const FILTERS: &str = include_str!("../cases/sources/filters.bigquery.txt");

pub struct BigQuery {
    emulator: testkit::BigQuery,
    gate: Gate,
    rows: GrpcGate,
    key: PathBuf,
    trouble: Option<Trouble>,
}

/// Rows that one statement inserts.
const AT_ONCE: usize = 400;

impl BigQuery {
    pub fn new(dir: &Path) -> Self {
        let emulator = testkit::BigQuery::start();
        let gate = Gate::before(&emulator.url());
        let (rows, key) = (gate.before_rows(&emulator.storage_url()), gate.key_file(dir));
        emulator.sql(&kinds());
        for table in data::tables() {
            make(&emulator, &table);
        }
        Self { emulator, gate, rows, key, trouble: None }
    }
}

/// A table of the suite, with its rows.
pub fn make(emulator: &testkit::BigQuery, table: &data::Table) {
    let columns: Vec<String> = table.columns.iter().map(|(name, kind)| format!("`{name}` {}", native(kind))).collect();
    emulator.sql(&format!("CREATE OR REPLACE TABLE `{}` ({})", table.name, columns.join(", ")));
    if table.name == "numbers" {
        let last = table.csv.lines().count() - 1;
        return emulator.sql(&format!("INSERT INTO numbers SELECT n FROM UNNEST(GENERATE_ARRAY(0, {last})) AS n"));
    }
    let rows: Vec<String> = table.csv.lines().map(|line| row(table, line)).collect();
    for some in rows.chunks(AT_ONCE) {
        emulator.sql(&format!("INSERT INTO `{}` VALUES {}", table.name, some.join(", ")));
    }
}

fn row(table: &data::Table, line: &str) -> String {
    let values = line.split(',').zip(&table.columns).map(|(value, (_, kind))| match (value, native(kind)) {
        ("", _) => "NULL".to_owned(),
        (number, "INT64" | "NUMERIC") => number.to_owned(),
        (text, "STRING") => format!("'{text}'"),
        (text, native) => format!("{native} '{text}'"),
    });
    format!("({})", values.collect::<Vec<_>>().join(", "))
}

/// Its types, by the names that the suite has for them.
fn native(kind: &str) -> &'static str {
    match kind {
        "SMALLINT" | "INTEGER" | "BIGINT" => "INT64",
        "DOUBLE" => "FLOAT64",
        "DECIMAL(10,2)" | "DECIMAL(20,4)" => "NUMERIC",
        "BOOLEAN" => "BOOL",
        "VARCHAR" | "TEXT" => "STRING",
        "DATE" => "DATE",
        "TIME" => "TIME",
        "TIMESTAMP" => "DATETIME",
        "TIMESTAMPTZ" => "TIMESTAMP",
        "BLOB" => "BYTES",
        other => panic!("no type for {other}"),
    }
}

/// It has no such types, or keeps no NULLs in lists, nor lists that are NULL. What it has instead is tried elsewhere, nested
/// types with it (`warehouse.rs`).
fn has(kind: &data::Kind) -> bool {
    let (native, _) = kind.duckdb;
    !matches!(native, "UUID" | "INTERVAL" | "DECIMAL(38,10)")
        && !native.ends_with("[]")
        && !native.starts_with("STRUCT")
}

fn kinds() -> String {
    let kept: Vec<&data::Kind> = data::KINDS.iter().filter(|kind| has(kind)).collect();
    let columns: Vec<String> = kept.iter().map(|kind| format!("`{}` {}", kind.column, native(kind.duckdb.0))).collect();
    let columns = columns.join(", ");
    let value = |kind: &data::Kind, place: usize| match (kind.column, kind.duckdb.1[place]) {
        ("bytes", _) => ["b'\\x00\\xff'", "b''"][place].to_owned(),
        ("note", _) => ["'it\\'s \"quoted\"'", "'line\\nbreak'"][place].to_owned(),
        (_, text) if text.starts_with('\'') && native(kind.duckdb.0) != "STRING" => {
            format!("{} {text}", native(kind.duckdb.0))
        }
        (_, other) => other.to_owned(),
    };
    let row = |place: usize| kept.iter().map(|kind| value(kind, place)).collect::<Vec<_>>().join(", ");
    let nulls = vec!["NULL"; kept.len()].join(", ");
    format!(
        "CREATE TABLE kinds (id INT64, {columns}); CREATE TABLE nobody (id INT64, {columns});
         INSERT INTO kinds VALUES (1, {}), (2, {}), (3, {nulls});",
        row(0),
        row(1),
    )
}

impl Source for BigQuery {
    fn kind(&self) -> &'static str {
        "bigquery"
    }

    fn section(&self) -> String {
        format!(
            "kind = 'bigquery'\nproject = '{}'\ndatasets = ['{}']\nurl = '{}'\nstorage_url = '{}'\ncredentials_file = '{}'",
            testkit::BigQuery::PROJECT,
            testkit::BigQuery::DATASET,
            self.gate.url,
            self.rows.url,
            self.key.display(),
        )
    }

    fn has(&self, kind: &data::Kind) -> bool {
        has(kind)
    }

    /// Exact numbers have nine digits behind the point.
    fn json(&self, kind: &data::Kind) -> [&'static str; 2] {
        match kind.column {
            "exact" => ["12345.678900000", "-0.000100000"],
            _ => kind.json,
        }
    }

    fn filter(&self, filter: &'static str) -> Option<&'static str> {
        let place =
            suite::cases(suite::FILTERS).position(|line| line == filter || line.ends_with(&format!(": {filter}")));
        suite::cases(FILTERS).nth(place.unwrap()).filter(|own| *own != "-")
    }

    /// NULLs come first there where nothing is said.
    fn shape(&self, shape: &str) -> String {
        shape.replace(r#""order_by": ["channel", "id"]"#, r#""order_by": ["channel NULLS LAST", "id"]"#)
    }

    fn trouble(&mut self, trouble: Trouble) -> Had {
        self.trouble = Some(trouble);
        match trouble {
            Trouble::Lost => self.emulator.kill(),
            Trouble::Credentials => self.gate.shut(true),
            Trouble::TableGone => self.emulator.sql("DROP TABLE doomed"),
            Trouble::TypeChanged => {
                self.emulator
                    .sql("CREATE OR REPLACE TABLE doomed (id INT64, word INT64); INSERT INTO doomed VALUES (1, 7)");
            }
            Trouble::ColumnGone => self.emulator.sql("ALTER TABLE doomed DROP COLUMN word"),
        }
        Had::Yes
    }

    fn mend(&mut self) {
        match self.trouble.take() {
            Some(Trouble::Lost) => self.emulator.restart(),
            Some(Trouble::Credentials) => self.gate.shut(false),
            Some(Trouble::TableGone) => {
                let doomed = data::tables().into_iter().find(|table| table.name == "doomed").unwrap();
                make(&self.emulator, &doomed);
            }
            Some(Trouble::TypeChanged | Trouble::ColumnGone) | None => {}
        }
    }

    fn is_idle(&self) -> bool {
        let soon = Instant::now() + Duration::from_secs(20);
        while self.emulator.running() > 0 {
            if Instant::now() > soon {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }
}
