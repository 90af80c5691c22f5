//! `rest`: where a resource of an internal service is, and how its requests look.

use super::Contract;
use super::error::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How a resource is reached in a source of kind `rest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rest {
    /// Where its rows are read (GET) and new ones are made (POST), as in `/cases`.
    pub path: String,
    /// Where one row is, as in `/cases/{id}`: each field of the key once, as a part of its own.
    pub item: String,
    /// Field → query parameter that leaves only the rows with this value. Reads are filtered by these fields and the key.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// Where the service gives rows page by page.
    #[serde(default)]
    pub pages: Option<Pages>,
    /// The member of a reply that holds the row or the rows; without it, the reply is them.
    #[serde(default)]
    pub rows: Option<String>,
    /// Field → member of a row, where the service calls it otherwise.
    #[serde(default)]
    pub members: BTreeMap<String, String>,
    /// How a row is changed.
    #[serde(default)]
    pub update: UpdateMethod,
}

/// Query parameters that ask for one page after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    /// Rows of a page.
    pub size: u64,
    /// The parameter for how many rows are wanted.
    pub limit: String,
    /// The parameter for how many are passed over.
    pub offset: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum UpdateMethod {
    /// The fields that change.
    #[default]
    Patch,
    /// The whole row.
    Put,
}

impl Rest {
    /// What the service calls a field.
    pub fn member<'a>(&'a self, field: &'a str) -> &'a str {
        lookup(&self.members, field).unwrap_or(field)
    }

    /// The query parameter for a field, where there is one.
    pub fn parameter(&self, field: &str) -> Option<&str> {
        lookup(&self.query, field)
    }
}

fn lookup<'a>(names: &'a BTreeMap<String, String>, field: &str) -> Option<&'a str> {
    names.iter().find(|(name, _)| name.eq_ignore_ascii_case(field)).map(|(_, theirs)| theirs.as_str())
}

/// What must be true of it beyond its form.
pub fn validate(contract: &Contract, problems: &mut Problems<'_>) {
    let Some(rest) = &contract.rest else { return };
    if !is_path(&rest.path) {
        problems.add("rest.path", format!("`{}` is not a path", rest.path), "write it like `/cases`");
    }
    item(contract, rest, problems);
    names(contract, rest, problems);
    if rest.pages.as_ref().is_some_and(|pages| pages.size == 0 || pages.size > 1_000) {
        problems.add("rest.pages.size", "is not a number of rows", "write 1 to 1000");
    }
    if !contract.joins.is_empty() {
        problems.add("joins", "a resource of a service is not joined", "take `joins` out");
    }
    for (key, given) in
        [("filters", contract.filters.is_some()), ("where_examples", !contract.where_examples.is_empty())]
    {
        if given {
            problems.add(key, "is not for a resource of a service", "`rest.query` says what it can be filtered by");
        }
    }
}

/// The key names one row, and nothing else does.
fn item(contract: &Contract, rest: &Rest, problems: &mut Problems<'_>) {
    let parts: Vec<&str> = rest.item.split('/').filter_map(slot).collect();
    let fixed: Vec<&str> = rest.item.split('/').map(|part| slot(part).map_or(part, |_| "x")).collect();
    let each_once = parts.len() == contract.key.len()
        && contract.key.iter().all(|name| parts.iter().any(|part| part.eq_ignore_ascii_case(name)));
    if contract.key.is_empty() || !each_once || !is_path(&fixed.join("/")) {
        let hint = "name each field of the key once, as in `/cases/{id}`";
        problems.add("rest.item", format!("`{}` does not name one row", rest.item), hint);
    }
}

/// The field of `{field}`.
pub fn slot(part: &str) -> Option<&str> {
    part.strip_prefix('{').and_then(|part| part.strip_suffix('}'))
}

fn names(contract: &Contract, rest: &Rest, problems: &mut Problems<'_>) {
    for (key, map) in [("rest.query", &rest.query), ("rest.members", &rest.members)] {
        for name in map.keys().filter(|name| contract.field(name).is_none()) {
            problems.add(key, format!("unknown field `{name}`"), "name fields of this contract");
        }
    }
    let pages = rest.pages.iter().flat_map(|pages| [&pages.limit, &pages.offset]);
    let mut seen = BTreeSet::new();
    for parameter in rest.query.values().chain(pages) {
        if !is_word(parameter) || !seen.insert(parameter) {
            let hint = "letters, digits, `_`, `-` and `.`, each for one thing";
            problems.add("rest.query", format!("`{parameter}` is not a parameter, or one twice"), hint);
        }
    }
    let mut seen = BTreeSet::new();
    for member in contract.fields.iter().map(|field| rest.member(&field.name)) {
        if !seen.insert(member) {
            problems.add("rest.members", format!("`{member}` is two fields"), "give each field a member of its own");
        }
    }
}

/// An absolute path of plain parts: nothing that a service could read in another way.
fn is_path(path: &str) -> bool {
    let plain = |part: &str| is_word(part) && part.chars().any(|c| c != '.');
    path.len() <= 256 && path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(plain))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= 128 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}
