//! Signing in to the page: a one-time code, changed for a session.

use crate::audit::{self, AuditEvent};
use crate::secret::{self, Presented, Secret, Use};
use crate::store::{Conn, args};
use crate::{Ledger, LedgerError, time};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

const LOGIN_LASTS: SignedDuration = SignedDuration::from_mins(10);
const SESSION_LASTS: SignedDuration = SignedDuration::from_hours(12);

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub actor: String,
    pub role: String,
}

impl Ledger {
    /// A sign-in code for the page: good once, for ten minutes.
    pub async fn create_login(&self, actor: &str, role: &str) -> Result<Secret, LedgerError> {
        let who = Identity { actor: actor.to_owned(), role: role.to_owned() };
        self.write(move |conn| create_login(conn, &who)).await
    }

    /// Changes a sign-in code for a session of twelve hours; the code is then used up.
    pub async fn redeem_login(&self, code: &str) -> Result<Option<Secret>, LedgerError> {
        let Some(code) = Presented::parse(Use::Login, code) else { return Ok(None) };
        self.write(move |conn| redeem_login(conn, &code)).await
    }

    /// Who holds this session.
    pub async fn session(&self, secret: &str) -> Result<Option<Identity>, LedgerError> {
        let Some(session) = Presented::parse(Use::Session, secret) else { return Ok(None) };
        self.read(move |conn| identity(conn, &session)).await
    }

    /// Signs out. False when there was no such session.
    pub async fn end_session(&self, secret: &str) -> Result<bool, LedgerError> {
        let Some(session) = Presented::parse(Use::Session, secret) else { return Ok(false) };
        self.write(move |conn| end_session(conn, &session)).await
    }
}

fn create_login(conn: &dyn Conn, who: &Identity) -> Result<Secret, LedgerError> {
    conn.execute("DELETE FROM sign_ins WHERE expires_at <= $1", args![time::text(Timestamp::now())])?;
    insert(conn, Use::Login, who, LOGIN_LASTS).map(|(_, code)| code)
}

/// Takes the code and gives a session for it. A code that was used, is too old or is wrong gives nothing.
fn redeem_login(conn: &dyn Conn, code: &Presented) -> Result<Option<Secret>, LedgerError> {
    let Some(who) = identity(conn, code)? else { return Ok(None) };
    delete(conn, code)?;
    let (id, session) = insert(conn, Use::Session, &who, SESSION_LASTS)?;
    let started = AuditEvent::new("session.started").about(&who.actor, &who.role);
    audit::append(conn, &started.detail(json!({ "session": id })))?;
    Ok(Some(session))
}

fn identity(conn: &dyn Conn, presented: &Presented) -> Result<Option<Identity>, LedgerError> {
    if !presented.matches(conn)? {
        return Ok(None);
    }
    let sql = "SELECT actor, role FROM sign_ins WHERE id = $1 AND expires_at > $2";
    let found = conn.first(sql, args![&presented.id, time::text(Timestamp::now())])?;
    found.map(|row| Ok(Identity { actor: row.get("actor")?, role: row.get("role")? })).transpose()
}

/// False when there was no such session.
fn end_session(conn: &dyn Conn, session: &Presented) -> Result<bool, LedgerError> {
    let Some(who) = identity(conn, session)? else { return Ok(false) };
    delete(conn, session)?;
    let ended = AuditEvent::new("session.ended").about(&who.actor, &who.role);
    audit::append(conn, &ended.detail(json!({ "session": session.id })))?;
    Ok(true)
}

/// The id of the new row, and its secret.
fn insert(
    conn: &dyn Conn,
    purpose: Use,
    who: &Identity,
    lasts: SignedDuration,
) -> Result<(String, Secret), LedgerError> {
    let minted = secret::mint(purpose)?;
    let kind = if matches!(purpose, Use::Login) { "login" } else { "session" };
    let expires_at = time::text(Timestamp::now().saturating_add(lasts).unwrap_or(Timestamp::MAX));
    conn.execute(
        "INSERT INTO sign_ins (id, kind, hash, actor, role, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
        args![&minted.id, kind, &minted.hash, &who.actor, &who.role, expires_at],
    )?;
    Ok((minted.id, minted.secret))
}

fn delete(conn: &dyn Conn, presented: &Presented) -> Result<(), LedgerError> {
    conn.execute("DELETE FROM sign_ins WHERE id = $1", args![&presented.id]).map(drop)
}
