//! What a call comes to, for programs and for models.

use crate::Reply;
use crate::doors::chat::RunBody;
use crate::http::error::error_json;
use domain::{Fault, Kind, Run, Status};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::sync::Arc;

/// What a call gave. Numbers stay as they are, with every digit.
#[derive(Debug)]
pub enum Called {
    /// Something to know.
    Value(Box<RawValue>),
    /// A statement that was sent down the path, whatever came of it.
    Ran(Arc<Reply>),
    /// A run of before, as its reader may see it.
    Recorded(Box<Run>),
}

impl Called {
    pub(super) fn value(value: &impl Serialize) -> Result<Self, Fault> {
        raw(value).map(Self::Value)
    }

    /// Everything, as Chat replies it.
    pub fn whole(self) -> Result<Box<RawValue>, Fault> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Ran(reply) => raw(&RunBody::of(&reply.run)),
            Self::Recorded(run) => raw(&RunBody::of(&run)),
        }
    }

    /// What a model needs of it, in few words, with as many rows as go into `most` bytes. A statement that came to
    /// nothing is a fault.
    pub fn brief(self, most: usize) -> Result<Box<RawValue>, Fault> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Ran(reply) => match (&reply.run.error_json, reply.run.status) {
                (Some(fault), _) => Err(fault.clone()),
                (None, Status::Cancelled) => Err(cancelled()),
                (None, _) => raw(&Brief::of(&reply.run, most)),
            },
            Self::Recorded(run) => raw(&Brief::of(&run, most)),
        }
    }

    /// Only how a run of before has ended.
    pub fn status(run: &Run) -> String {
        serde_json::json!({ "run_id": run.run_id, "status": run.status }).to_string()
    }
}

/// A run without what only people and auditors ask for.
#[derive(Serialize)]
struct Brief<'a> {
    run_id: domain::RunId,
    status: domain::Status,
    columns: Vec<String>,
    rows: Vec<&'a RawValue>,
    /// Of the whole result.
    row_count: u64,
    /// The statement had more rows than one may give.
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Resources of which policy showed only some rows.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    filtered_by: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// A result as it was recorded.
#[derive(Deserialize, Default)]
struct Stored<'a> {
    columns: Vec<String>,
    row_count: u64,
    truncated: bool,
    #[serde(default)]
    result_truncated: bool,
    #[serde(borrow)]
    rows: Vec<&'a RawValue>,
}

impl<'a> Brief<'a> {
    fn of(run: &'a Run, most: usize) -> Self {
        let stored = run.result_json.as_deref().and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Stored { columns, row_count, truncated, result_truncated, mut rows } = stored.unwrap_or_default();
        // The record of a large result has its first rows only.
        let all = if result_truncated { row_count } else { rows.len() as u64 };
        rows.truncate(fitting(&rows, most));
        let shown = rows.len() as u64;
        let note = (shown < all).then(|| {
            format!("only the first {shown} of {all} rows are shown: ask for fewer rows or columns, or aggregate")
        });
        let error = run.error_json.as_ref().map(error_json);
        let (run_id, status, filtered_by) = (run.run_id, run.status, run.filtered_by.as_slice());
        Self { run_id, status, columns, rows, row_count, truncated, note, filtered_by, error }
    }
}

/// How many of the first rows go into so many bytes.
fn fitting(rows: &[&RawValue], most: usize) -> usize {
    let mut bytes = 0usize;
    rows.iter()
        .take_while(|row| {
            bytes = bytes.saturating_add(row.get().len() + 1);
            bytes <= most
        })
        .count()
}

fn cancelled() -> Fault {
    Fault::new(Kind::Unavailable, "run.cancelled", "the run was cancelled before it gave rows")
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, Fault> {
    to_raw_value(value).map_err(|_| Fault::internal("tool.answer"))
}
