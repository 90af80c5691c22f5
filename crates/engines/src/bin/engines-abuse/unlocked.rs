//! An engine with every door open, so that nothing but the jail around it holds.
//!
//! It speaks as the real worker does (a tag, a length, JSON), and knows `Open` and `Query`.

use crate::frames::{request, tell};
use rusqlite::fallible_iterator::FallibleIterator;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::io;

/// Of what a statement gives, so much is told: enough to find a secret in.
const SHOWN: usize = 100_000;

enum Engine {
    DuckDb(duckdb::Connection),
    Sqlite(rusqlite::Connection),
}

type Ran = Result<String, Box<dyn Error>>;

pub fn run() -> io::Result<()> {
    let mut engine = None;
    while let Some(request) = request()? {
        let ran = match (&engine, request.pointer("/Query/sql").and_then(Value::as_str)) {
            (Some(engine), Some(sql)) => Engine::run(engine, sql),
            _ => Engine::open(request.pointer("/Open/engine")).map(|opened| {
                engine = Some(opened);
                String::new()
            }),
        };
        match ran {
            Ok(shown) => tell(b'D', json!({ "ran": shown }).to_string().as_bytes())?,
            Err(error) => tell(b'F', json!({ "failed": error.to_string() }).to_string().as_bytes())?,
        }
    }
    Ok(())
}

impl Engine {
    fn open(engine: Option<&Value>) -> Result<Self, Box<dyn Error>> {
        let engine = engine.ok_or("nothing to open")?;
        if let Some(file) = engine.get("Sqlite").and_then(Value::as_str) {
            // Where the file cannot be opened for writing, SQLite falls back to reading.
            return Ok(Self::Sqlite(rusqlite::Connection::open(file)?));
        }
        let connection = duckdb::Connection::open_in_memory()?;
        for table in engine.get("Files").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| table.get(key).and_then(Value::as_str).ok_or("a table has a name and a path");
            let (table, file) = (text("name")?, text("path")?.replace('\'', "''"));
            connection.execute_batch(&format!("CREATE VIEW {table} AS FROM read_parquet('{file}')"))?;
        }
        Ok(Self::DuckDb(connection))
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
