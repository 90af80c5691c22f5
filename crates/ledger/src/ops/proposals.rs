//! Scripts that wait for people: proposed, edited, taken back.

use super::{Answer, note, refuse, unknown};
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, time};
use domain::{Caller, Fault, Kind, Risk, ScriptProposal};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProposalState {
    /// Policy accepts it, and people have not said all that they must.
    Waiting,
    /// Policy does not accept it: nobody is asked.
    Refused,
    /// Somebody said no.
    Rejected,
    Withdrawn,
    Expired,
    /// Approved, signed and in the queue of its device. Never again.
    Sent,
}

impl ProposalState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Refused => "refused",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
            Self::Sent => "sent",
        }
    }
}

/// A proposal with what policy thinks of it.
#[derive(Debug, Clone)]
pub struct Draft {
    pub proposal: ScriptProposal,
    /// The validation report.
    pub report: Value,
    pub risk: Risk,
    /// Whether policy accepts it.
    pub accepted: bool,
    pub now: Timestamp,
    pub expires_at: Timestamp,
}

impl Draft {
    fn state(&self) -> ProposalState {
        if self.accepted { ProposalState::Waiting } else { ProposalState::Refused }
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KeptProposal {
    pub proposal_id: String,
    pub device_id: String,
    pub analysis_id: Option<String>,
    pub requester: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub version: i64,
    pub digest: String,
    pub proposal: ScriptProposal,
    pub previous: Option<ScriptProposal>,
    pub report: Value,
    pub risk: Risk,
    pub state: ProposalState,
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
}

/// Proposals at a time.
const MOST: i64 = 200;

impl Ledger {
    pub async fn propose_script(
        &self,
        caller: &Caller,
        id: &str,
        (device, analysis): (&str, Option<&str>),
        draft: Draft,
    ) -> Result<KeptProposal, LedgerError> {
        let (caller, id, device) = (caller.clone(), id.to_owned(), device.to_owned());
        let analysis = analysis.map(str::to_owned);
        self.write(move |conn| propose(conn, &caller, &id, (&device, analysis.as_deref()), &draft)).await
    }

    /// Another text under the same id. What was approved before is void: approvals are of one version.
    pub async fn edit_script(&self, caller: &Caller, id: &str, draft: Draft) -> Answer<KeptProposal> {
        let (caller, id) = (caller.clone(), id.to_owned());
        self.write(move |conn| edit(conn, &caller, &id, &draft)).await
    }

    /// Takes it back, also out of the queue as long as its device has not fetched it.
    pub async fn withdraw_script(&self, caller: &Caller, id: &str) -> Answer<KeptProposal> {
        let (caller, id) = (caller.clone(), id.to_owned());
        self.write(move |conn| withdraw(conn, &caller, &id)).await
    }

    pub async fn script_proposal(&self, id: &str) -> Result<Option<KeptProposal>, LedgerError> {
        let id = id.to_owned();
        self.read(move |conn| find(conn, &id)).await
    }

    /// Those that wait, after the one of this id and by their ids: a page of them.
    pub async fn waiting_scripts(&self, after: &str) -> Result<Vec<KeptProposal>, LedgerError> {
        let after = after.to_owned();
        self.read(move |conn| {
            let sql = "SELECT * FROM script_proposals WHERE state = 'waiting' AND id > $1 ORDER BY id LIMIT $2";
            conn.query(sql, args![&after, MOST])?.iter().map(read).collect()
        })
        .await
    }

    /// The newest first, of one state or of all.
    pub async fn script_proposals(&self, state: Option<ProposalState>) -> Result<Vec<KeptProposal>, LedgerError> {
        self.read(move |conn| {
            let found = match state {
                Some(state) => conn.query(
                    "SELECT * FROM script_proposals WHERE state = $1 ORDER BY at DESC, id DESC LIMIT $2",
                    args![state.as_str(), MOST],
                ),
                None => conn.query("SELECT * FROM script_proposals ORDER BY at DESC, id DESC LIMIT $1", args![MOST]),
            };
            found?.iter().map(read).collect()
        })
        .await
    }
}

fn propose(
    conn: &dyn Conn,
    caller: &Caller,
    id: &str,
    (device, analysis): (&str, Option<&str>),
    draft: &Draft,
) -> Result<KeptProposal, LedgerError> {
    let digest = draft.proposal.digest();
    let sql = "INSERT INTO script_proposals (id, device_id, analysis_id, requester, at, version, digest, proposal_json, \
               report_json, risk, state, expires_at) VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $10, $11)";
    conn.execute(
        sql,
        args![
            id,
            device,
            analysis,
            &caller.actor,
            time::text(draft.now),
            &digest,
            serde_json::to_string(&draft.proposal)?,
            draft.report.to_string(),
            draft.risk.as_str(),
            draft.state().as_str(),
            time::text(draft.expires_at),
        ],
    )?;
    let detail = about(id, device, &digest, 1, draft);
    note(conn, if draft.accepted { "script.proposed" } else { "script.refused" }, caller, detail)?;
    find(conn, id)?.ok_or(LedgerError::NoAnswer)
}

fn edit(conn: &dyn Conn, caller: &Caller, id: &str, draft: &Draft) -> Answer<KeptProposal> {
    let Some(found) = find(conn, id)? else { return Ok(Err(unknown("proposal", id))) };
    let refused = |fault| refuse(conn, "script.edit_refused", caller, json!({ "proposal": id }), fault);
    if found.requester != caller.actor {
        return refused(not_yours());
    }
    if !matches!(found.state, ProposalState::Waiting | ProposalState::Refused | ProposalState::Rejected) {
        return refused(closed(found.state));
    }
    let (digest, version) = (draft.proposal.digest(), found.version + 1);
    let sql = "UPDATE script_proposals SET version = $2, digest = $3, previous_json = proposal_json, \
               proposal_json = $4, report_json = $5, risk = $6, state = $7, expires_at = $8 WHERE id = $1";
    conn.execute(
        sql,
        args![
            id,
            version,
            &digest,
            serde_json::to_string(&draft.proposal)?,
            draft.report.to_string(),
            draft.risk.as_str(),
            draft.state().as_str(),
            time::text(draft.expires_at),
        ],
    )?;
    note(conn, "script.edited", caller, about(id, &found.device_id, &digest, version, draft))?;
    Ok(Ok(find(conn, id)?.ok_or(LedgerError::NoAnswer)?))
}

fn withdraw(conn: &dyn Conn, caller: &Caller, id: &str) -> Answer<KeptProposal> {
    let Some(found) = find(conn, id)? else { return Ok(Err(unknown("proposal", id))) };
    let detail = json!({ "proposal": id, "digest": found.digest });
    let refused = |fault| refuse(conn, "script.withdrawal_refused", caller, detail.clone(), fault);
    if found.requester != caller.actor && !caller.is_admin() {
        return refused(not_yours());
    }
    let open = match found.state {
        ProposalState::Waiting | ProposalState::Refused => true,
        ProposalState::Sent => super::packages::take_back(conn, id)?,
        _ => false,
    };
    if !open {
        return refused(closed(found.state));
    }
    conn.execute("UPDATE script_proposals SET state = 'withdrawn' WHERE id = $1", args![id])?;
    note(conn, "script.withdrawn", caller, detail)?;
    Ok(Ok(find(conn, id)?.ok_or(LedgerError::NoAnswer)?))
}

/// What nobody has approved in time.
pub(super) fn expire(conn: &dyn Conn, caller: &Caller, now: Timestamp) -> Result<(), LedgerError> {
    let sql = "UPDATE script_proposals SET state = 'expired' WHERE state = 'waiting' AND expires_at <= $1 \
               RETURNING id, device_id, digest";
    for row in conn.query(sql, args![time::text(now)])? {
        let (id, device, digest): (String, String, String) =
            (row.get("id")?, row.get("device_id")?, row.get("digest")?);
        note(conn, "proposal.expired", caller, json!({ "proposal": id, "device": device, "digest": digest }))?;
    }
    Ok(())
}

fn about(id: &str, device: &str, digest: &str, version: i64, draft: &Draft) -> Value {
    let violations = draft.report.get("violations").and_then(Value::as_array);
    let codes: Vec<&Value> = violations.into_iter().flatten().filter_map(|violation| violation.get("code")).collect();
    json!({
        "proposal": id, "device": device, "digest": digest, "version": version, "risk": draft.risk.as_str(),
        "violations": codes, "state": draft.state().as_str(), "expires_at": draft.expires_at,
    })
}

fn not_yours() -> Fault {
    Fault::new(Kind::Forbidden, "proposal.not_yours", "the proposal is somebody else's").hint("ask its requester")
}

pub(super) fn closed(state: ProposalState) -> Fault {
    let message = format!("the proposal is {} already", state.as_str());
    Fault::new(Kind::Conflict, "proposal.closed", message).detail("state", state.as_str()).hint("propose it again")
}

pub(super) fn find(conn: &dyn Conn, id: &str) -> Result<Option<KeptProposal>, LedgerError> {
    conn.first("SELECT * FROM script_proposals WHERE id = $1", args![id])?.as_ref().map(read).transpose()
}

pub(super) fn read(row: &Row) -> Result<KeptProposal, LedgerError> {
    Ok(KeptProposal {
        proposal_id: row.get("id")?,
        device_id: row.get("device_id")?,
        analysis_id: row.get("analysis_id")?,
        requester: row.get("requester")?,
        at: time::parse("at", &row.get::<String>("at")?)?,
        version: row.get("version")?,
        digest: row.get("digest")?,
        proposal: row.json("proposal_json")?,
        previous: row.json_or_none("previous_json")?,
        report: row.json("report_json")?,
        risk: row.word("risk")?,
        state: row.word("state")?,
        expires_at: time::parse("expires_at", &row.get::<String>("expires_at")?)?,
    })
}
