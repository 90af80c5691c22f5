//! Bearer tokens.

use crate::audit::{self, AuditEvent};
use crate::fields::Fields;
use crate::secret::{self, Presented, Secret, Use};
use crate::{LedgerError, time};
use jiff::Timestamp;
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Whom a token is for.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub actor: String,
    pub role: String,
    /// Further claims, for `rows` predicates.
    pub claims: BTreeMap<String, String>,
    /// Never, if none.
    pub expires_at: Option<Timestamp>,
}

/// What is known of a token. Its secret is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenInfo {
    /// The middle part of the secret; names the token in lists, logs and `revoke_token`.
    pub id: String,
    pub actor: String,
    pub role: String,
    pub claims: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl TokenInfo {
    /// Neither revoked nor expired.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    fn read(row: &Row<'_>) -> Result<Self, LedgerError> {
        let row = Fields(row);
        Ok(Self {
            id: row.get("id")?,
            actor: row.get("actor")?,
            role: row.get("role")?,
            claims: row.json("claims_json")?,
            created_at: time::parse("created_at", &row.get::<String>("created_at")?)?,
            expires_at: time::parse_optional("expires_at", row.get("expires_at")?)?,
            revoked_at: time::parse_optional("revoked_at", row.get("revoked_at")?)?,
        })
    }
}

pub(crate) fn create(conn: &Connection, token: NewToken) -> Result<(TokenInfo, Secret), LedgerError> {
    let minted = secret::mint(Use::Token)?;
    let NewToken { actor, role, claims, expires_at } = token;
    let created_at = Timestamp::now();
    let info = TokenInfo { id: minted.id, actor, role, claims, created_at, expires_at, revoked_at: None };
    conn.execute(
        "INSERT INTO tokens (id, hash, actor, role, claims_json, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (
            &info.id,
            minted.hash,
            &info.actor,
            &info.role,
            serde_json::to_string(&info.claims)?,
            time::text(created_at),
            expires_at.map(time::text),
        ),
    )?;
    let detail = json!({"token": info.id, "claims": info.claims, "expires_at": expires_at});
    audit::append(conn, &AuditEvent::new("token.created").about(&info.actor, &info.role).detail(detail))?;
    Ok((info, minted.secret))
}

/// All of them, the newest first.
pub(crate) fn list(conn: &Connection) -> Result<Vec<TokenInfo>, LedgerError> {
    let mut statement = conn.prepare_cached("SELECT * FROM tokens ORDER BY created_at DESC, id")?;
    let mut rows = statement.query([])?;
    let mut tokens = Vec::new();
    while let Some(row) = rows.next()? {
        tokens.push(TokenInfo::read(row)?);
    }
    Ok(tokens)
}

/// False when there is no such token, or it was revoked before.
pub(crate) fn revoke(conn: &Connection, id: &str) -> Result<bool, LedgerError> {
    let sql = "UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
    if conn.execute(sql, (id, time::text(Timestamp::now())))? == 0 {
        return Ok(false);
    }
    let token = conn.query_row("SELECT * FROM tokens WHERE id = ?1", [id], |row| Ok(TokenInfo::read(row)))??;
    let event = AuditEvent::new("token.revoked").about(&token.actor, &token.role).detail(json!({"token": id}));
    audit::append(conn, &event)?;
    Ok(true)
}

pub(crate) fn authenticate(conn: &Connection, presented: &Presented) -> Result<Option<TokenInfo>, LedgerError> {
    if !presented.matches(conn)? {
        return Ok(None);
    }
    let mut statement = conn.prepare_cached("SELECT * FROM tokens WHERE id = ?1")?;
    let token = statement.query_row([&presented.id], |row| Ok(TokenInfo::read(row)))??;
    Ok(Some(token).filter(|token| token.is_valid(Timestamp::now())))
}
