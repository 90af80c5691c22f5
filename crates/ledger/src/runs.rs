//! Finding runs again: one, a page, the turns of a thread.

use crate::{LedgerError, capsule, fields::Fields, time};
use domain::{Purpose, Run, RunId, SessionId, Status, ThreadId, Turn};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

/// Which runs; what is `None` does not matter.
#[derive(Debug, Clone)]
pub struct RunFilter {
    pub actor: Option<String>,
    pub dataset: Option<String>,
    pub status: Option<Status>,
    pub thread: Option<ThreadId>,
    pub session: Option<SessionId>,
    /// By default only runs that somebody asked for; none at all means any.
    pub purposes: &'static [Purpose],
    /// Part of the question, in any case.
    pub text: Option<String>,
    /// From this instant on.
    pub since: Option<Timestamp>,
    /// Before this instant.
    pub until: Option<Timestamp>,
    /// `next` of the page before.
    pub after: Option<Cursor>,
    /// At most [`RunFilter::MAX_LIMIT`].
    pub limit: usize,
}

impl RunFilter {
    pub const MAX_LIMIT: usize = 500;
}

impl Default for RunFilter {
    fn default() -> Self {
        Self {
            actor: None,
            dataset: None,
            status: None,
            thread: None,
            session: None,
            purposes: &[Purpose::Answer],
            text: None,
            since: None,
            until: None,
            after: None,
            limit: 50,
        }
    }
}

/// Runs, newest first.
#[derive(Debug)]
pub struct RunPage {
    /// Without `result_json`, which can be large: `Ledger::run` gives the whole.
    pub runs: Vec<Run>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// A place in the list of runs, which stays right while new runs come in. Opaque to callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    created_at: String,
    run_id: RunId,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(format!("{}/{}", self.created_at, self.run_id)))
    }
}

impl FromStr for Cursor {
    type Err = LedgerError;
    fn from_str(text: &str) -> Result<Self, LedgerError> {
        let decode = || {
            let plain = String::from_utf8(hex::decode(text).ok()?).ok()?;
            let (created_at, run_id) = plain.split_once('/')?;
            created_at.parse::<Timestamp>().ok()?;
            Some(Self { created_at: created_at.to_owned(), run_id: run_id.parse().ok()? })
        };
        decode().ok_or_else(|| LedgerError::BadCursor(text.chars().take(200).collect()))
    }
}

/// Every column, but the one that can be large.
const LIGHT: &str = "run_id, created_at, dataset_id, dataset_version_hash, question, query_mode, plan_json, \
    compiled_sql, status, NULL AS result_json, error_json, exec_time_ms, session_id, thread_id, request_id, door, \
    purpose, actor, role, reading, planner, sql_text, params_json, proposal_hash, policy_fingerprint, contracts_json, \
    filtered_by_json, assistant_message, clarification_json, plan_ms, check_ms, run_ms, sandbox_tier, \
    unenforced_json, cost_usd, end_user, model_json";

pub(crate) fn one(conn: &Connection, id: RunId) -> Result<Option<Run>, LedgerError> {
    let mut statement = conn.prepare_cached("SELECT * FROM run_capsules WHERE run_id = ?1")?;
    let mut rows = statement.query([id.to_string()])?;
    rows.next()?.map(capsule::read).transpose()
}

/// From an index that knows whose a run is: another's capsule, which may be large, is not touched, so that it takes no
/// longer than one that is not there.
pub(crate) fn one_of(conn: &Connection, id: RunId, actor: &str) -> Result<Option<Run>, LedgerError> {
    let mut statement = conn.prepare_cached(
        "SELECT * FROM run_capsules WHERE rowid = \
         (SELECT rowid FROM run_capsules INDEXED BY runs_by_owner WHERE run_id = ?1 AND actor = ?2)",
    )?;
    let mut rows = statement.query(params![id.to_string(), actor])?;
    rows.next()?.map(capsule::read).transpose()
}

pub(crate) fn page(conn: &Connection, filter: &RunFilter) -> Result<RunPage, LedgerError> {
    let limit = filter.limit.clamp(1, RunFilter::MAX_LIMIT);
    let mut conditions = Conditions::of(filter);
    // One more, to know whether there is a next page.
    conditions.values.push(Value::Integer(limit as i64 + 1));
    let sql = format!(
        "SELECT {LIGHT} FROM run_capsules WHERE {} ORDER BY created_at DESC, run_id DESC LIMIT ?",
        conditions.sql.join(" AND ")
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(conditions.values))?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        runs.push(capsule::read(row)?);
    }
    let more = runs.len() > limit;
    runs.truncate(limit);
    let place = |run: &Run| Cursor { created_at: time::text(run.created_at), run_id: run.run_id };
    let next = runs.last().filter(|_| more).map(place);
    Ok(RunPage { runs, next })
}

/// The turns of a thread as its next question needs them: one for each request, however many runs it took. Answers are for
/// models: one that may hold personal values, or was not made with care for them, stays out.
pub(crate) fn turns(conn: &Connection, thread: ThreadId, actor: &str, last: usize) -> Result<Vec<Turn>, LedgerError> {
    let mut statement = conn.prepare_cached(
        "SELECT session_id, question, plan_json, clarification_json, \
         iif(model_json ->> '$.personal' = 0, assistant_message, '') AS assistant_message FROM run_capsules \
         WHERE thread_id = ?1 AND actor = ?2 AND purpose = 'answer' AND question IS NOT NULL \
         ORDER BY created_at DESC, run_id DESC",
    )?;
    let mut rows = statement.query(params![thread.to_string(), actor])?;
    let (mut seen, mut turns) = (HashSet::new(), Vec::new());
    while turns.len() < last {
        let Some(row) = rows.next()?.map(Fields) else { break };
        if !seen.insert(row.get::<String>("session_id")?) {
            continue;
        }
        turns.push(Turn {
            question: row.get("question")?,
            // A plan that today's planners cannot read is no help to them, and no error either.
            plan: row.json("plan_json").ok(),
            clarification: row.json_or_none("clarification_json")?,
            answer: row.get("assistant_message")?,
        });
    }
    turns.reverse();
    Ok(turns)
}

struct Conditions {
    sql: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn of(filter: &RunFilter) -> Self {
        let mut all = Self { sql: vec!["TRUE".to_owned()], values: Vec::new() };
        all.add("actor = ?", filter.actor.clone());
        all.add("dataset_id = ?", filter.dataset.clone());
        all.add("status = ?", filter.status.map(|status| status.as_str().to_owned()));
        all.add("thread_id = ?", filter.thread.map(|id| id.to_string()));
        all.add("session_id = ?", filter.session.map(|id| id.to_string()));
        all.add_any("purpose", filter.purposes.iter().map(|purpose| purpose.as_str()));
        all.add("contains_folded(question, ?)", filter.text.as_ref().map(|text| text.to_lowercase()));
        all.add("created_at >= ?", filter.since.map(time::text));
        all.add("created_at < ?", filter.until.map(time::text));
        if let Some(Cursor { created_at, run_id }) = &filter.after {
            all.sql.push("(created_at, run_id) < (?, ?)".to_owned());
            all.values.extend([created_at.clone().into(), run_id.to_string().into()]);
        }
        all
    }

    fn add(&mut self, sql: &'static str, value: Option<String>) {
        if let Some(value) = value {
            self.sql.push(sql.to_owned());
            self.values.push(value.into());
        }
    }

    /// One of several values; any, if there are none.
    fn add_any<'v>(&mut self, column: &str, values: impl ExactSizeIterator<Item = &'v str>) {
        if values.len() > 0 {
            self.sql.push(format!("{column} IN ({})", vec!["?"; values.len()].join(",")));
            self.values.extend(values.map(|value| value.to_owned().into()));
        }
    }
}
