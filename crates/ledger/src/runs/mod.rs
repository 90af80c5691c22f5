//! Runs: keeping one, and finding them again: one, a page, the turns of a thread.

mod filter;

pub use filter::{Cursor, RunFilter};

use crate::audit::{self, AuditEvent};
use crate::capsule::{self, Capsule};
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, time};
use crate::{bounds, changes};
use domain::{Fault, ModelUse, QueryMode, Run, RunId, ThreadId, Turn};
use filter::Conditions;
use std::collections::BTreeSet;

/// Runs, newest first.
#[derive(Debug)]
pub struct RunPage {
    /// Without `result_json`, which can be large: `Ledger::run` gives the whole.
    pub runs: Vec<Run>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// Every column, but the one that can be large.
const LIGHT: &str = "run_id, created_at, dataset_id, dataset_version_hash, question, query_mode, plan_json, \
    compiled_sql, status, NULL AS result_json, error_json, exec_time_ms, session_id, thread_id, request_id, door, \
    purpose, actor, role, reading, planner, sql_text, params_json, proposal_hash, policy_fingerprint, contracts_json, \
    filtered_by_json, assistant_message, clarification_json, plan_ms, check_ms, run_ms, sandbox_tier, \
    unenforced_json, cost_usd, end_user, model_json";

/// Runs whose shown values are remembered for one actor.
const SHOWN_RUNS: i64 = 1_000;

/// Results up to this size are sealed where the run is; larger ones on a thread where it keeps nobody waiting.
const LIGHT_BYTES: usize = 16 << 10;

/// A run as it is kept, and its entry in the chain.
pub(crate) struct Sealed {
    capsule: Capsule,
    event: AuditEvent,
}

impl Sealed {
    /// With at most so many bytes of its result.
    pub(crate) fn of(run: &Run, result_bytes: usize) -> Result<Self, LedgerError> {
        let run = &*bounds::kept(run, result_bytes)?;
        let capsule = Capsule::of(run)?;
        let event = audit::run_event(run, capsule.digest()?)?;
        Ok(Self { capsule, event })
    }

    pub(crate) fn keep(&self, conn: &dyn Conn) -> Result<(), LedgerError> {
        self.capsule.insert(conn)?;
        audit::append(conn, &self.event).map(drop)
    }
}

impl Ledger {
    /// Keeps a run and its entry in the chain, both or neither. A reply that says "done" waits for this.
    pub async fn record(&self, run: &Run) -> Result<(), LedgerError> {
        let sealed = match run.result_json.as_ref().is_some_and(|result| result.get().len() > LIGHT_BYTES) {
            true => {
                let (run, result_bytes) = (run.clone(), self.result_bytes);
                let sealed = tokio::task::spawn_blocking(move || Sealed::of(&run, result_bytes));
                sealed.await.map_err(|_| LedgerError::Closed)??
            }
            false => Sealed::of(run, self.result_bytes)?,
        };
        let change = (run.query_mode == Some(QueryMode::Change)).then_some(run.run_id);
        let open = run.error_json.as_ref().is_some_and(Fault::is_unknown_outcome);
        self.write(move |conn| {
            sealed.keep(conn)?;
            match change {
                Some(run) if open => changes::release(conn, run),
                Some(run) => changes::end(conn, run),
                None => Ok(()),
            }
        })
        .await
    }

    /// One run, whole.
    pub async fn run(&self, id: RunId) -> Result<Option<Run>, LedgerError> {
        self.read(move |conn| one(conn, id)).await
    }

    /// One run of this actor. Another's is as if it were not there, and found missing in the same time.
    pub async fn run_of(&self, id: RunId, actor: &str) -> Result<Option<Run>, LedgerError> {
        let actor = actor.to_owned();
        self.read(move |conn| one_of(conn, id, &actor)).await
    }

    /// A page of runs, newest first.
    pub async fn runs(&self, filter: &RunFilter) -> Result<RunPage, LedgerError> {
        let filter = filter.clone();
        self.read(move |conn| page(conn, &filter)).await
    }

    /// The last turns of one actor's thread, oldest first.
    pub async fn thread(&self, thread: ThreadId, actor: &str, last: usize) -> Result<Vec<Turn>, LedgerError> {
        let actor = actor.to_owned();
        self.read(move |conn| turns(conn, thread, &actor, last)).await
    }

    /// The values that models' answers have shown an actor in the place of placeholders, each with its label.
    pub async fn shown_to(&self, actor: &str) -> Result<Vec<(String, String)>, LedgerError> {
        let actor = actor.to_owned();
        self.read(move |conn| shown_to(conn, &actor)).await
    }
}

fn one(conn: &dyn Conn, id: RunId) -> Result<Option<Run>, LedgerError> {
    let found = conn.first("SELECT * FROM run_capsules WHERE run_id = $1", args![id.to_string()])?;
    found.as_ref().map(capsule::read).transpose()
}

/// From an index that knows whose a run is: another's capsule, which may be large, is not touched, so that it takes no
/// longer than one that is not there.
fn one_of(conn: &dyn Conn, id: RunId, actor: &str) -> Result<Option<Run>, LedgerError> {
    let sql = conn.either(
        "SELECT * FROM run_capsules WHERE rowid = \
         (SELECT rowid FROM run_capsules INDEXED BY runs_by_owner WHERE run_id = $1 AND actor = $2)",
        "SELECT * FROM run_capsules WHERE run_id = $1 AND actor = $2",
    );
    conn.first(sql, args![id.to_string(), actor])?.as_ref().map(capsule::read).transpose()
}

fn page(conn: &dyn Conn, filter: &RunFilter) -> Result<RunPage, LedgerError> {
    let limit = filter.limit.clamp(1, RunFilter::MAX_LIMIT);
    let mut conditions = Conditions::of(conn, filter);
    // One more, to know whether there is a next page.
    let mark = conditions.mark(limit as i64 + 1);
    let sql = format!(
        "SELECT {LIGHT} FROM run_capsules WHERE {} ORDER BY created_at DESC, run_id DESC LIMIT {mark}",
        conditions.sql.join(" AND ")
    );
    let found = conn.query(&sql, &conditions.values)?;
    let mut runs = found.iter().map(capsule::read).collect::<Result<Vec<_>, _>>()?;
    let more = runs.len() > limit;
    runs.truncate(limit);
    let place = |run: &Run| Cursor { created_at: time::text(run.created_at), run_id: run.run_id };
    let next = runs.last().filter(|_| more).map(place);
    Ok(RunPage { runs, next })
}

/// Only runs that have shown any are read: their capsules say so in this place of their text.
fn shown_to(conn: &dyn Conn, actor: &str) -> Result<Vec<(String, String)>, LedgerError> {
    let sql = "SELECT model_json FROM run_capsules WHERE actor = $1 AND purpose = 'answer' AND model_json LIKE $2 \
         ORDER BY created_at DESC, run_id DESC LIMIT $3";
    let found = conn.query(sql, args![actor, "%\"shown\":[[%", SHOWN_RUNS])?;
    let mut shown = BTreeSet::new();
    for row in &found {
        shown.extend(row.json::<ModelUse>("model_json")?.shown);
    }
    Ok(shown.into_iter().collect())
}

/// The turns of a thread as its next question needs them: one for each request, however many runs it took. Answers are for
/// models: one that may hold personal values, or was not made with care for them, stays out.
fn turns(conn: &dyn Conn, thread: ThreadId, actor: &str, last: usize) -> Result<Vec<Turn>, LedgerError> {
    let sql = "SELECT question, plan_json, clarification_json, model_json, assistant_message FROM \
         (SELECT *, row_number() OVER (PARTITION BY session_id ORDER BY created_at DESC, run_id DESC) AS nth \
          FROM run_capsules WHERE thread_id = $1 AND actor = $2 AND purpose = 'answer' AND question IS NOT NULL) AS asked \
         WHERE nth = 1 ORDER BY created_at DESC, run_id DESC LIMIT $3";
    let found = conn.query(sql, args![thread.to_string(), actor, last as i64])?;
    let turn = |row: &Row| {
        let model = row.json_or_none::<serde_json::Value>("model_json")?;
        let is_personal = model.and_then(|model| model.get("personal").and_then(serde_json::Value::as_bool));
        let answer = row.get::<String>("assistant_message")?;
        Ok(Turn {
            question: row.get("question")?,
            // A plan that today's planners cannot read is no help to them, and no error either.
            plan: row.json("plan_json").ok(),
            clarification: row.json_or_none("clarification_json")?,
            answer: if is_personal == Some(false) { answer } else { String::new() },
        })
    };
    found.iter().rev().map(turn).collect()
}
