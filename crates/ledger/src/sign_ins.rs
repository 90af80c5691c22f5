//! Signing in to the page: a one-time code, changed for a session.

use crate::audit::{self, AuditEvent};
use crate::secret::{self, Minted, Presented, Secret, Use};
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, names, time};
use domain::{Actor, Names};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

const LOGIN_LASTS: SignedDuration = SignedDuration::from_mins(10);
const SESSION_LASTS: SignedDuration = SignedDuration::from_hours(12);

/// The kinds of rows.
pub(crate) const LOGIN: &str = "login";
const SESSION: &str = "session";

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub actor: String,
    pub role: String,
}

impl Ledger {
    /// A sign-in code for the page, good once, for ten minutes, and its `login.created` entry.
    pub async fn create_login(&self, actor: &str, role: &str) -> Result<Secret, LedgerError> {
        let (actor, role, written) = (Actor::token(actor), role.to_owned(), self.names);
        self.write(move |conn| create_login(conn, &actor, &role, written)).await
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

/// A row of the table, code or session.
pub(crate) struct Kept {
    pub id: String,
    pub kind: String,
    hash: String,
    pub actor: String,
    pub role: String,
    pub expires_at: String,
}

impl Kept {
    pub(crate) fn read(row: &Row) -> Result<Self, LedgerError> {
        let (id, kind, hash) = (row.get("id")?, row.get("kind")?, row.get("hash")?);
        let (actor, role, expires_at) = (row.get("actor")?, row.get("role")?, row.get("expires_at")?);
        Ok(Self { id, kind, hash, actor, role, expires_at })
    }

    /// The digest that its entry names.
    pub(crate) fn record(&self) -> Result<String, LedgerError> {
        audit::record(&[&self.id, &self.kind, &self.hash, &self.actor, &self.role, &self.expires_at])
    }
}

fn create_login(conn: &dyn Conn, actor: &Actor, role: &str, written: Names) -> Result<Secret, LedgerError> {
    names::check(conn, actor)?;
    conn.execute("DELETE FROM sign_ins WHERE expires_at <= $1", args![time::text(Timestamp::now())])?;
    let (code, secret) = insert(conn, Use::Login, (&names::KEPT.write(actor), role), LOGIN_LASTS)?;
    let created = AuditEvent::new("login.created").about(&written.write(actor), role);
    let detail = json!({ "login": code.id, "expires_at": code.expires_at, "record": code.record()? });
    audit::append(conn, &created.detail(detail))?;
    Ok(secret)
}

/// Takes the code and gives a session for it. A code that was used, is too old or is wrong gives nothing.
fn redeem_login(conn: &dyn Conn, code: &Presented, written: Names) -> Result<Option<Secret>, LedgerError> {
    let Some(who) = identity(conn, code, written)? else { return Ok(None) };
    let used = Kept::read(&conn.only("SELECT * FROM sign_ins WHERE id = $1", args![&code.id])?)?;
    delete(conn, code)?;
    let kept = names::KEPT.write(&written.read(&who.actor));
    let (session, secret) = insert(conn, Use::Session, (&kept, &who.role), SESSION_LASTS)?;
    let started = AuditEvent::new("session.started").about(&who.actor, &who.role);
    let detail = json!({
        "session": session.id, "login": used.id, "login_record": used.record()?,
        "expires_at": session.expires_at, "record": session.record()?,
    });
    audit::append(conn, &started.detail(detail))?;
    Ok(Some(secret))
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

/// The new row, and its secret.
fn insert(
    conn: &dyn Conn,
    purpose: Use,
    (actor, role): (&str, &str),
    lasts: SignedDuration,
) -> Result<(Kept, Secret), LedgerError> {
    let Minted { id, hash, secret } = secret::mint(purpose)?;
    let kind = if matches!(purpose, Use::Login) { LOGIN } else { SESSION }.to_owned();
    let expires_at = time::text(Timestamp::now().saturating_add(lasts).unwrap_or(Timestamp::MAX));
    let new = Kept { id, kind, hash, actor: actor.to_owned(), role: role.to_owned(), expires_at };
    conn.execute(
        "INSERT INTO sign_ins (id, kind, hash, actor, role, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
        args![&new.id, &new.kind, &new.hash, &new.actor, &new.role, &new.expires_at],
    )?;
    Ok((new, secret))
}

fn delete(conn: &dyn Conn, presented: &Presented) -> Result<(), LedgerError> {
    conn.execute("DELETE FROM sign_ins WHERE id = $1", args![&presented.id]).map(drop)
}
