//! What came of a request.

use crate::{Fault, FieldType};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub enum Outcome {
    Rows(Rows),
    /// A row was written, or stood there already as it was to be written.
    Changed(Changed),
    /// A model's answer, whatever rows it is made of.
    Told(String),
    /// One question back, with the readings to choose from.
    Clarify(Clarification),
    /// Policy or a planner said no: nothing ran.
    Refused(Fault),
    /// It was allowed, and did not work.
    Failed(Fault),
    /// The caller took it back while it ran.
    Cancelled,
}

/// A result as the engine made it: an Arrow IPC stream, forwarded as bytes where the reply is Arrow.
#[derive(Debug, Clone)]
pub struct Rows {
    pub columns: Vec<ResultColumn>,
    /// A complete Arrow IPC stream (schema, batches, end marker).
    pub ipc: Bytes,
    pub row_count: u64,
    /// True when the limit on rows or bytes cut the result.
    pub truncated: bool,
}

/// What a change left behind.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The row after the change, as far as its writer may read it.
    pub rows: Rows,
    /// How many rows were written: 1, or 0 where a retry found its own work.
    pub affected: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultColumn {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: FieldType,
}

/// Exactly one question, answerable by one of the choices or in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarification {
    pub question: String,
    pub choices: Vec<String>,
}
