//! Contracts: one YAML file per resource says who may do what with it.
//!
//! The types here are the file's shape and nothing more; [`validate`] holds what must be true
//! across keys, [`crate::access`] what a contract means for a caller.

pub mod draft;
pub mod error;
pub mod parse;
pub mod rest;
pub mod role;
pub mod rows;
pub mod validate;

use domain::FieldType;
pub use domain::change::{FilterOperator, JoinType, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The policy of one resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The version of this contract. An older one may be kept beside it as `NAME@VERSION.yaml`.
    pub version: String,
    /// The canonical name: lowercase ASCII letters, digits and `_`, at most 64, as the file is called.
    pub resource: String,
    /// A source of `gatehouse.toml`.
    pub source: String,
    /// The table of that source.
    pub table: String,
    #[serde(default)]
    pub describe: String,
    /// Other words for the resource.
    #[serde(default)]
    pub synonyms: Vec<String>,
    /// The fields that tell rows apart.
    #[serde(default)]
    pub key: Vec<String>,
    /// Fields that are unique in the world as well; they make a retried INSERT harmless.
    #[serde(default)]
    pub natural_key: Vec<String>,
    /// The columns that exist as far as this contract goes; a column that is not listed is not visible.
    pub fields: Vec<Field>,
    #[serde(default)]
    pub roles: BTreeMap<String, Role>,
    /// Every signed-in role without an entry may READ, except fields flagged `pii`.
    #[serde(default)]
    pub public: bool,
    /// Actor → the role it has for this resource, instead of its token's.
    #[serde(default)]
    pub grants: BTreeMap<String, String>,
    #[serde(default)]
    pub query_mode: QueryPath,
    /// Predicates that a reader may start from.
    #[serde(default)]
    pub where_examples: Vec<String>,
    /// The field that changes with every write, for optimistic concurrency.
    #[serde(default)]
    pub version_field: Option<String>,
    /// The field that marks a row as deleted.
    #[serde(default)]
    pub soft_delete: Option<String>,
    /// Records only: field → operators. By type where it is left out.
    #[serde(default)]
    pub filters: Option<BTreeMap<String, Vec<FilterOperator>>>,
    /// Records only: fields that a read may be ordered by. All comparable fields where it is left out.
    #[serde(default)]
    pub order: Option<Vec<String>>,
    #[serde(default)]
    pub limits: RecordLimits,
    /// What belongs together.
    #[serde(default)]
    pub joins: Vec<RecordJoin>,
    /// Where it is, in a source of kind `rest`. Only Records reads and writes it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<rest::Rest>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// As the column is called in the source.
    pub name: String,
    #[serde(rename = "type")]
    pub kind: FieldType,
    #[serde(default)]
    pub describe: String,
    #[serde(default)]
    pub nullable: bool,
    /// The source makes its value; nobody writes it.
    #[serde(default)]
    pub generated: bool,
    /// Says something about a person: hidden from `public` readers and masked towards models.
    #[serde(default)]
    pub pii: bool,
    /// The only values that it takes.
    #[serde(default)]
    pub values: Vec<String>,
    /// Other words for it.
    #[serde(default)]
    pub synonyms: Vec<String>,
}

/// What one role may do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Role {
    pub ops: Vec<Op>,
    /// Fields that do not exist for this role, in any door.
    #[serde(default)]
    pub hide: Vec<String>,
    /// Fields that INSERT and UPDATE may set.
    #[serde(default)]
    pub write: Vec<String>,
    /// A predicate over this resource's fields and `$claims` of the caller; only such rows exist for this role.
    #[serde(default)]
    pub rows: Option<String>,
    /// Rows that are marked as deleted exist for this role.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// Where statements on the resource run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QueryPath {
    #[default]
    Local,
    Remote,
}

/// Caps of Records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordLimits {
    pub max_rows: u64,
    pub max_predicates: u64,
    pub max_update_fields: u64,
    pub max_joins: u64,
}

impl Default for RecordLimits {
    fn default() -> Self {
        Self { max_rows: 100, max_predicates: 10, max_update_fields: 10, max_joins: 1 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordJoin {
    /// Another resource of the same source.
    pub target: String,
    /// Field of this resource → field of the target.
    pub on: BTreeMap<String, String>,
    #[serde(default, rename = "type")]
    pub kind: JoinType,
}

impl Contract {
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }

    /// The role that decides for this actor: `grants` goes before the token.
    pub fn role_of<'a>(&'a self, actor: &str, role: &'a str) -> &'a str {
        self.grants.get(actor).map_or(role, String::as_str)
    }
}

/// The published JSON Schema of a contract file.
pub fn contract_json_schema() -> serde_json::Value {
    schemars::schema_for!(Contract).to_value()
}
