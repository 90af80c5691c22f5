//! Statements and rows of SQLite.

use crate::LedgerError;
use crate::store::{Conn, Dialect, Memo, Row, See, Session, Value};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Rows};
use std::sync::Arc;

pub(crate) struct SqliteConn(pub Connection, pub Memo);

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(kept: ValueRef<'_>) -> Value {
    match kept {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        // What is no text any more was written into the file past SQLite.
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Blob(bytes.to_owned()),
        },
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_owned()),
    }
}

impl From<Connection> for SqliteConn {
    fn from(conn: Connection) -> Self {
        Self(conn, Memo::default())
    }
}

impl SqliteConn {
    /// With values bound by their names: SQLite numbers `$2` by where it stands, not by what it says.
    fn bound(&self, sql: &str, args: &[Value]) -> Result<CachedStatement<'_>, LedgerError> {
        let mut statement = self.0.prepare_cached(sql)?;
        for (i, value) in args.iter().enumerate() {
            if let Some(index) = statement.parameter_index(&format!("${}", i + 1))? {
                statement.raw_bind_parameter(index, value)?;
            }
        }
        Ok(statement)
    }
}

fn columns(statement: &CachedStatement<'_>) -> Arc<[String]> {
    statement.column_names().map(str::to_owned).collect()
}

fn next(rows: &mut Rows<'_>, columns: &Arc<[String]>) -> Result<Option<Row>, LedgerError> {
    let Some(row) = rows.next()? else { return Ok(None) };
    let values = (0..columns.len()).map(|i| Ok(value(row.get_ref(i)?))).collect::<Result<_, rusqlite::Error>>()?;
    Ok(Some(Row::new(columns.clone(), values)))
}

impl Conn for SqliteConn {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn memo(&self) -> &Memo {
        &self.1
    }

    fn post(&self, sql: &str, args: Vec<Value>) -> Result<(), LedgerError> {
        self.execute(sql, &args).map(drop)
    }

    fn execute(&self, sql: &str, args: &[Value]) -> Result<usize, LedgerError> {
        Ok(self.bound(sql, args)?.raw_execute()?)
    }

    fn query(&self, sql: &str, args: &[Value]) -> Result<Vec<Row>, LedgerError> {
        let mut statement = self.bound(sql, args)?;
        let columns = columns(&statement);
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = next(&mut rows, &columns)? {
            found.push(row);
        }
        Ok(found)
    }

    fn each(&self, sql: &str, see: See<'_>) -> Result<(), LedgerError> {
        let mut statement = self.bound(sql, &[])?;
        let columns = columns(&statement);
        let mut rows = statement.raw_query();
        while let Some(row) = next(&mut rows, &columns)? {
            if see(&row)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Session for SqliteConn {
    fn begin(&self) -> Result<(), LedgerError> {
        self.control("BEGIN IMMEDIATE")
    }

    fn commit(&self) -> Result<(), LedgerError> {
        self.control("COMMIT")
    }

    fn rollback(&self) {
        drop(self.control("ROLLBACK"));
    }

    fn is_begun(&self) -> bool {
        !self.0.is_autocommit()
    }

    fn control(&self, sql: &'static str) -> Result<(), LedgerError> {
        self.0.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}
