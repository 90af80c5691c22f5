//! Devices: made known by an admin, enrolled once by the device itself.

use super::{Answer, note, refuse, unheard};
use crate::secret::{self, Presented, Use};
use crate::store::{Conn, Row, args};
use crate::tokens::{self, NewToken};
use crate::{Ledger, LedgerError, Secret, time};
use domain::{Actor, Caller, Fault, Holders, Kind, Names, Origin};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The claim of a device's token that says which one it is.
pub const DEVICE_CLAIM: &str = "device";
/// The role of such a token.
pub const DEVICE_ROLE: &str = "device";

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Device {
    pub id: String,
    pub name: String,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub enrolled_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub seen_at: Option<Timestamp>,
    /// What its owner lets scripts have; none before it has enrolled.
    pub grants: Option<Value>,
    pub sandbox_tier: Option<String>,
    /// What holds its scripts; none where it did not say.
    pub cells: Option<Holders>,
    pub version: Option<String>,
}

/// What a device says of itself when it enrols.
#[derive(Debug, Clone)]
pub struct Enrolment {
    pub grants: Value,
    pub sandbox_tier: String,
    pub cells: Option<Holders>,
    pub version: String,
    pub now: Timestamp,
}

pub struct Enrolled {
    pub device_id: String,
    pub token: Secret,
}

impl Ledger {
    /// Makes a device known, or gives a known one a new code. Its old token holds until the new code is used.
    pub async fn expect_device(
        &self,
        admin: &Caller,
        id: &str,
        name: &str,
        expires_at: Timestamp,
    ) -> Result<Secret, LedgerError> {
        let (admin, id, name) = (admin.clone(), id.to_owned(), name.to_owned());
        self.write(move |conn| expect(conn, &admin, (&id, &name), expires_at)).await
    }

    /// Uses up a code: the device gets its token, and one that it had before ends.
    pub async fn enrol_device(&self, code: &str, enrolment: Enrolment) -> Answer<Enrolled> {
        let Some(code) = Presented::parse(Use::Enrol, code) else { return Ok(Err(bad_code())) };
        let names = self.names;
        self.write(move |conn| enrol(conn, &code, &enrolment, names)).await
    }

    pub async fn device(&self, id: &str) -> Result<Option<Device>, LedgerError> {
        let id = id.to_owned();
        self.read(move |conn| find(conn, &id)).await
    }

    /// The device that was given this token when it enrolled. Another token of the same role and claim is none of it.
    pub async fn device_of_token(&self, token: &str) -> Result<Option<String>, LedgerError> {
        let Some(token) = Presented::parse(Use::Token, token) else { return Ok(None) };
        self.read(move |conn| {
            if !token.matches(conn)? {
                return Ok(None);
            }
            let found = conn.first("SELECT id FROM devices WHERE token_id = $1", args![&token.id])?;
            found.map(|row| row.get("id")).transpose()
        })
        .await
    }

    pub async fn devices(&self) -> Result<Vec<Device>, LedgerError> {
        self.read(|conn| conn.query("SELECT * FROM devices ORDER BY id", args![])?.iter().map(read).collect()).await
    }
}

fn expect(
    conn: &dyn Conn,
    admin: &Caller,
    (id, name): (&str, &str),
    expires_at: Timestamp,
) -> Result<Secret, LedgerError> {
    let minted = secret::mint(Use::Enrol)?;
    let sql = "INSERT INTO devices (id, name, created_at, created_by, code_id, code_hash, code_expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET name = excluded.name, \
               code_id = excluded.code_id, code_hash = excluded.code_hash, code_expires_at = excluded.code_expires_at";
    let now = time::text(Timestamp::now());
    conn.execute(sql, args![id, name, now, &admin.actor, &minted.id, &minted.hash, time::text(expires_at)])?;
    note(conn, "device.expected", admin, json!({ "device": id, "code": minted.id, "expires_at": expires_at }))?;
    Ok(minted.secret)
}

fn enrol(conn: &dyn Conn, code: &Presented, enrolment: &Enrolment, names: Names) -> Answer<Enrolled> {
    // Nobody is known yet: the code is all that there is.
    let nobody = Caller::new("unknown", DEVICE_ROLE);
    let detail = json!({ "code": code.id });
    if !code.matches(conn)? {
        return refuse(conn, "device.refused", &nobody, json!({}), bad_code());
    }
    let row = conn.only("SELECT id, token_id, code_expires_at FROM devices WHERE code_id = $1", args![&code.id])?;
    if row.get::<String>("code_expires_at")? <= time::text(enrolment.now) {
        return refuse(conn, "device.refused", &nobody, detail, bad_code());
    }
    let (device_id, old): (String, Option<String>) = (row.get("id")?, row.get("token_id")?);
    if let Some(old) = old {
        tokens::revoke(conn, &old, names)?;
    }
    let claims = BTreeMap::from([(DEVICE_CLAIM.to_owned(), device_id.clone())]);
    let actor = Actor::new(Origin::Device, &device_id);
    let token = NewToken { actor, role: DEVICE_ROLE.to_owned(), claims, expires_at: None };
    let (info, secret) = tokens::create(conn, &token, names)?;
    let sql = "UPDATE devices SET code_id = NULL, code_hash = NULL, code_expires_at = NULL, token_id = $2, \
               enrolled_at = $3, seen_at = $3, grants_json = $4, sandbox_tier = $5, version = $6, \
               cells_json = $7 WHERE id = $1";
    let Enrolment { grants, sandbox_tier, cells, version, now } = enrolment;
    let cells = cells.as_ref().map(serde_json::to_string).transpose()?;
    conn.execute(sql, args![&device_id, &info.id, time::text(*now), grants.to_string(), sandbox_tier, version, cells])?;
    let detail = json!({ "device": device_id, "code": code.id, "sandbox_tier": sandbox_tier, "version": version });
    let device = Caller::new(&info.actor, DEVICE_ROLE);
    note(conn, "device.enrolled", &device, detail)?;
    unheard::close_of(conn, &device, &device_id)?;
    Ok(Ok(Enrolled { device_id, token: secret }))
}

fn bad_code() -> Fault {
    Fault::new(Kind::Unauthenticated, "device.bad_code", "the code is wrong, used or expired")
        .hint("ask an admin for a new one")
}

pub(super) fn find(conn: &dyn Conn, id: &str) -> Result<Option<Device>, LedgerError> {
    conn.first("SELECT * FROM devices WHERE id = $1", args![id])?.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Device, LedgerError> {
    Ok(Device {
        id: row.get("id")?,
        name: row.get("name")?,
        created_at: time::parse("created_at", &row.get::<String>("created_at")?)?,
        enrolled_at: time::parse_optional("enrolled_at", row.get("enrolled_at")?)?,
        seen_at: time::parse_optional("seen_at", row.get("seen_at")?)?,
        grants: row.json_or_none("grants_json")?,
        sandbox_tier: row.get("sandbox_tier")?,
        cells: row.json_or_none("cells_json")?,
        version: row.get("version")?,
    })
}
