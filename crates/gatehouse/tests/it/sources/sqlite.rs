//! A SQLite database.

use super::{Had, Source, Trouble, data};
use rusqlite::types::Value;
use std::path::{Path, PathBuf};

pub struct Sqlite {
    file: PathBuf,
}

impl Sqlite {
    pub fn new(dir: &Path) -> Self {
        let file = dir.join("firm.sqlite");
        let mut sqlite = rusqlite::Connection::open(&file).unwrap();
        sqlite.execute_batch(&data::kinds(|kind| kind.sqlite)).unwrap();
        for table in data::tables() {
            let columns: Vec<String> = table.columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
            sqlite.execute_batch(&format!("CREATE TABLE {} ({})", table.name, columns.join(", "))).unwrap();
            let places = vec!["?"; columns.len()].join(", ");
            let rows = sqlite.transaction().unwrap();
            for line in table.csv.lines() {
                let values = line.split(',').map(|field| match field {
                    "" => Value::Null,
                    text => Value::Text(text.to_owned()),
                });
                let insert = format!("INSERT INTO {} VALUES ({places})", table.name);
                rows.prepare_cached(&insert).unwrap().execute(rusqlite::params_from_iter(values)).unwrap();
            }
            rows.commit().unwrap();
        }
        Self { file }
    }

    fn change(&self, sql: &str) {
        rusqlite::Connection::open(&self.file).unwrap().execute_batch(sql).unwrap();
    }
}

impl Source for Sqlite {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    fn section(&self) -> String {
        format!("kind = 'sqlite'\npath = '{}'", self.file.display())
    }

    fn has(&self, kind: &data::Kind) -> bool {
        kind.sqlite.is_some()
    }

    /// Its tables are looked at before each statement.
    fn code(&self, trouble: Trouble) -> &'static str {
        match trouble {
            Trouble::TableGone => "scan.unknown_table",
            _ => "scan.unknown_column",
        }
    }

    fn trouble(&mut self, trouble: Trouble) -> Had {
        match trouble {
            Trouble::TableGone => self.change("ALTER TABLE doomed RENAME TO hidden"),
            Trouble::ColumnGone => self.change("ALTER TABLE doomed DROP COLUMN word"),
            // A column has no type there that would bind its values.
            Trouble::Lost | Trouble::Credentials | Trouble::TypeChanged => return Had::CannotBe,
        }
        Had::Yes
    }

    fn mend(&mut self) {
        self.change("ALTER TABLE hidden RENAME TO doomed");
    }
}
