//! Chat's wire format: what comes in, and a run as it goes out.

use crate::chart::{self, Chart};
use crate::http::HttpFault;
use crate::http::error::error_json;
use axum::http::{HeaderName, HeaderValue};
use domain::{FieldType, Kind, Run, RunId, Status, ThreadId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub const FILTERED_BY: HeaderName = HeaderName::from_static("x-gatehouse-filtered-by");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatRequest {
    pub dataset_id: String,
    pub thread_id: Option<String>,
    pub message: String,
}

/// The reply of `/chat`, the `result` event of `/chat/stream`, and `/runs/{id}`: one shape.
#[derive(Serialize)]
pub struct RunBody<'a> {
    pub run_id: RunId,
    pub session_id: domain::SessionId,
    pub thread_id: Option<ThreadId>,
    pub request_id: &'a domain::RequestId,
    pub created_at: jiff::Timestamp,
    pub status: Status,
    pub question: Option<&'a str>,
    pub assistant_message: &'a str,
    pub result: Table<'a>,
    pub clarification: Option<&'a domain::Clarification>,
    pub details: Details<'a>,
    pub filtered_by: &'a [String],
}

/// The result as it was recorded: its rows are passed on without being parsed.
#[derive(Serialize)]
pub struct Table<'a> {
    pub columns: Vec<String>,
    pub types: Vec<FieldType>,
    pub rows: &'a RawValue,
    pub row_count: u64,
    pub truncated: bool,
    /// The record has only the first rows: the reply had them all. `bytes` and `sha256` are of all rows as JSON.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub result_truncated: bool,
    /// Of a result that was streamed: whether it was sent to its end, how much that was, and of a file its hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The picture that suits the shape of the result, if one does.
    pub chart: Option<Chart>,
    pub exec_time_ms: Option<f64>,
    pub error: Option<Value>,
}

#[derive(Serialize)]
pub struct Details<'a> {
    pub dataset_id: &'a str,
    pub dataset_version_hash: Option<&'a str>,
    pub query_mode: Option<domain::QueryMode>,
    pub planner: Option<&'a str>,
    pub reading: Option<&'a str>,
    pub plan_json: Option<&'a Value>,
    pub sql_text: Option<&'a str>,
    pub compiled_sql: Option<&'a str>,
    pub params: &'a [domain::Value],
    pub contracts: &'a [domain::ContractUse],
    pub policy_fingerprint: &'a str,
    pub sandbox_tier: Option<&'a str>,
    pub unenforced: &'a [String],
    pub timings: domain::Timings,
    pub cost_usd: Option<f64>,
    /// Which model answered, if one did.
    pub model: Option<&'a str>,
    pub actor: &'a str,
    pub role: &'a str,
    pub door: domain::Door,
    /// Every run of this request, this one last.
    pub runs: Vec<RunId>,
}

/// The stored table, split so that its rows need not be parsed to be sent.
#[derive(Deserialize, Default)]
struct Stored<'a> {
    columns: Vec<String>,
    types: Vec<FieldType>,
    row_count: u64,
    truncated: bool,
    #[serde(default)]
    result_truncated: bool,
    #[serde(default)]
    complete: Option<bool>,
    #[serde(default)]
    bytes: Option<u64>,
    #[serde(default)]
    sha256: Option<String>,
    #[serde(borrow)]
    rows: Option<&'a RawValue>,
}

/// `[]`, for runs without a result.
fn no_rows() -> &'static RawValue {
    static EMPTY: std::sync::OnceLock<Box<RawValue>> = std::sync::OnceLock::new();
    EMPTY.get_or_init(|| serde_json::value::to_raw_value(&[(); 0]).unwrap_or_default())
}

impl<'a> RunBody<'a> {
    pub fn of(run: &'a Run) -> Self {
        let stored = run.result_json.as_deref().and_then(|raw| serde_json::from_str(raw.get()).ok());
        let stored: Stored<'a> = stored.unwrap_or_default();
        let rows = stored.rows.unwrap_or(no_rows());
        // A picture of the first rows would be taken for one of them all.
        let chart = (!stored.result_truncated)
            .then(|| chart::choose(&stored.columns, &stored.types, rows, stored.row_count))
            .flatten();
        Self {
            run_id: run.run_id,
            session_id: run.session_id,
            thread_id: run.thread_id,
            request_id: &run.request_id,
            created_at: run.created_at,
            status: run.status,
            question: run.question.as_deref(),
            assistant_message: &run.assistant_message,
            result: Table {
                columns: stored.columns,
                types: stored.types,
                rows,
                row_count: stored.row_count,
                truncated: stored.truncated,
                result_truncated: stored.result_truncated,
                complete: stored.complete,
                bytes: stored.bytes,
                sha256: stored.sha256,
                chart,
                exec_time_ms: run.exec_time_ms,
                error: run.error_json.as_ref().map(error_json),
            },
            clarification: run.clarification.as_ref(),
            details: details(run),
            filtered_by: &run.filtered_by,
        }
    }
}

fn details(run: &Run) -> Details<'_> {
    Details {
        dataset_id: &run.dataset_id,
        dataset_version_hash: run.dataset_version_hash.as_deref(),
        query_mode: run.query_mode,
        planner: run.planner.as_deref(),
        reading: run.reading.as_deref(),
        plan_json: run.plan_json.as_ref(),
        sql_text: run.sql_text.as_deref(),
        compiled_sql: run.compiled_sql.as_deref(),
        params: &run.params,
        contracts: &run.contracts,
        policy_fingerprint: &run.policy_fingerprint,
        sandbox_tier: run.sandbox_tier.as_deref(),
        unenforced: &run.unenforced,
        timings: run.timings,
        cost_usd: run.cost_usd,
        actor: &run.actor,
        role: &run.role,
        door: run.door,
        model: run.model.as_ref().map(|model| model.name.as_str()),
        runs: run.model.iter().flat_map(|model| model.steps.iter().copied()).chain([run.run_id]).collect(),
    }
}

/// The header that says which resources policy showed only in part.
pub fn filtered_header(run: &Run) -> Option<(HeaderName, HeaderValue)> {
    if run.filtered_by.is_empty() {
        return None;
    }
    HeaderValue::from_str(&run.filtered_by.join(", ")).ok().map(|value| (FILTERED_BY, value))
}

/// An id in an address or a body.
pub fn parse_id<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, HttpFault> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(64).collect();
        HttpFault::new(Kind::Invalid, "request.id", format!("`{shown}` is not a {what} id"))
    })
}
