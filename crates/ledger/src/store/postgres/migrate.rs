//! Bringing the tables of a database up to date.

use super::PgConn;
use crate::LedgerError;
use crate::migrations::MIGRATIONS;
use crate::store::{Conn, Session};

/// How many migrations the database has had; none where there is no ledger yet.
pub(super) fn version(conn: &PgConn) -> Result<usize, LedgerError> {
    let conn: &dyn Conn = conn;
    let there = conn.only("SELECT to_regclass('ledger_version') IS NOT NULL AS there", &[])?;
    if !there.get::<bool>("there")? {
        return Ok(0);
    }
    let found: i64 = conn.only("SELECT version FROM ledger_version", &[])?.get("version")?;
    let known = MIGRATIONS.len();
    usize::try_from(found).ok().filter(|found| *found <= known).ok_or(LedgerError::Newer { found, known })
}

/// In one transaction, in turn with all writers: two servers that start at once do not both migrate.
pub(super) fn migrate(conn: &PgConn) -> Result<(), LedgerError> {
    conn.begin()?;
    let had = version(conn)?;
    if had < MIGRATIONS.len() {
        if had == 0 {
            is_free(conn)?;
            conn.batch(
                "CREATE TABLE ledger_version (version BIGINT NOT NULL); INSERT INTO ledger_version VALUES (0);",
            )?;
        }
        for migration in MIGRATIONS.iter().skip(had) {
            conn.batch(migration.postgres)?;
        }
        conn.execute("UPDATE ledger_version SET version = $1", &[(MIGRATIONS.len() as i64).into()])?;
    }
    conn.commit()
}

/// Another's tables of our names are left alone.
fn is_free(conn: &dyn Conn) -> Result<(), LedgerError> {
    let sql = "SELECT current_schema() AS schema, to_regclass('run_capsules') IS NOT NULL \
               OR to_regclass('audit') IS NOT NULL OR to_regclass('tokens') IS NOT NULL AS taken";
    let found = conn.only(sql, &[])?;
    match found.get::<bool>("taken")? {
        true => Err(LedgerError::Occupied(found.get::<Option<String>>("schema")?.unwrap_or_default())),
        false => Ok(()),
    }
}
