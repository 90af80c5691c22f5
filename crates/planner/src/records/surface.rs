//! The resources of Records as one role sees them: what a planner may know of the contracts, and nothing else.

use domain::change::{FilterOperator, Op};
use domain::{FieldType, sha256_hex};
use serde::Serialize;
use std::collections::BTreeMap;

/// All resources that a role may touch. Hidden fields are not in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Surface {
    pub role: String,
    pub resources: Vec<Resource>,
}

/// One resource: spec 002 §5.3, with the words that people have for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Resource {
    pub name: String,
    /// The version of its contract.
    pub version: String,
    pub source: String,
    pub describe: String,
    pub synonyms: Vec<String>,
    pub ops: Vec<Op>,
    /// The fields that tell rows apart.
    pub key: Vec<String>,
    pub natural_key: Vec<String>,
    pub fields: Vec<Field>,
    pub filters: BTreeMap<String, Vec<FilterOperator>>,
    pub order: Vec<String>,
    pub limits: Caps,
    pub joins: Vec<Join>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Field {
    pub name: String,
    pub kind: FieldType,
    pub nullable: bool,
    /// The source makes its value.
    pub generated: bool,
    pub pii: bool,
    pub readable: bool,
    pub writable: bool,
    pub values: Vec<String>,
    pub synonyms: Vec<String>,
}

/// How much one plan may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Caps {
    pub max_rows: u64,
    pub max_predicates: u64,
    pub max_update_fields: u64,
    pub max_joins: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { max_rows: 100, max_predicates: 10, max_update_fields: 10, max_joins: 1 }
    }
}

/// Fields of this resource that point at fields of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Join {
    pub target: String,
    /// Pairs of (own field, target's field).
    pub on: Vec<(String, String)>,
}

impl Surface {
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|r| r.name == name)
    }

    /// Changes with the role, and with anything of the contracts that the role can see.
    pub fn fingerprint(&self) -> String {
        // The order of fields is fixed by the types, so equal surfaces give equal text.
        sha256_hex(serde_json::to_string(self).unwrap_or_default().as_bytes())
    }
}

impl Resource {
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// What a read shows when it is not told what: all but what is personal.
    pub fn shown(&self) -> Vec<String> {
        self.fields.iter().filter(|f| f.readable && !f.pii).map(|f| f.name.clone()).collect()
    }

    pub fn allows(&self, field: &str, op: FilterOperator) -> bool {
        self.filters.get(field).is_some_and(|ops| ops.contains(&op))
    }

    /// The one field of its key, where it is one.
    pub fn key_field(&self) -> Option<&Field> {
        match self.key.as_slice() {
            [only] => self.field(only),
            _ => None,
        }
    }

    /// The field that points at the key of another resource.
    pub fn pointer_to(&self, target: &str, key: &str) -> Option<&Field> {
        let join =
            self.joins.iter().find(|j| j.target == target && matches!(j.on.as_slice(), [(_, to)] if to == key))?;
        self.field(&join.on.first()?.0)
    }

    /// What its rows are called by: a required text that is named like a name.
    pub fn title_field(&self) -> Option<&Field> {
        const ENDINGS: [&str; 4] = ["name", "title", "subject", "label"];
        let named = |f: &&Field| ENDINGS.iter().any(|e| f.name == *e || f.name.ends_with(&format!("_{e}")));
        self.fields.iter().filter(|f| f.kind.is_text() && f.values.is_empty() && !f.pii).find(named)
    }

    /// When its rows happened: the moment that is meant where none is named.
    pub fn moment_field(&self) -> Option<&Field> {
        const EVENTS: [&str; 8] = ["created", "opened", "sent", "received", "occurred", "happened", "recorded", "date"];
        let temporal = || self.fields.iter().filter(|f| f.kind.is_temporal());
        let event = |f: &&Field| EVENTS.iter().any(|e| f.name.split('_').next() == Some(*e));
        temporal().find(event).or_else(|| temporal().next())
    }
}
