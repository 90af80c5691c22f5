//! The plan language of Records: one read, insert or update of one resource (spec 002 §5.4).
//!
//! A plan names resources and fields, never SQL. Every object refuses keys that it does not know. There is no step
//! that deletes, and none that changes more than one row: policy sees to the rest (`policy::change`).

use crate::plan::{Direction, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a planner writes for an instruction: `{"version": "1", "steps": [one step]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePlan {
    /// Where it is left out, the one version that there is.
    #[serde(default)]
    pub version: Version,
    /// Exactly one.
    #[schemars(length(min = 1, max = 1))]
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "UPPERCASE")]
pub enum Step {
    Read(ReadStep),
    Insert(InsertStep),
    Update(UpdateStep),
}

/// Rows of one resource, or of one and those that it joins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadStep {
    pub resource: String,
    /// Fields of the resource, or `target.field` of a joined one; at least one.
    #[schemars(length(min = 1))]
    pub select: Vec<String>,
    /// All must hold.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<Predicate>,
    /// Only joins that the contract of `resource` lists, copied from there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub join: Vec<StepJoin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<StepOrder>,
    pub limit: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// A new row. The source makes the values of its generated fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertStep {
    pub resource: String,
    pub values: BTreeMap<String, Value>,
}

/// New values for one row, which its key names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateStep {
    pub resource: String,
    /// Each field of the key, with `=`; the contract's `version_field` may join them, against stale writes.
    #[serde(rename = "where")]
    pub filter: Vec<Predicate>,
    pub update: BTreeMap<String, Value>,
    /// Always 1.
    #[schemars(range(min = 1, max = 1))]
    pub limit: u64,
}

/// A field, an operator and a value: a list for `IN`, a list of two for `BETWEEN`, a scalar for the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    pub field: String,
    pub op: FilterOperator,
    /// `null` asks with `=` for rows that have no value there, with `!=` for those that have one.
    pub value: Value,
}

impl Predicate {
    pub fn new(field: impl Into<String>, op: FilterOperator, value: impl Into<Value>) -> Self {
        Self { field: field.into(), op, value: value.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepJoin {
    pub target_resource: String,
    #[schemars(length(min = 1))]
    pub on: Vec<StepOn>,
    #[serde(default, rename = "type")]
    pub kind: JoinType,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StepOn {
    /// A field of the step's resource.
    pub left_field: String,
    /// A field of the joined one.
    pub right_field: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JoinType {
    #[default]
    Inner,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepOrder {
    pub field: String,
    #[serde(default)]
    pub dir: Direction,
}

/// The operators of spec 002 §5.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum FilterOperator {
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = "IN")]
    In,
    #[serde(rename = "BETWEEN")]
    Between,
    #[serde(rename = "LIKE")]
    Like,
    #[serde(rename = "ILIKE")]
    ILike,
}

impl FilterOperator {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::In => "IN",
            Self::Between => "BETWEEN",
            Self::Like => "LIKE",
            Self::ILike => "ILIKE",
        }
    }
}

/// What a step does, as contracts allow it and replies call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Op {
    Read,
    Insert,
    Update,
}

impl Op {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
        }
    }

    /// Whether it changes anything.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

impl Step {
    pub fn op(&self) -> Op {
        match self {
            Self::Read(_) => Op::Read,
            Self::Insert(_) => Op::Insert,
            Self::Update(_) => Op::Update,
        }
    }

    pub fn resource(&self) -> &str {
        match self {
            Self::Read(step) => &step.resource,
            Self::Insert(step) => &step.resource,
            Self::Update(step) => &step.resource,
        }
    }
}

impl ChangePlan {
    pub fn of(step: Step) -> Self {
        Self { version: Version::V1, steps: vec![step] }
    }

    /// The one step, if it is one.
    pub fn step(&self) -> Option<&Step> {
        match self.steps.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}
