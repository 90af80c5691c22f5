//! Opening a database, and shutting it.

use super::functions;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// How a database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nobody changes it meanwhile.
    Immutable,
    /// Others may change it meanwhile: read under SQLite's own locks.
    Live,
    /// To be changed.
    Writer,
}

/// How long one waits for another who holds the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

pub fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let (mode, query) = match access {
        Access::Immutable => (OpenFlags::SQLITE_OPEN_READ_ONLY, "?immutable=1"),
        Access::Live => (OpenFlags::SQLITE_OPEN_READ_ONLY, ""),
        Access::Writer => (OpenFlags::SQLITE_OPEN_READ_WRITE, ""),
    };
    let flags = mode | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(format!("file:{name}{query}"), flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Opening is lazy: read the schema now, so that a file that is no database is found here.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    functions::register(&connection)?;
    if access == Access::Writer {
        // A journal that readers without shared memory understand; on the disk before anybody is told that it is done.
        connection
            .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = 1;")?;
    } else {
        connection.execute_batch("PRAGMA query_only = 1;")?;
    }
    lock_down(&mut connection)?;
    Ok(connection)
}

pub fn lock_down(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA temp_store = 2; PRAGMA cache_size = -16384;")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 16 * 1024 * 1024)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, 1024 * 1024)?;
    connection.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 200)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.authorizer(Some(authorize))
}

/// Reading, recursion and functions that compute. Everything else, also what SQLite may learn to
/// do in a later version, is denied.
pub fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Read { table_name, .. } if !table_name.to_ascii_lowercase().starts_with("sqlite_") => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } => match function_name.to_ascii_lowercase().as_str() {
            "load_extension" | "fts3_tokenizer" | "writefile" | "readfile" | "edit" => Authorization::Deny,
            _ => Authorization::Allow,
        },
        _ => Authorization::Deny,
    }
}
