//! What somebody untrusted wants to run.

use crate::{ChangePlan, QueryPlan, Scan, sha256_hex};
use serde::{Deserialize, Serialize};

/// Untrusted: written by a model, a planner or a caller. Only policy turns it into `Approved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proposal {
    Query {
        source: String,
        plan: Box<QueryPlan>,
    },
    Sql {
        source: String,
        text: String,
    },
    Scan {
        source: String,
        scan: Box<Scan>,
    },
    /// One read, insert or update, under the stricter rules of Records.
    Change {
        source: String,
        plan: Box<ChangePlan>,
    },
}

/// How the statement came about, as run capsules call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryMode {
    Plan,
    Sql,
    Scan,
    Change,
}

impl QueryMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Sql => "sql",
            Self::Scan => "scan",
            Self::Change => "change",
        }
    }
}

impl Proposal {
    pub fn source(&self) -> &str {
        match self {
            Self::Query { source, .. }
            | Self::Sql { source, .. }
            | Self::Scan { source, .. }
            | Self::Change { source, .. } => source,
        }
    }

    pub fn mode(&self) -> QueryMode {
        match self {
            Self::Query { .. } => QueryMode::Plan,
            Self::Sql { .. } => QueryMode::Sql,
            Self::Scan { .. } => QueryMode::Scan,
            Self::Change { .. } => QueryMode::Change,
        }
    }

    /// The identity of exactly this proposal: an approval is bound to it.
    pub fn hash(&self) -> String {
        // Field order is fixed by the types, so equal proposals serialise to equal bytes.
        sha256_hex(serde_json::to_string(self).unwrap_or_default().as_bytes())
    }
}
