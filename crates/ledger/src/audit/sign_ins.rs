//! Sign-in codes and sessions, held against what the chain says of them.

use super::registers::{Said, same_time};
use super::report::{Flaw, FlawKind};
use crate::sign_ins::{Kept, LOGIN};
use crate::store::Conn;
use crate::{LedgerError, names, time};
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct SignIns {
    codes: BTreeMap<String, SignIn>,
    sessions: BTreeMap<String, SignIn>,
    /// Actor and role of sessions whose entries do not name them: those of earlier versions.
    unnamed_sessions: BTreeSet<(String, String)>,
    /// The first session that was started with a code that was not what its entry says.
    ill_started: Option<Flaw>,
}

/// A code or a session, as its entries have it.
struct SignIn {
    seq: i64,
    actor: String,
    role: String,
    /// Entries of earlier versions have neither.
    expires_at: Option<String>,
    record: Option<String>,
    /// A code was used, a session ended.
    is_over: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Detail {
    login: Option<String>,
    /// The digest of the code's row when it was used.
    login_record: Option<String>,
    session: Option<String>,
    expires_at: Option<String>,
    record: Option<String>,
}

impl SignIns {
    /// Takes in an entry of the kinds `login.…` and `session.…`.
    pub(super) fn see(&mut self, said: &Said<'_>) {
        let detail: Detail = said.detail.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
        match (said.kind, &detail) {
            ("login.created", Detail { login: Some(id), .. }) => {
                self.codes.insert(id.clone(), SignIn::new(said, detail));
            }
            ("session.started", _) => self.started(said, detail),
            ("session.ended", Detail { session: Some(id), .. }) => {
                if let Some(session) = self.sessions.get_mut(id) {
                    (session.seq, session.is_over) = (said.seq, true);
                }
            }
            _ => {}
        }
    }

    fn started(&mut self, said: &Said<'_>, detail: Detail) {
        let (actor, role) = (said.actor.unwrap_or_default(), said.role.unwrap_or_default());
        if let Some(code) = &detail.login
            && let Err(what) = self.redeem(code, said.seq, detail.login_record.as_deref())
        {
            let message = format!("a session of `{actor}` as `{role}` was started with a sign-in code that {what}");
            let flaw = Flaw { seq: Some(said.seq), kind: FlawKind::LoginDiffers, message };
            self.ill_started = self.ill_started.take().or(Some(flaw));
        }
        match detail.session.clone() {
            Some(id) => drop(self.sessions.insert(id, SignIn::new(said, detail))),
            None => drop(self.unnamed_sessions.insert((actor.to_owned(), role.to_owned()))),
        }
    }

    /// A code is gone from its table once it is used: what it was then is in the entry of its session.
    fn redeem(&mut self, code: &str, seq: i64, record: Option<&str>) -> Result<(), &'static str> {
        let code = self.codes.get_mut(code).ok_or("no entry says was created")?;
        if code.is_over {
            return Err("was used before");
        }
        (code.seq, code.is_over) = (seq, true);
        if code.record.as_deref() == record { Ok(()) } else { Err("had been changed") }
    }

    /// The first row that differs from its entries, or the first session that a bad code started. Codes and sessions that
    /// are over or have expired are gone from the table.
    pub(super) fn compare(self, conn: &dyn Conn) -> Result<Option<Flaw>, LedgerError> {
        for row in conn.query("SELECT * FROM sign_ins ORDER BY kind DESC, id", &[])? {
            if let Some(flaw) = self.differs(&Kept::read(&row)?)? {
                return Ok(Some(flaw));
            }
        }
        Ok(self.ill_started)
    }

    fn differs(&self, kept: &Kept) -> Result<Option<Flaw>, LedgerError> {
        let (entries, noun, kind) = match kept.kind == LOGIN {
            true => (&self.codes, "sign-in code", FlawKind::LoginDiffers),
            false => (&self.sessions, "session", FlawKind::SessionDiffers),
        };
        let said = entries.get(&kept.id);
        let what = match said {
            Some(said) => said.differs(kept)?,
            None if self.is_of_an_earlier_version(kept) => None,
            None if kept.kind == LOGIN => Some("has no entry that says it was created".to_owned()),
            None => Some("has no entry that says it was started".to_owned()),
        };
        let message = |what| format!("a {noun} of `{}` as `{}` {what}", kept.actor, kept.role);
        Ok(what.map(|what| Flaw { seq: said.map(|said| said.seq), kind, message: message(what) }))
    }

    /// Earlier versions had no entries for codes, and did not name sessions in theirs. A code that has expired opens
    /// nothing: in a ledger that this version has not been started on yet, there may be some.
    fn is_of_an_earlier_version(&self, kept: &Kept) -> bool {
        match kept.kind == LOGIN {
            true => kept.expires_at <= time::text(Timestamp::now()),
            false => {
                self.unnamed_sessions.iter().any(|said| said.1 == kept.role && names::is_same(&kept.actor, &said.0))
            }
        }
    }
}

impl SignIn {
    fn new(said: &Said<'_>, detail: Detail) -> Self {
        let (actor, role) = (said.actor.unwrap_or_default().to_owned(), said.role.unwrap_or_default().to_owned());
        let Detail { expires_at, record, .. } = detail;
        Self { seq: said.seq, actor, role, expires_at, record, is_over: false }
    }

    fn differs(&self, kept: &Kept) -> Result<Option<String>, LedgerError> {
        let record = kept.record()?;
        Ok(match () {
            () if self.is_over && kept.kind == LOGIN => Some("was used, and is there again".to_owned()),
            () if self.is_over => Some("has ended, and is there again".to_owned()),
            () if self.role != kept.role || !names::is_same(&kept.actor, &self.actor) => {
                Some(format!("was one of `{}` as `{}`", self.actor, self.role))
            }
            () if self.expires_at.is_some() && !same_time(Some(&kept.expires_at), self.expires_at.as_deref()) => {
                Some("expires at another time".to_owned())
            }
            () if self.record.as_ref().is_some_and(|said| *said != record) => Some("was changed".to_owned()),
            () => None,
        })
    }
}
