//! Bearer tokens.

use crate::audit::{self, AuditEvent};
use crate::secret::{self, Presented, Secret, Use};
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, names, time};
use domain::{Actor, Names};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Whom a token is for.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub actor: Actor,
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
    /// By its whole name.
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

    fn read(row: &Row, written: Names) -> Result<Self, LedgerError> {
        Ok(Self {
            id: row.get("id")?,
            actor: names::kept(row, written)?,
            role: row.get("role")?,
            claims: row.json("claims_json")?,
            created_at: time::parse("created_at", &row.get::<String>("created_at")?)?,
            expires_at: time::parse_optional("expires_at", row.get("expires_at")?)?,
            revoked_at: time::parse_optional("revoked_at", row.get("revoked_at")?)?,
        })
    }
}

impl Ledger {
    /// Makes a token and its `token.created` entry. The secret cannot be had again. The actor's name may not be one that
    /// people would take for another's.
    pub async fn create_token(&self, token: NewToken) -> Result<(TokenInfo, Secret), LedgerError> {
        let written = self.names;
        self.write(move |conn| {
            names::check(conn, &token.actor)?;
            create(conn, &token, written)
        })
        .await
    }

    /// All tokens, also revoked and expired ones, the newest first.
    pub async fn tokens(&self) -> Result<Vec<TokenInfo>, LedgerError> {
        let written = self.names;
        self.read(move |conn| list(conn, written)).await
    }

    /// Ends a token at once, with its `token.revoked` entry. False when there is no such token to end.
    pub async fn revoke_token(&self, id: &str) -> Result<bool, LedgerError> {
        let (id, written) = (id.to_owned(), self.names);
        self.write(move |conn| revoke(conn, &id, written)).await
    }

    /// Whose token this is; none for a wrong, revoked or expired one, and no saying which.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<TokenInfo>, LedgerError> {
        let Some(token) = Presented::parse(Use::Token, secret) else { return Ok(None) };
        let written = self.names;
        self.read(move |conn| authenticate(conn, &token, written)).await
    }
}

pub(crate) fn create(conn: &dyn Conn, token: &NewToken, written: Names) -> Result<(TokenInfo, Secret), LedgerError> {
    let minted = secret::mint(Use::Token)?;
    let NewToken { actor, role, claims, expires_at } = token.clone();
    let (kept, actor) = (names::KEPT.write(&actor), written.write(&actor));
    let created_at = Timestamp::now();
    let info = TokenInfo { id: minted.id, actor, role, claims, created_at, expires_at, revoked_at: None };
    let (claims, at, until) =
        (serde_json::to_string(&info.claims)?, time::text(created_at), expires_at.map(time::text));
    conn.execute(
        "INSERT INTO tokens (id, hash, actor, role, claims_json, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        args![&info.id, &minted.hash, &kept, &info.role, &claims, &at, until.as_deref()],
    )?;
    let until = until.as_deref().unwrap_or_default();
    let record = audit::record(&[&info.id, &minted.hash, &kept, &info.role, &claims, &at, until])?;
    let detail = json!({"token": info.id, "claims": info.claims, "expires_at": expires_at, "record": record});
    audit::append(conn, &AuditEvent::new("token.created").about(&info.actor, &info.role).detail(detail))?;
    Ok((info, minted.secret))
}

fn list(conn: &dyn Conn, written: Names) -> Result<Vec<TokenInfo>, LedgerError> {
    let tokens = conn.query("SELECT * FROM tokens ORDER BY created_at DESC, id", &[])?;
    tokens.iter().map(|row| TokenInfo::read(row, written)).collect()
}

/// False when there is no such token, or it was revoked before.
pub(crate) fn revoke(conn: &dyn Conn, id: &str, written: Names) -> Result<bool, LedgerError> {
    let sql = "UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    if conn.execute(sql, args![id, time::text(Timestamp::now())])? == 0 {
        return Ok(false);
    }
    let token = TokenInfo::read(&conn.only("SELECT * FROM tokens WHERE id = $1", args![id])?, written)?;
    let event = AuditEvent::new("token.revoked").about(&token.actor, &token.role).detail(json!({"token": id}));
    audit::append(conn, &event)?;
    Ok(true)
}

fn authenticate(conn: &dyn Conn, presented: &Presented, written: Names) -> Result<Option<TokenInfo>, LedgerError> {
    if !presented.matches(conn)? {
        return Ok(None);
    }
    let token = TokenInfo::read(&conn.only("SELECT * FROM tokens WHERE id = $1", args![&presented.id])?, written)?;
    Ok(Some(token).filter(|token| token.is_valid(Timestamp::now())))
}
