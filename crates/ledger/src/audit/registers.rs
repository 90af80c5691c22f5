//! Tables that decide who may do what (tokens, sign-in codes, sessions, scripts and their approvals), held against what the
//! chain says was done to them. A row that was changed, added or removed by hand differs from its entries.

use super::report::{Flaw, FlawKind};
use super::sign_ins::SignIns;
use crate::store::{Conn, Row};
use crate::{LedgerError, names, time};
use domain::{ScriptProposal, sha256_hex};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The digest of a row as its entry names it: what the entry does not say itself cannot be changed either.
pub(crate) fn record(cells: &[&str]) -> Result<String, LedgerError> {
    Ok(sha256_hex(serde_json::to_string(cells)?.as_bytes()))
}

/// An entry, as far as it speaks of these tables.
pub(super) struct Said<'a> {
    pub seq: i64,
    pub kind: &'a str,
    pub actor: Option<&'a str>,
    pub role: Option<&'a str>,
    pub detail: Option<&'a str>,
}

/// What the chain says, entry by entry.
#[derive(Default)]
pub(super) struct Registers {
    tokens: BTreeMap<String, Token>,
    sign_ins: SignIns,
    proposals: BTreeMap<String, Proposal>,
    approvals: BTreeMap<(String, i64, String), Approval>,
}

struct Token {
    seq: i64,
    actor: String,
    role: String,
    claims: Value,
    expires_at: Option<String>,
    record: Option<String>,
    is_revoked: bool,
}

struct Proposal {
    seq: i64,
    requester: String,
    device: String,
    version: i64,
    digest: String,
    risk: String,
    expires_at: Option<String>,
    /// None where an entry of an earlier version does not say whether policy accepted it.
    state: Option<String>,
}

struct Approval {
    seq: i64,
    digest: String,
    record: Option<String>,
}

/// The details of the entries, as far as they matter here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Detail {
    token: Option<String>,
    claims: Value,
    expires_at: Option<String>,
    record: Option<String>,
    proposal: Option<String>,
    device: Option<String>,
    version: i64,
    digest: String,
    risk: String,
    state: Option<String>,
    code: String,
}

impl Registers {
    /// Takes in an entry that the walk has found good.
    pub(super) fn see(&mut self, said: &Said<'_>) {
        if said.kind.starts_with("login.") || said.kind.starts_with("session.") {
            return self.sign_ins.see(said);
        }
        let known = ["token.", "script.", "proposal.", "approval."];
        if !known.iter().any(|noun| said.kind.starts_with(noun)) {
            return;
        }
        let detail: Detail = said.detail.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
        let (actor, role) = (said.actor.unwrap_or_default().to_owned(), said.role.unwrap_or_default().to_owned());
        match said.kind {
            "token.created" | "token.revoked" => self.see_token(said, detail, actor, role),
            _ => self.see_script(said, detail, actor),
        }
    }

    fn see_token(&mut self, said: &Said<'_>, detail: Detail, actor: String, role: String) {
        let Some(id) = detail.token else { return };
        if said.kind == "token.created" {
            let Detail { claims, expires_at, record, .. } = detail;
            let token = Token { seq: said.seq, actor, role, claims, expires_at, record, is_revoked: false };
            self.tokens.insert(id, token);
        } else if let Some(token) = self.tokens.get_mut(&id) {
            (token.seq, token.is_revoked) = (said.seq, true);
        }
    }

    fn see_script(&mut self, said: &Said<'_>, detail: Detail, actor: String) {
        let Some(id) = detail.proposal else { return };
        let state = match said.kind {
            "script.proposed" => detail.state.or(Some("waiting".to_owned())),
            "script.refused" => detail.state.or(Some("refused".to_owned())),
            "script.edited" => detail.state,
            "script.rejected" => Some("rejected".to_owned()),
            "script.withdrawn" => Some("withdrawn".to_owned()),
            "script.sent" => Some("sent".to_owned()),
            "proposal.expired" => Some("expired".to_owned()),
            "approval.refused" if detail.code == "approval.expired" => Some("expired".to_owned()),
            "script.approved" => {
                let approval = Approval { seq: said.seq, digest: detail.digest, record: detail.record };
                self.approvals.insert((id, detail.version, actor), approval);
                return;
            }
            _ => return,
        };
        let (version, digest, risk, expires_at) = (detail.version, detail.digest, detail.risk, detail.expires_at);
        match (said.kind, self.proposals.get_mut(&id)) {
            ("script.proposed" | "script.refused", _) => {
                let device = detail.device.unwrap_or_default();
                let new =
                    Proposal { seq: said.seq, requester: actor, device, version, digest, risk, expires_at, state };
                self.proposals.insert(id, new);
            }
            ("script.edited", Some(kept)) => {
                (kept.version, kept.digest, kept.risk, kept.expires_at) = (version, digest, risk, expires_at);
                (kept.seq, kept.state) = (said.seq, state);
            }
            (_, Some(kept)) => (kept.seq, kept.state) = (said.seq, state),
            (_, None) => {}
        }
    }

    /// The first row that differs from its entries. The chain has been walked to its end.
    pub(super) fn compare(mut self, conn: &dyn Conn) -> Result<Option<Flaw>, LedgerError> {
        for row in conn.query("SELECT * FROM tokens ORDER BY id", &[])? {
            if let Some(flaw) = self.token(&row)? {
                return Ok(Some(flaw));
            }
        }
        if let Some((id, token)) = self.tokens.first_key_value() {
            return Ok(Some(flaw(FlawKind::TokenDiffers, token.seq, format!("the token `{id}` is missing"))));
        }
        if let Some(flaw) = std::mem::take(&mut self.sign_ins).compare(conn)? {
            return Ok(Some(flaw));
        }
        for row in conn.query("SELECT * FROM script_proposals ORDER BY id", &[])? {
            if let Some(flaw) = self.proposal(&row)? {
                return Ok(Some(flaw));
            }
        }
        if let Some((id, proposal)) = self.proposals.first_key_value() {
            return Ok(Some(flaw(FlawKind::ProposalDiffers, proposal.seq, format!("the proposal `{id}` is missing"))));
        }
        for row in conn.query("SELECT * FROM script_approvals ORDER BY proposal_id, version, actor", &[])? {
            if let Some(flaw) = self.approval(&row)? {
                return Ok(Some(flaw));
            }
        }
        Ok(self.approvals.first_key_value().map(|((id, _, actor), approval)| {
            let message = format!("the approval of the proposal `{id}` by `{actor}` is missing");
            flaw(FlawKind::ApprovalDiffers, approval.seq, message)
        }))
    }

    fn token(&mut self, row: &Row) -> Result<Option<Flaw>, LedgerError> {
        let id: String = row.get("id")?;
        let Some(said) = self.tokens.remove(&id) else {
            let message = format!("the token `{id}` has no entry that says it was created");
            return Ok(Some(Flaw { seq: None, kind: FlawKind::TokenDiffers, message }));
        };
        let (actor, role, claims): (String, String, String) =
            (row.get("actor")?, row.get("role")?, row.get("claims_json")?);
        let (hash, created_at): (String, String) = (row.get("hash")?, row.get("created_at")?);
        let (expires_at, revoked_at): (Option<String>, Option<String>) =
            (row.get("expires_at")?, row.get("revoked_at")?);
        let recorded =
            record(&[&id, &hash, &actor, &role, &claims, &created_at, expires_at.as_deref().unwrap_or_default()])?;
        let what = match () {
            () if role != said.role => Some(format!("has the role `{role}`, not `{}`", said.role)),
            () if !names::is_same(&actor, &said.actor) => Some(format!("is `{actor}`'s, not `{}`'s", said.actor)),
            () if serde_json::from_str::<Value>(&claims).ok() != Some(said.claims) => {
                Some("has other claims".to_owned())
            }
            () if !same_time(expires_at.as_deref(), said.expires_at.as_deref()) => {
                Some("expires at another time".to_owned())
            }
            () if said.is_revoked && revoked_at.is_none() => Some("was revoked, and is valid again".to_owned()),
            () if !said.is_revoked && revoked_at.is_some() => Some("is revoked, and no entry says so".to_owned()),
            () if said.record.is_some_and(|record| record != recorded) => Some("was changed".to_owned()),
            () => None,
        };
        Ok(what.map(|what| flaw(FlawKind::TokenDiffers, said.seq, format!("the token `{id}` {what}"))))
    }

    fn proposal(&mut self, row: &Row) -> Result<Option<Flaw>, LedgerError> {
        let id: String = row.get("id")?;
        let Some(said) = self.proposals.remove(&id) else {
            let message = format!("the proposal `{id}` has no entry that says it was made");
            return Ok(Some(Flaw { seq: None, kind: FlawKind::ProposalDiffers, message }));
        };
        let word = |column| row.get::<String>(column);
        let (state, expires_at) = (word("state")?, word("expires_at")?);
        let digest = row.json::<ScriptProposal>("proposal_json").map(|proposal| proposal.digest()).unwrap_or_default();
        let state_is_said = match &said.state {
            Some(said) => *said == state,
            None => state == "waiting" || state == "refused",
        };
        let what = match () {
            () if digest != said.digest => Some("is not the script that its entry names".to_owned()),
            () if word("digest")? != said.digest || row.get::<i64>("version")? != said.version => {
                Some("is not the version that its entry names".to_owned())
            }
            () if word("risk")? != said.risk => Some(format!("has the risk `{}`, not `{}`", word("risk")?, said.risk)),
            () if word("requester")? != said.requester => Some("is said to be another's".to_owned()),
            () if word("device_id")? != said.device => Some("is said to be for another device".to_owned()),
            () if !state_is_said => Some(format!("is `{state}`, not `{}`", said.state.unwrap_or_default())),
            () if said.expires_at.is_some() && !same_time(Some(&expires_at), said.expires_at.as_deref()) => {
                Some("expires at another time".to_owned())
            }
            () => None,
        };
        Ok(what.map(|what| flaw(FlawKind::ProposalDiffers, said.seq, format!("the proposal `{id}` {what}"))))
    }

    fn approval(&mut self, row: &Row) -> Result<Option<Flaw>, LedgerError> {
        let (id, version, actor): (String, i64, String) =
            (row.get("proposal_id")?, row.get("version")?, row.get("actor")?);
        let (digest, at, comment): (String, String, String) = (row.get("digest")?, row.get("at")?, row.get("comment")?);
        let recorded = record(&[&id, &version.to_string(), &actor, &digest, &at, &comment])?;
        let said = self.approvals.remove(&(id.clone(), version, actor.clone()));
        let (seq, what) = match said {
            None => (None, "has no entry"),
            Some(said) if said.digest != digest || said.record.as_ref().is_some_and(|record| *record != recorded) => {
                (Some(said.seq), "was changed")
            }
            Some(_) => return Ok(None),
        };
        let message = format!("the approval of the proposal `{id}` by `{actor}` {what}");
        Ok(Some(Flaw { seq, kind: FlawKind::ApprovalDiffers, message }))
    }
}

fn flaw(kind: FlawKind, seq: i64, message: String) -> Flaw {
    Flaw { seq: Some(seq), kind, message }
}

/// Entries and tables write the same instant differently.
pub(super) fn same_time(kept: Option<&str>, said: Option<&str>) -> bool {
    let parse = |text: &str| time::parse("expires_at", text).ok();
    match (kept, said) {
        (None, None) => true,
        (Some(kept), Some(said)) => parse(kept).is_some_and(|kept| Some(kept) == parse(said)),
        _ => false,
    }
}
