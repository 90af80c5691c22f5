//! What people say to a script. A yes is bound to the digest of what was shown, by somebody other than its requester.

use super::proposals::{self, KeptProposal, ProposalState, closed};
use super::{Answer, note, refuse, unknown};
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, audit, time};
use domain::{Caller, Fault, Kind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// A yes or a no to one proposal, as somebody saw it.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub proposal_id: String,
    /// Of what they saw.
    pub digest: String,
    pub comment: String,
    pub now: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Approval {
    pub actor: String,
    pub digest: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub comment: String,
    /// Of an earlier version: an edit has made it void.
    pub void: bool,
}

/// How far the approval of a proposal has come.
#[derive(Debug, Clone)]
pub struct Standing {
    pub proposal: KeptProposal,
    pub given: usize,
}

impl Standing {
    pub fn is_enough(&self) -> bool {
        self.given >= self.proposal.risk.approvers()
    }
}

/// A proposal that enough people have approved, and that is not on its way yet.
#[derive(Debug, Clone)]
pub struct Ready {
    pub proposal: KeptProposal,
    pub approved_by: Vec<String>,
}

impl Ledger {
    pub async fn approve_script(&self, caller: &Caller, verdict: Verdict) -> Answer<Standing> {
        let caller = caller.clone();
        self.write(move |conn| approve(conn, &caller, &verdict)).await
    }

    pub async fn reject_script(&self, caller: &Caller, verdict: Verdict) -> Answer<KeptProposal> {
        let caller = caller.clone();
        self.write(move |conn| reject(conn, &caller, &verdict)).await
    }

    /// All that were ever given to a proposal, void ones too.
    pub async fn approvals(&self, proposal: &KeptProposal) -> Result<Vec<Approval>, LedgerError> {
        let (id, version) = (proposal.proposal_id.clone(), proposal.version);
        self.read(move |conn| {
            let sql = "SELECT * FROM script_approvals WHERE proposal_id = $1 ORDER BY at, actor";
            conn.query(sql, args![&id])?.iter().map(|row| read(row, version)).collect()
        })
        .await
    }

    /// The approved proposal of this digest for a device, if there is one: what runs is matched to it.
    pub async fn approved_script(&self, device: &str, digest: &str) -> Result<Option<Ready>, LedgerError> {
        let (device, digest) = (device.to_owned(), digest.to_owned());
        self.read(move |conn| ready(conn, &device, &digest)).await
    }
}

fn approve(conn: &dyn Conn, caller: &Caller, verdict: &Verdict) -> Answer<Standing> {
    let found = match open_for(conn, caller, verdict)? {
        Ok(found) => found,
        Err(fault) => return Ok(Err(fault)),
    };
    let sql = "INSERT INTO script_approvals (proposal_id, version, actor, digest, at, comment) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (proposal_id, version, actor) DO NOTHING";
    let (id, at) = (&found.proposal_id, time::text(verdict.now));
    // Saying yes again changes nothing, and lets one go on that a crash had stopped between yes and queue.
    let new = conn.execute(sql, args![id, found.version, &caller.actor, &found.digest, &at, &verdict.comment])? > 0;
    if new {
        let version = found.version.to_string();
        let record = audit::record(&[id, &version, &caller.actor, &found.digest, &at, &verdict.comment])?;
        let mut detail = about(&found);
        if let Some(object) = detail.as_object_mut() {
            object.insert("record".to_owned(), record.into());
        }
        note(conn, "script.approved", caller, detail)?;
    }
    let given = approvers(conn, &found)?.len();
    Ok(Ok(Standing { proposal: found, given }))
}

fn reject(conn: &dyn Conn, caller: &Caller, verdict: &Verdict) -> Answer<KeptProposal> {
    let found = match open_for(conn, caller, verdict)? {
        Ok(found) => found,
        Err(fault) => return Ok(Err(fault)),
    };
    conn.execute("UPDATE script_proposals SET state = 'rejected' WHERE id = $1", args![&found.proposal_id])?;
    note(conn, "script.rejected", caller, about(&found))?;
    Ok(Ok(KeptProposal { state: ProposalState::Rejected, ..found }))
}

/// The proposal, if this caller may say something about it now.
fn open_for(conn: &dyn Conn, caller: &Caller, verdict: &Verdict) -> Answer<KeptProposal> {
    let Some(found) = proposals::find(conn, &verdict.proposal_id)? else {
        return Ok(Err(unknown("proposal", &verdict.proposal_id)));
    };
    let fault = match () {
        () if found.state == ProposalState::Expired => too_late(),
        () if found.state != ProposalState::Waiting => closed(found.state),
        () if found.requester == caller.actor => {
            Fault::new(Kind::Forbidden, "approval.own", "nobody approves what they have asked for")
                .hint("ask somebody else")
        }
        () if verdict.now >= found.expires_at => {
            conn.execute("UPDATE script_proposals SET state = 'expired' WHERE id = $1", args![&found.proposal_id])?;
            too_late()
        }
        () if verdict.digest != found.digest => {
            let message = "the proposal is not what you have seen: it was edited since";
            Fault::new(Kind::Conflict, "approval.digest_mismatch", message)
                .detail("digest", &found.digest)
                .hint("read it again")
        }
        () => return Ok(Ok(found)),
    };
    refuse(conn, "approval.refused", caller, about(&found), fault)
}

pub(super) fn too_late() -> Fault {
    Fault::new(Kind::Conflict, "approval.expired", "the proposal has waited too long").hint("propose it again")
}

fn about(found: &KeptProposal) -> serde_json::Value {
    json!({
        "proposal": found.proposal_id, "device": found.device_id, "digest": found.digest, "version": found.version,
        "risk": found.risk.as_str(),
    })
}

/// Who has approved exactly this version.
pub(super) fn approvers(conn: &dyn Conn, proposal: &KeptProposal) -> Result<Vec<String>, LedgerError> {
    let sql = "SELECT actor FROM script_approvals WHERE proposal_id = $1 AND version = $2 AND digest = $3 \
               AND actor <> $4 ORDER BY at, actor";
    let values = args![&proposal.proposal_id, proposal.version, &proposal.digest, &proposal.requester];
    conn.query(sql, values)?.iter().map(|row| row.get("actor")).collect()
}

fn ready(conn: &dyn Conn, device: &str, digest: &str) -> Result<Option<Ready>, LedgerError> {
    let sql =
        "SELECT * FROM script_proposals WHERE device_id = $1 AND digest = $2 AND state = 'waiting' ORDER BY at, id";
    for row in conn.query(sql, args![device, digest])? {
        let proposal = proposals::read(&row)?;
        let approved_by = approvers(conn, &proposal)?;
        if approved_by.len() >= proposal.risk.approvers() {
            return Ok(Some(Ready { proposal, approved_by }));
        }
    }
    Ok(None)
}

fn read(row: &Row, version: i64) -> Result<Approval, LedgerError> {
    Ok(Approval {
        actor: row.get("actor")?,
        digest: row.get("digest")?,
        at: time::parse("at", &row.get::<String>("at")?)?,
        comment: row.get("comment")?,
        void: row.get::<i64>("version")? != version,
    })
}
