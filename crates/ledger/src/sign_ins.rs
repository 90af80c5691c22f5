//! Signing in to the page: a one-time code, changed for a session.

use crate::audit::{self, AuditEvent};
use crate::secret::{self, Presented, Secret, Use};
use crate::store::{Conn, args};
use crate::{Ledger, LedgerError, names, time};
use domain::{Actor, Names};
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
        let (actor, role) = (Actor::token(actor), role.to_owned());
        self.write(move |conn| create_login(conn, &actor, &role)).await
    }

    /// Changes a sign-in code for a session of twelve hours; the code is then used up.
    pub async fn redeem_login(&self, code: &str) -> Result<Option<Secret>, LedgerError> {
        let Some(code) = Presented::parse(Use::Login, code) else { return Ok(None) };
        let written = self.names;
        self.write(move |conn| redeem_login(conn, &code, written)).await
    }

    /// Who holds this session.
    pub async fn session(&self, secret: &str) -> Result<Option<Identity>, LedgerError> {
        let Some(session) = Presented::parse(Use::Session, secret) else { return Ok(None) };
        let written = self.names;
        self.read(move |conn| identity(conn, &session, written)).await
    }

    /// Signs out. False when there was no such session.
    pub async fn end_session(&self, secret: &str) -> Result<bool, LedgerError> {
        let Some(session) = Presented::parse(Use::Session, secret) else { return Ok(false) };
        let written = self.names;
        self.write(move |conn| end_session(conn, &session, written)).await
    }
}

fn create_login(conn: &dyn Conn, actor: &Actor, role: &str) -> Result<Secret, LedgerError> {
    names::check(conn, actor)?;
    conn.execute("DELETE FROM sign_ins WHERE expires_at <= $1", args![time::text(Timestamp::now())])?;
    insert(conn, Use::Login, (&names::KEPT.write(actor), role), LOGIN_LASTS).map(|(_, code)| code)
}

/// Takes the code and gives a session for it. A code that was used, is too old or is wrong gives nothing.
fn redeem_login(conn: &dyn Conn, code: &Presented, written: Names) -> Result<Option<Secret>, LedgerError> {
    let Some(who) = identity(conn, code, written)? else { return Ok(None) };
    delete(conn, code)?;
    let kept = names::KEPT.write(&written.read(&who.actor));
    let (id, session) = insert(conn, Use::Session, (&kept, &who.role), SESSION_LASTS)?;
    let started = AuditEvent::new("session.started").about(&who.actor, &who.role);
    audit::append(conn, &started.detail(json!({ "session": id })))?;
    Ok(Some(session))
}

fn identity(conn: &dyn Conn, presented: &Presented, written: Names) -> Result<Option<Identity>, LedgerError> {
    if !presented.matches(conn)? {
        return Ok(None);
    }
    let sql = "SELECT actor, role FROM sign_ins WHERE id = $1 AND expires_at > $2";
    let found = conn.first(sql, args![&presented.id, time::text(Timestamp::now())])?;
    found.map(|row| Ok(Identity { actor: names::kept(&row, written)?, role: row.get("role")? })).transpose()
}

/// False when there was no such session.
fn end_session(conn: &dyn Conn, session: &Presented, written: Names) -> Result<bool, LedgerError> {
    let Some(who) = identity(conn, session, written)? else { return Ok(false) };
    delete(conn, session)?;
    let ended = AuditEvent::new("session.ended").about(&who.actor, &who.role);
    audit::append(conn, &ended.detail(json!({ "session": session.id })))?;
    Ok(true)
}

/// The id of the new row, and its secret.
fn insert(
    conn: &dyn Conn,
    purpose: Use,
    (actor, role): (&str, &str),
    lasts: SignedDuration,
) -> Result<(String, Secret), LedgerError> {
    let minted = secret::mint(purpose)?;
    let kind = if matches!(purpose, Use::Login) { "login" } else { "session" };
    let expires_at = time::text(Timestamp::now().saturating_add(lasts).unwrap_or(Timestamp::MAX));
    conn.execute(
        "INSERT INTO sign_ins (id, kind, hash, actor, role, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
        args![&minted.id, kind, &minted.hash, actor, role, expires_at],
    )?;
    Ok((minted.id, minted.secret))
}

fn delete(conn: &dyn Conn, presented: &Presented) -> Result<(), LedgerError> {
    conn.execute("DELETE FROM sign_ins WHERE id = $1", args![&presented.id]).map(drop)
}
