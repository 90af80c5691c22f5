//! What a plan may do with its finished rows: compare each with the one before it, and keep only the
//! first of each group. Both name selected columns, never expressions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One more column: by how much a selected number differs from that of the row before.
///
/// The first row of each group has none before it, and NULL here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The selected column that is compared.
    pub of: String,
    /// The selected column whose order says which row comes before.
    pub along: String,
    /// Selected columns; only rows that are equal in them are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per: Vec<String>,
    /// In percent of the value before, NULL where that is 0; otherwise the difference.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub percent: bool,
    /// The name of the column in the answer.
    #[serde(rename = "as")]
    pub alias: String,
}

/// Only the first rows of each group, in the order of `order_by`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitPer {
    /// Selected columns; rows that are equal in them are a group.
    pub by: Vec<String>,
    /// How many places; rows that are equal in `order_by` share theirs, so that there may be more rows.
    pub k: u64,
}
