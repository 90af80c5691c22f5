//! The file: opening connections to it and bringing its tables up to date.

use super::SqliteConn;
use crate::migrations::MIGRATIONS;
use crate::{LedgerError, files};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "GATE": marks the file as ours, so that no other database is migrated by mistake.
const APPLICATION_ID: i64 = 0x4741_5445;
/// How long one process waits for another that holds the write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENTS_KEPT: usize = 64;
const NO_MUTEX: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
const EVIDENCE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI);

/// The connection that writes. Creates the file and brings it up to date; one that is not a ledger is left as it is.
pub(crate) fn open_writer(path: &Path) -> Result<SqliteConn, LedgerError> {
    open_to_write(path).map_err(|error| match error {
        // Where no journal lies beside the file, SQLite says only that it can't open one.
        LedgerError::Inaccessible if is_read_only(path) => LedgerError::ReadOnly,
        other => other,
    })
}

fn open_to_write(path: &Path) -> Result<SqliteConn, LedgerError> {
    create(path)?;
    let mut conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | NO_MUTEX)?;
    prepare(&conn)?;
    version(&conn, path)?;
    protect(path)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    // Every commit reaches the disk before it is acknowledged, so that a power cut loses no more
    // than `kill -9`: nothing. Group commit makes callers share the cost.
    conn.pragma_update(None, "synchronous", "FULL")?;
    // Pruned text is overwritten, not only unlinked.
    conn.pragma_update(None, "secure_delete", "ON")?;
    conn.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    migrate(&mut conn, path)?;
    Ok(conn.into())
}

/// A connection that cannot write.
pub(crate) fn open_reader(path: &Path) -> Result<SqliteConn, LedgerError> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | NO_MUTEX)?;
    prepare(&conn)?;
    // LIKE and lower() of SQLite fold ASCII only; questions come in all languages.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("contains_folded", 2, flags, |args| {
        let (text, part) = (args.get::<Option<String>>(0)?, args.get::<String>(1)?);
        Ok(text.is_some_and(|text| text.to_lowercase().contains(&part)))
    })?;
    Ok(conn.into())
}

/// A connection to a ledger that may lie where nothing can be written: on a disk that has become read-only, or among
/// backups. Nothing is created, and nothing brought up to date.
pub(crate) fn open_evidence(path: &Path) -> Result<SqliteConn, LedgerError> {
    let opened = open_reader(path).and_then(|conn| version(&conn.0, path).map(|_| conn));
    match opened {
        // SQLite wants files beside it, to agree with those who write. Where it can't have them, nobody writes.
        Err(LedgerError::Inaccessible | LedgerError::ReadOnly) if !beside(path, "-wal").exists() => {
            let conn = Connection::open_with_flags(unchanging(path), EVIDENCE | NO_MUTEX)?;
            version(&conn, path)?;
            Ok(conn.into())
        }
        other => other,
    }
}

/// Whether nothing can be written where it lies.
fn is_read_only(path: &Path) -> bool {
    let trial = beside(path, "-trial");
    let tried = fs::File::create_new(&trial).and_then(|_| fs::remove_file(&trial));
    tried.is_err_and(|error| error.kind() == ErrorKind::ReadOnlyFilesystem)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The file as an address that says so.
fn unchanging(path: &Path) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?immutable=1")
}

fn prepare(conn: &Connection) -> Result<(), LedgerError> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    conn.pragma_update(None, "trusted_schema", "OFF")?;
    Ok(())
}

fn create(path: &Path) -> Result<(), LedgerError> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        files::private_dir(dir)?;
    }
    // One that exists is not even opened: closing it again would let go of the locks that SQLite
    // holds on it for other handles of this process.
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(LedgerError::file("create", path)(error)),
        _ => Ok(()),
    }
}

/// Mode 600; SQLite gives its `-wal` and `-shm` the same.
fn protect(path: &Path) -> Result<(), LedgerError> {
    let mode = fs::metadata(path).map_err(LedgerError::file("look at", path))?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(LedgerError::file("protect", path))
}

/// How many migrations the file has had.
fn version(conn: &Connection, path: &Path) -> Result<usize, LedgerError> {
    let read = |pragma| conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let (owner, found) = (read("application_id")?, read("user_version")?);
    let empty: bool = conn.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
    if owner != APPLICATION_ID && !(empty && found == 0) {
        return Err(LedgerError::NotALedger(path.to_owned()));
    }
    let known = MIGRATIONS.len();
    usize::try_from(found).ok().filter(|found| *found <= known).ok_or(LedgerError::Newer { found, known })
}

/// In one transaction, so that two processes that start at once do not both migrate.
fn migrate(conn: &mut Connection, path: &Path) -> Result<(), LedgerError> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let missing = MIGRATIONS.iter().skip(version(&tx, path)?);
    if missing.len() == 0 {
        return Ok(());
    }
    for migration in missing {
        tx.execute_batch(migration.sqlite)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    Ok(tx.commit()?)
}
