//! An engine with every door open, so that nothing but the jail around it holds.
//!
//! The first line of stdin is the database as JSON (`{"duckdb": [["table", "file"]]}` or `{"sqlite": "file"}`), each
//! further one a JSON string: a statement. For each the answer is one JSON line, `{"ran": …}` or `{"failed": …}`.

use rusqlite::fallible_iterator::FallibleIterator;
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

/// Of what a statement gives, so much is told: enough to find a secret in.
const SHOWN: usize = 10_000;

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Database {
    DuckDb(Vec<(String, PathBuf)>),
    Sqlite(PathBuf),
}

enum Engine {
    DuckDb(duckdb::Connection),
    Sqlite(rusqlite::Connection),
}

type Ran = Result<String, Box<dyn Error>>;

pub fn run() -> io::Result<()> {
    let mut lines = io::stdin().lock().lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let engine = Engine::open(serde_json::from_str(&first)?).map_err(|e| io::Error::other(e.to_string()))?;
    for line in lines {
        let statement: String = serde_json::from_str(&line?)?;
        let answer: Value = match engine.run(&statement) {
            Ok(shown) => json!({ "ran": shown }),
            Err(error) => json!({ "failed": error.to_string() }),
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

impl Engine {
    fn open(database: Database) -> Result<Self, Box<dyn Error>> {
        Ok(match database {
            Database::DuckDb(tables) => {
                let connection = duckdb::Connection::open_in_memory()?;
                for (table, file) in tables {
                    let file = file.to_string_lossy().replace('\'', "''");
                    connection.execute_batch(&format!("CREATE VIEW {table} AS FROM read_parquet('{file}')"))?;
                }
                Self::DuckDb(connection)
            }
            // The file cannot be opened for writing in a jail; SQLite then falls back to reading.
            Database::Sqlite(file) => Self::Sqlite(rusqlite::Connection::open(file)?),
        })
    }

    fn run(&self, statement: &str) -> Ran {
        match self {
            Self::DuckDb(connection) => duck(connection, statement),
            Self::Sqlite(connection) => sqlite(connection, statement),
        }
    }
}

fn duck(connection: &duckdb::Connection, statement: &str) -> Ran {
    let mut statement = connection.prepare(statement)?;
    let mut shown = String::new();
    for batch in statement.stream_arrow([])? {
        if shown.len() < SHOWN {
            write!(shown, "{:?}", batch?.columns())?;
        }
    }
    Ok(shown.chars().take(SHOWN).collect())
}

fn sqlite(connection: &rusqlite::Connection, statement: &str) -> Ran {
    let mut shown = String::new();
    let mut batch = rusqlite::Batch::new(connection, statement);
    while let Some(mut statement) = batch.next()? {
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                if shown.len() < SHOWN {
                    let value: rusqlite::types::Value = row.get(column)?;
                    write!(shown, "{value:?} ")?;
                }
            }
        }
    }
    Ok(shown.chars().take(SHOWN).collect())
}
