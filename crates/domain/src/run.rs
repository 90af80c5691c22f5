//! The capsule: everything needed to explain and replay one request.

use crate::{Clarification, Door, Fault, Purpose, QueryMode, RequestId, RunId, SessionId, ThreadId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Succeeded,
    Failed,
    Refused,
    Clarify,
    Cancelled,
}

impl Status {
    pub const ALL: [Self; 5] = [Self::Succeeded, Self::Failed, Self::Refused, Self::Clarify, Self::Cancelled];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Clarify => "clarify",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

/// A contract that took part in a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContractUse {
    pub resource: String,
    pub version: String,
}

/// How long each part took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    pub plan_ms: f64,
    pub check_ms: f64,
    pub run_ms: f64,
}

/// What a model was used for an answer, and for how much of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUse {
    pub name: String,
    /// All that it read, from a cache or not.
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// How often it was called.
    pub turns: u32,
    pub tool_calls: u32,
    /// The runs of what it asked for, in order.
    pub steps: Vec<RunId>,
    /// Whether personal fields may be among what they read, so that no later question tells a model of this answer.
    pub personal: bool,
    /// Values that the answer shows in the place of placeholders, with the labels of these: a model is told placeholders
    /// for them when a client sends the answer back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<(String, String)>,
}

/// One run as the ledger keeps it and as its door shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    pub run_id: RunId,
    pub session_id: SessionId,
    pub thread_id: Option<ThreadId>,
    pub request_id: RequestId,
    pub created_at: Timestamp,
    pub door: Door,
    pub purpose: Purpose,
    pub actor: String,
    pub role: String,
    /// Whom the actor said it asked for, where its door lets it say so.
    pub end_user: Option<String>,
    pub dataset_id: String,
    /// The data version that was read (spec 001 calls it `dataset_version_hash`).
    pub dataset_version_hash: Option<String>,
    pub question: Option<String>,
    /// What the planner understood, in words.
    pub reading: Option<String>,
    pub planner: Option<String>,
    pub query_mode: Option<QueryMode>,
    pub plan_json: Option<serde_json::Value>,
    /// The SQL as it was sent, in SQL mode. What ran is `compiled_sql`.
    pub sql_text: Option<String>,
    pub compiled_sql: Option<String>,
    /// The values bound to `compiled_sql`, in order.
    pub params: Vec<crate::Value>,
    pub proposal_hash: Option<String>,
    pub policy_fingerprint: String,
    pub contracts: Vec<ContractUse>,
    /// Resources of which policy showed only some rows.
    pub filtered_by: Vec<String>,
    pub status: Status,
    pub assistant_message: String,
    /// `{columns, rows, row_count, truncated}` as the door replied it.
    pub result_json: Option<Box<serde_json::value::RawValue>>,
    pub clarification: Option<Clarification>,
    pub error_json: Option<Fault>,
    pub exec_time_ms: Option<f64>,
    pub timings: Timings,
    /// What held the worker: `T1`, `T2`.
    pub sandbox_tier: Option<String>,
    /// Limits of the specification that this machine could not enforce.
    pub unenforced: Vec<String>,
    /// Null when unknown; 0 for the offline planner.
    pub cost_usd: Option<f64>,
    /// None where no model was asked.
    pub model: Option<ModelUse>,
}
