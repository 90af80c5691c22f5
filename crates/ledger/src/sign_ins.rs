//! Signing in to the page: a one-time code, changed for a session.

use crate::audit::{self, AuditEvent};
use crate::secret::{self, Presented, Secret, Use};
use crate::{LedgerError, time};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension};

const LOGIN_LASTS: SignedDuration = SignedDuration::from_mins(10);
const SESSION_LASTS: SignedDuration = SignedDuration::from_hours(12);

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub actor: String,
    pub role: String,
}

pub(crate) fn create_login(conn: &Connection, who: &Identity) -> Result<Secret, LedgerError> {
    conn.execute("DELETE FROM sign_ins WHERE expires_at <= ?1", [time::text(Timestamp::now())])?;
    insert(conn, Use::Login, who, LOGIN_LASTS)
}

/// Takes the code and gives a session for it. A code that was used, is too old or is wrong gives nothing.
pub(crate) fn redeem_login(conn: &Connection, code: &Presented) -> Result<Option<Secret>, LedgerError> {
    let Some(who) = identity(conn, code)? else { return Ok(None) };
    delete(conn, code)?;
    let session = insert(conn, Use::Session, &who, SESSION_LASTS)?;
    audit::append(conn, &AuditEvent::new("session.started").about(&who.actor, &who.role))?;
    Ok(Some(session))
}

pub(crate) fn identity(conn: &Connection, presented: &Presented) -> Result<Option<Identity>, LedgerError> {
    if !presented.matches(conn)? {
        return Ok(None);
    }
    let mut statement = conn.prepare_cached("SELECT actor, role FROM sign_ins WHERE id = ?1 AND expires_at > ?2")?;
    let now = time::text(Timestamp::now());
    let who = statement.query_row([&presented.id, &now], |row| Ok(Identity { actor: row.get(0)?, role: row.get(1)? }));
    Ok(who.optional()?)
}

/// False when there was no such session.
pub(crate) fn end_session(conn: &Connection, session: &Presented) -> Result<bool, LedgerError> {
    let Some(who) = identity(conn, session)? else { return Ok(false) };
    delete(conn, session)?;
    audit::append(conn, &AuditEvent::new("session.ended").about(&who.actor, &who.role))?;
    Ok(true)
}

fn insert(conn: &Connection, purpose: Use, who: &Identity, lasts: SignedDuration) -> Result<Secret, LedgerError> {
    let minted = secret::mint(purpose)?;
    let kind = if matches!(purpose, Use::Login) { "login" } else { "session" };
    let expires_at = time::text(Timestamp::now().saturating_add(lasts).unwrap_or(Timestamp::MAX));
    conn.execute(
        "INSERT INTO sign_ins (id, kind, hash, actor, role, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (&minted.id, kind, &minted.hash, &who.actor, &who.role, expires_at),
    )?;
    Ok(minted.secret)
}

fn delete(conn: &Connection, presented: &Presented) -> Result<(), LedgerError> {
    conn.execute("DELETE FROM sign_ins WHERE id = ?1", [&presented.id])?;
    Ok(())
}
