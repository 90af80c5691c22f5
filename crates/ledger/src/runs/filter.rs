//! Which runs are wanted, and from where on.

use crate::store::{Conn, Value};
use crate::{LedgerError, bounds, time};
use domain::{Purpose, RunId, SessionId, Status, ThreadId};
use jiff::Timestamp;
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

/// A place in the list of runs, which stays right while new runs come in. Opaque to callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(super) created_at: String,
    pub(super) run_id: RunId,
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

/// What a filter wants, as SQL.
pub(super) struct Conditions {
    pub sql: Vec<String>,
    pub values: Vec<Value>,
}

impl Conditions {
    pub fn of(conn: &dyn Conn, filter: &RunFilter) -> Self {
        let mut all = Self { sql: vec!["TRUE".to_owned()], values: Vec::new() };
        all.add("actor = $", filter.actor.clone());
        all.add(
            conn.either("dataset_id = $", "left(dataset_id, 200) = left($, 200) AND dataset_id = $"),
            // A name that is too long is kept as it is cut.
            filter.dataset.clone().map(bounds::short),
        );
        all.add("status = $", filter.status.map(|status| status.as_str().to_owned()));
        all.add("thread_id = $", filter.thread.map(|id| id.to_string()));
        all.add("session_id = $", filter.session.map(|id| id.to_string()));
        all.add_any("purpose", filter.purposes.iter().map(|purpose| purpose.as_str()));
        // LIKE and lower() of SQLite fold ASCII only, and those of a database as its locale does; questions come in all
        // languages.
        let contains = conn.either(
            "contains_folded(question, $)",
            "strpos(lower(question COLLATE \"und-x-icu\") COLLATE \"C\", $) > 0",
        );
        all.add(contains, filter.text.as_ref().map(|text| text.to_lowercase()));
        all.add("created_at >= $", filter.since.map(time::text));
        all.add("created_at < $", filter.until.map(time::text));
        if let Some(Cursor { created_at, run_id }) = &filter.after {
            let (at, id) = (all.mark(created_at), all.mark(run_id.to_string()));
            all.sql.push(format!("(created_at, run_id) < ({at}, {id})"));
        }
        all
    }

    /// Remembers a value; how a statement names it.
    pub fn mark(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// A condition, with `$` where its value goes.
    fn add(&mut self, sql: &str, value: Option<String>) {
        if let Some(value) = value {
            let mark = self.mark(value);
            self.sql.push(sql.replace('$', &mark));
        }
    }

    /// One of several values; any, if there are none.
    fn add_any<'v>(&mut self, column: &str, values: impl Iterator<Item = &'v str>) {
        let marks: Vec<String> = values.map(|value| self.mark(value)).collect();
        if !marks.is_empty() {
            self.sql.push(format!("{column} IN ({})", marks.join(",")));
        }
    }
}
