//! The queue of each device: what is sent once, fetched with a lease, and told how it ended.

use super::approvals::{self, Ready, too_late};
use super::proposals::{self, ProposalState, closed};
use super::{Answer, logs, note, refuse, results, unheard};
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, time};
use domain::package::{ClaimToken, ScriptResult, SignedPackage};
use domain::{Caller, Fault, Kind, Run};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PackageState {
    Queued,
    /// Its device has fetched it. After its lease it may be fetched again; the device knows what it has run.
    Claimed,
    Done,
    /// Nobody fetched it in time.
    Expired,
    /// Its device fetched it and said nothing of it again: it may have run. A late result makes it [`Self::Done`].
    Unheard,
    Withdrawn,
}

/// What is sent, once, for an approved proposal.
#[derive(Debug, Clone)]
pub struct Sending {
    pub ready: Ready,
    pub package_id: String,
    pub signed: SignedPackage,
    /// As far as it has come: it is recorded when the device tells the end.
    pub run: Run,
    pub now: Timestamp,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KeptPackage {
    pub package_id: String,
    pub proposal_id: String,
    pub device_id: String,
    pub digest: String,
    #[schemars(with = "String")]
    pub run_id: domain::RunId,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
    pub state: PackageState,
    /// How often it was fetched.
    pub claims: i64,
    /// When its device last said something about it before its end: that it takes it, or a piece of its log.
    #[schemars(with = "Option<String>")]
    pub heard_at: Option<Timestamp>,
    pub result: Option<ScriptResult>,
    /// How its rollback ended, if that was run.
    pub undone: Option<ScriptResult>,
    pub log: String,
    pub undone_log: String,
}

/// A part of what a script said. One that comes twice is kept once.
#[derive(Debug, Clone)]
pub struct LogPiece {
    pub rollback: bool,
    pub offset: i64,
    pub text: String,
    pub at: Timestamp,
}

impl Ledger {
    /// Puts a package into the queue of its device, with the run that it belongs to: durable before anything can run.
    /// A proposal is sent once.
    pub async fn send_script(&self, caller: &Caller, sending: Sending) -> Answer<()> {
        let caller = caller.clone();
        self.write(move |conn| send(conn, &caller, &sending)).await
    }

    /// Gives the oldest package of a device, under a new token and a lease.
    pub async fn claim_script(
        &self,
        caller: &Caller,
        device: &str,
        token: &ClaimToken,
        (now, lease_until): (Timestamp, Timestamp),
    ) -> Result<Option<SignedPackage>, LedgerError> {
        let (caller, device, hash) = (caller.clone(), device.to_owned(), token.sha256());
        self.write(move |conn| claim(conn, &caller, &device, &hash, (now, lease_until))).await
    }

    /// Closes what has waited too long for people, for its device, or for its device's word.
    pub async fn expire_scripts(&self, now: Timestamp) -> Result<(), LedgerError> {
        self.write(move |conn| {
            let house = Caller::new("gatehouse", "house");
            proposals::expire(conn, &house, now)?;
            expire(conn, &house, None, now)?;
            unheard::close_overdue(conn, &house, now)
        })
        .await
    }

    /// Until its end is told: a piece that comes again afterwards is heard again, and changes nothing.
    pub async fn log_script(&self, caller: &Caller, device: &str, token: &ClaimToken, piece: LogPiece) -> Answer<()> {
        let (caller, device, hash) = (caller.clone(), device.to_owned(), token.sha256());
        self.write(move |conn| logs::hear(conn, &caller, (&device, &hash), &piece)).await
    }

    /// How a package ended: with its run on record. The same end told again is heard again, and changes nothing.
    pub async fn end_script(
        &self,
        caller: &Caller,
        device: &str,
        token: &ClaimToken,
        result: ScriptResult,
    ) -> Answer<()> {
        let (caller, device, hash) = (caller.clone(), device.to_owned(), token.sha256());
        self.write(move |conn| results::end(conn, &caller, (&device, &hash), &result)).await
    }

    pub async fn package(&self, id: &str) -> Result<Option<KeptPackage>, LedgerError> {
        let id = id.to_owned();
        self.read(move |conn| show(conn, "SELECT * FROM packages WHERE id = $1", &id)).await
    }

    pub async fn package_of(&self, proposal: &str) -> Result<Option<KeptPackage>, LedgerError> {
        let id = proposal.to_owned();
        self.read(move |conn| show(conn, "SELECT * FROM packages WHERE proposal_id = $1", &id)).await
    }
}

fn send(conn: &dyn Conn, caller: &Caller, sending: &Sending) -> Answer<()> {
    let Ready { proposal: seen, .. } = &sending.ready;
    let Some(found) = proposals::find(conn, &seen.proposal_id)? else { return Err(LedgerError::NoAnswer) };
    let approved_by = approvals::approvers(conn, &found)?;
    let detail = json!({
        "proposal": found.proposal_id, "package": sending.package_id, "device": found.device_id,
        "digest": found.digest, "risk": found.risk.as_str(), "approved_by": approved_by,
        "expires_at": sending.expires_at,
    });
    let fault = match () {
        () if found.state != ProposalState::Waiting => Some(closed(found.state)),
        () if sending.now >= found.expires_at => Some(too_late()),
        () if (found.version, &found.digest) != (seen.version, &seen.digest) => Some(not_approved()),
        () if approved_by.len() < found.risk.approvers() => Some(not_approved()),
        () => None,
    };
    if let Some(fault) = fault {
        return refuse(conn, "script.sending_refused", caller, detail, fault);
    }
    conn.execute("UPDATE script_proposals SET state = 'sent' WHERE id = $1", args![&found.proposal_id])?;
    let sql = "INSERT INTO packages (id, proposal_id, device_id, digest, signed_json, run_json, created_at, expires_at, \
               state, claims) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', 0)";
    conn.execute(
        sql,
        args![
            &sending.package_id,
            &found.proposal_id,
            &found.device_id,
            &found.digest,
            serde_json::to_string(&sending.signed)?,
            serde_json::to_string(&sending.run)?,
            time::text(sending.now),
            time::text(sending.expires_at),
        ],
    )?;
    note(conn, "script.sent", caller, detail)?;
    Ok(Ok(()))
}

/// Out of the queue again; false when its device has it already.
pub(super) fn take_back(conn: &dyn Conn, proposal: &str) -> Result<bool, LedgerError> {
    let sql = "UPDATE packages SET state = 'withdrawn' WHERE proposal_id = $1 AND state = 'queued' RETURNING run_json";
    let Some(row) = conn.first(sql, args![proposal])? else { return Ok(false) };
    let fault = Fault::new(Kind::Conflict, "script.withdrawn", "the script was taken back before its device had it");
    results::close(conn, row.json("run_json")?, fault)?;
    Ok(true)
}

fn claim(
    conn: &dyn Conn,
    caller: &Caller,
    device: &str,
    hash: &str,
    (now, lease_until): (Timestamp, Timestamp),
) -> Result<Option<SignedPackage>, LedgerError> {
    conn.execute("UPDATE devices SET seen_at = $2 WHERE id = $1", args![device, time::text(now)])?;
    expire(conn, caller, Some(device), now)?;
    let sql = "SELECT id, digest, signed_json, claims FROM packages WHERE device_id = $1 \
               AND (state = 'queued' OR (state = 'claimed' AND lease_until <= $2 AND expires_at > $2)) \
               ORDER BY created_at, id LIMIT 1";
    let Some(row) = conn.first(sql, args![device, time::text(now)])? else { return Ok(None) };
    let id: String = row.get("id")?;
    let sql = "UPDATE packages SET state = 'claimed', claim_hash = $2, lease_until = $3, heard_at = $4, \
               claims = claims + 1 WHERE id = $1";
    conn.execute(sql, args![&id, hash, time::text(lease_until), time::text(now)])?;
    let (digest, before): (String, i64) = (row.get("digest")?, row.get("claims")?);
    let detail = json!({ "package": id, "device": device, "digest": digest, "claims": before + 1 });
    note(conn, "script.claimed", caller, detail)?;
    row.json("signed_json").map(Some)
}

/// What nobody fetched in time runs nowhere any more: of one device, or of all.
fn expire(conn: &dyn Conn, caller: &Caller, device: Option<&str>, now: Timestamp) -> Result<(), LedgerError> {
    let sql = "UPDATE packages SET state = 'expired' WHERE state = 'queued' AND expires_at <= $1 \
               AND ($2 = '' OR device_id = $2) RETURNING id, device_id, run_json";
    for row in conn.query(sql, args![time::text(now), device.unwrap_or_default()])? {
        let fault = Fault::new(Kind::Timeout, "script.expired", "the device did not fetch the script in time");
        results::close(conn, row.json("run_json")?, fault)?;
        let (id, device): (String, String) = (row.get("id")?, row.get("device_id")?);
        note(conn, "script.expired", caller, json!({ "package": id, "device": device }))?;
    }
    Ok(())
}

/// The package that a device holds by a token of its own.
pub(super) fn claimed(conn: &dyn Conn, device: &str, hash: &str) -> Result<Option<Row>, LedgerError> {
    conn.first("SELECT * FROM packages WHERE device_id = $1 AND claim_hash = $2", args![device, hash])
}

fn not_approved() -> Fault {
    Fault::new(Kind::Forbidden, "script.not_approved", "nobody has approved exactly this script for this device")
        .hint("propose it, and have it approved")
}

pub(super) fn unknown_claim() -> Fault {
    Fault::new(Kind::Forbidden, "claim.unknown", "the claim is not this device's, or not any more")
        .hint("claim the package again")
}

fn show(conn: &dyn Conn, sql: &str, id: &str) -> Result<Option<KeptPackage>, LedgerError> {
    let Some(row) = conn.first(sql, args![id])? else { return Ok(None) };
    let package_id: String = row.get("id")?;
    let log = |rollback: bool| -> Result<String, LedgerError> {
        let sql = "SELECT text FROM package_logs WHERE package_id = $1 AND rollback = $2 ORDER BY at_byte";
        conn.query(sql, args![&package_id, i64::from(rollback)])?.iter().map(|row| row.get::<String>("text")).collect()
    };
    Ok(Some(KeptPackage {
        proposal_id: row.get("proposal_id")?,
        device_id: row.get("device_id")?,
        digest: row.get("digest")?,
        run_id: row.json::<Run>("run_json")?.run_id,
        created_at: time::parse("created_at", &row.get::<String>("created_at")?)?,
        expires_at: time::parse("expires_at", &row.get::<String>("expires_at")?)?,
        state: row.word("state")?,
        claims: row.get("claims")?,
        heard_at: time::parse_optional("heard_at", row.get("heard_at")?)?,
        result: row.json_or_none("result_json")?,
        undone: row.json_or_none("undone_json")?,
        log: log(false)?,
        undone_log: log(true)?,
        package_id,
    }))
}
