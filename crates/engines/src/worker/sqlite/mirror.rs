//! A table in memory with rows that came from elsewhere, so that approved statements run over them as over any other.

use super::{Bound, Sqlite, failed, functions, open, quoted};
use crate::protocol::{Cause, Failed};
use domain::{FieldType, Value};
use rusqlite::{Connection, params_from_iter};
use std::time::{Duration, Instant};

/// What such a statement may take: there are few rows, and no joins.
const PATIENCE: Duration = Duration::from_secs(5);

/// The shape of the table.
pub struct Shape {
    pub table: String,
    pub columns: Vec<(String, FieldType)>,
    /// Columns that tell rows apart; in a row that is only tried, they are empty.
    pub key: Vec<String>,
}

impl Sqlite {
    /// A database of its own, gone with its last use.
    pub fn mirror(shape: &Shape, rows: &[Vec<Value>]) -> Result<Self, Failed> {
        let connection = filled(shape, rows).map_err(|e| failed(&e, Cause::Protocol))?;
        Ok(Self { connection })
    }
}

fn filled(shape: &Shape, rows: &[Vec<Value>]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    functions::register(&connection)?;
    let column = |(name, kind): &(String, FieldType)| {
        let is_key = shape.key.iter().any(|key| key.eq_ignore_ascii_case(name));
        format!("{} {}{}", quoted(name), declared(*kind), if is_key { " DEFAULT ''" } else { "" })
    };
    let columns: Vec<String> = shape.columns.iter().map(column).collect();
    let table = quoted(&shape.table);
    connection.execute_batch(&format!("CREATE TABLE {table} ({})", columns.join(", ")))?;
    let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
    let insert = format!("INSERT INTO {table} VALUES ({})", places.join(", "));
    for row in rows {
        connection.prepare_cached(&insert)?.execute(params_from_iter(row.iter().map(Bound)))?;
    }
    connection.flush_prepared_statement_cache();
    let start = Instant::now();
    connection.progress_handler(10_000, Some(move || start.elapsed() > PATIENCE))?;
    open::lock_down(&mut connection)?;
    Ok(connection)
}

/// As a table would declare it.
pub fn declared(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Integer => "INTEGER",
        FieldType::Number => "REAL",
        FieldType::Boolean => "BOOLEAN",
        FieldType::Date => "DATE",
        FieldType::Timestamp => "TIMESTAMP",
        FieldType::Json | FieldType::List | FieldType::Struct => "JSON",
        _ => "TEXT",
    }
}
