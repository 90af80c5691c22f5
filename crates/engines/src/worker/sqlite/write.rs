//! One write in one transaction, with an authorizer that knows its table and columns and no others.

use super::{Bound as Param, Sqlite, authorize, failed};
use crate::fault::words::{NO_TARGET, OUTSIDE, RULE, SEVERAL, STALE, TAKEN, UNIQUE};
use crate::protocol::{Bound, Cause, Change, Failed, Queried, Query};
use crate::worker::{Engine, encode};
use domain::Value;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ffi, params_from_iter};

/// The values that name a row.
type Key = Vec<Value>;

pub fn change(sqlite: &mut Sqlite, change: &Change, out: &mut dyn encode::Sink) -> Result<(Queried, u64), Failed> {
    let protocol = |e: rusqlite::Error| failed(&e, Cause::Protocol);
    let (table, columns, insert) = (change.table.clone(), change.columns.clone(), change.insert);
    let only_this = move |context: AuthContext<'_>| only(&table, &columns, insert, context);
    sqlite.connection.authorizer(Some(only_this)).map_err(protocol)?;
    let made = transact(sqlite, change, out);
    sqlite.connection.authorizer(Some(authorize)).map_err(protocol)?;
    made
}

/// What a write needs beside reading. A trigger may set other columns of the table, and write nowhere else.
fn only(table: &str, columns: &[String], insert: bool, context: AuthContext<'_>) -> Authorization {
    let is_table = |name: &str| name.eq_ignore_ascii_case(table);
    match context.action {
        AuthAction::Transaction { .. } => Authorization::Allow,
        AuthAction::Insert { table_name } if insert && is_table(table_name) => Authorization::Allow,
        AuthAction::Update { table_name, column_name }
            if is_table(table_name)
                && (context.accessor.is_some()
                    || !insert && columns.iter().any(|c| c.eq_ignore_ascii_case(column_name))) =>
        {
            Authorization::Allow
        }
        _ => authorize(context),
    }
}

fn transact(sqlite: &Sqlite, change: &Change, out: &mut dyn encode::Sink) -> Result<(Queried, u64), Failed> {
    let connection = &sqlite.connection;
    // At once, so that nobody writes between what is looked at and what is written.
    connection.execute_batch("BEGIN IMMEDIATE").map_err(|e| refused(&e))?;
    let made = steps(sqlite, change, out);
    let ended = match made {
        Ok(_) => connection.execute_batch("COMMIT").map_err(|e| refused(&e)),
        Err(_) => Ok(()),
    };
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(|e| failed(&e, Cause::Protocol))?;
    }
    ended.and(made)
}

fn steps(sqlite: &Sqlite, change: &Change, out: &mut dyn encode::Sink) -> Result<(Queried, u64), Failed> {
    let connection = &sqlite.connection;
    if let Some(before) = &change.before
        && rows(connection, before, |_| Ok(()))?.is_empty()
    {
        return Err(Failed::new(Cause::Missing, ""));
    }
    for reference in &change.references {
        if rows(connection, reference, |_| Ok(()))?.is_empty() {
            return Err(Failed::new(Cause::Reference, NO_TARGET));
        }
    }
    let (key, affected) = match twin(connection, change)? {
        Some(key) => (key, 0),
        None => (write(connection, change)?, 1),
    };
    let params = key.into_iter().chain(change.image.params.iter().skip(change.key).cloned()).collect();
    let image = Query { sql: change.image.sql.clone(), params, rows: 1, bytes: change.bytes, ..Query::default() };
    let queried = sqlite.query(&image, out)?;
    match (queried.row_count, affected) {
        (1, _) => Ok((queried, affected)),
        // Its twin belongs to somebody whose rows this caller does not see.
        (_, 0) => Err(Failed::new(Cause::Taken, TAKEN)),
        _ => Err(Failed::new(Cause::Outside, OUTSIDE)),
    }
}

/// The key of the row that a retry would insert again.
fn twin(connection: &Connection, change: &Change) -> Result<Option<Key>, Failed> {
    let Some(twin) = &change.twin else { return Ok(None) };
    let found = rows(connection, twin, |row| Ok((key(row, change.key)?, row.get::<_, Option<bool>>(change.key)?)))?;
    match found.as_slice() {
        [] => Ok(None),
        [(key, Some(true))] => Ok(Some(key.clone())),
        _ => Err(Failed::new(Cause::Taken, TAKEN)),
    }
}

fn write(connection: &Connection, change: &Change) -> Result<Key, Failed> {
    let mut written = rows(connection, &change.write, |row| key(row, change.key))?;
    match (written.pop(), written.is_empty()) {
        (Some(key), true) => Ok(key),
        (None, _) if change.versioned => Err(Failed::new(Cause::Stale, STALE)),
        (None, _) => Err(Failed::new(Cause::Missing, "")),
        (Some(_), false) => Err(Failed::new(Cause::Protocol, SEVERAL)),
    }
}

/// Runs a statement to its end.
fn rows<T>(
    connection: &Connection,
    statement: &Bound,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Failed> {
    let mut prepared = connection.prepare(&statement.sql).map_err(|e| failed(&e, Cause::Statement))?;
    let params = params_from_iter(statement.params.iter().map(Param));
    let found = prepared.query_map(params, |row| read(row)).map_err(|e| refused(&e))?;
    found.collect::<rusqlite::Result<_>>().map_err(|e| refused(&e))
}

fn key(row: &Row<'_>, width: usize) -> rusqlite::Result<Key> {
    (0..width)
        .map(|i| {
            Ok(match row.get_ref(i)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::Int(number),
                ValueRef::Real(number) => Value::Float(number),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    Value::Text(String::from_utf8_lossy(bytes).into_owned())
                }
            })
        })
        .collect()
}

/// Which constraint said no. The engine's own words name tables and values, and stay here.
fn refused(error: &rusqlite::Error) -> Failed {
    let rusqlite::Error::SqliteFailure(code, message) = error else { return failed(error, Cause::Data) };
    let told = |cause, words: &str| Failed::new(cause, words);
    match code.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            told(Cause::Unique, UNIQUE)
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => told(Cause::Reference, NO_TARGET),
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            let column = message.as_deref().and_then(|m| m.rsplit('.').next()).unwrap_or_default();
            told(Cause::Required, column)
        }
        _ if code.code == rusqlite::ErrorCode::ConstraintViolation => told(Cause::Check, RULE),
        _ if code.code == rusqlite::ErrorCode::DatabaseBusy => told(Cause::Busy, "somebody else holds the database"),
        _ => failed(error, Cause::Data),
    }
}
