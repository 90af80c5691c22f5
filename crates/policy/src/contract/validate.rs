//! What must be true of a contract beyond its form. Every problem is reported.

use super::error::{ContractError, Problems};
use super::rest;
use super::rows::RowFilter;
use super::{Contract, Op, QueryPath, Role};
use crate::names::is_quotable;
use crate::suggest::did_you_mean;
use std::collections::{BTreeMap, BTreeSet};

/// Whether this file keeps an older version: `cases@1.yaml`.
pub fn is_older(file: &str) -> bool {
    stem(file).contains('@')
}

/// Checks one contract among all of them; gives its parsed row filters.
pub fn contract(
    file: &str,
    contract: &Contract,
    all: &[(String, Contract)],
    errors: &mut Vec<ContractError>,
) -> BTreeMap<String, RowFilter> {
    let mut problems = Problems::of(file);
    names(file, contract, all, &mut problems);
    fields(contract, &mut problems);
    references(contract, &mut problems);
    joins(contract, all, &mut problems);
    limits(contract, &mut problems);
    rest::validate(contract, &mut problems);
    let rows = roles(contract, &mut problems);
    errors.extend(problems.into_errors());
    rows
}

fn names(file: &str, contract: &Contract, all: &[(String, Contract)], problems: &mut Problems<'_>) {
    const PLAIN: &str = "use lowercase letters, digits and `_`, at most 64, starting with a letter";
    if !is_name(&contract.resource) {
        problems.add("resource", format!("`{}` is not a name", contract.resource), PLAIN);
    }
    let version_is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if contract.version.is_empty() || contract.version.len() > 32 || !contract.version.chars().all(version_is_plain) {
        problems.add("version", format!("`{}` is not a version", contract.version), "write it as \"1\" or \"2024-06\"");
    }
    for (key, text) in [("source", &contract.source), ("table", &contract.table)] {
        if !is_quotable(text) {
            problems.add(
                key,
                format!("`{text}` is not a name"),
                "write the name as the configuration and the source have it",
            );
        }
    }
    for role in contract.roles.keys().chain(contract.grants.values()) {
        if !is_name(role) {
            problems.add(format!("roles.{role}"), format!("`{role}` is not a role name"), PLAIN);
        }
    }
    let expected = match is_older(file) {
        true => format!("{}@{}", contract.resource, contract.version),
        false => contract.resource.clone(),
    };
    if stem(file) != expected {
        let message = format!("the file is called `{file}`, and its resource is `{}`", contract.resource);
        problems.add("resource", message, format!("call the file `{expected}.yaml`"));
    }
    let same = |(other, c): &&(String, Contract)| {
        other != file && c.resource == contract.resource && c.version == contract.version
    };
    if let Some((other, _)) = all.iter().find(same) {
        problems.add(
            "version",
            format!("`{other}` has version `{}` of this resource too", contract.version),
            "give each file its own version",
        );
    }
}

fn fields(contract: &Contract, problems: &mut Problems<'_>) {
    if contract.fields.is_empty() {
        problems.add("fields", "there are no fields", "list the columns that this contract is about");
    }
    let mut seen = BTreeSet::new();
    for (i, field) in contract.fields.iter().enumerate() {
        let key = format!("fields[{i}].name");
        if field.name.len() > 128 || !is_quotable(&field.name) {
            problems.add(
                &key,
                format!("`{}` is not a field name", field.name),
                "write the column's name, without double quotes and backslashes",
            );
        }
        if !seen.insert(field.name.to_ascii_lowercase()) {
            problems.add(&key, format!("the field `{}` is listed twice", field.name), "list each column once");
        }
    }
}

/// Keys that name fields must name fields that exist.
fn references(contract: &Contract, problems: &mut Problems<'_>) {
    let mut check = |key: &str, names: &mut dyn Iterator<Item = &String>| {
        for name in names {
            known_field(contract, key, name, problems);
        }
    };
    check("key", &mut contract.key.iter());
    check("natural_key", &mut contract.natural_key.iter());
    check("version_field", &mut contract.version_field.iter());
    check("soft_delete", &mut contract.soft_delete.iter());
    check("order", &mut contract.order.iter().flatten());
    check("filters", &mut contract.filters.iter().flat_map(|f| f.keys()));
    for actor in contract.grants.keys().filter(|actor| actor.is_empty()) {
        problems.add("grants", format!("`{actor}` is not an actor"), "write the actor as its token names it");
    }
    for (actor, role) in &contract.grants {
        if !contract.roles.contains_key(role) && role != domain::Caller::ADMIN {
            let hint = did_you_mean(role, contract.roles.keys().map(String::as_str), "roles");
            problems.add(format!("grants.{actor}"), format!("unknown role `{role}`"), hint);
        }
    }
    // Examples for a remote engine may be in a dialect that is checked where it runs.
    let examples = contract.where_examples.iter().filter(|_| contract.query_mode == QueryPath::Local);
    for (i, example) in examples.enumerate() {
        if let Err(fault) = RowFilter::parse(contract, example) {
            problems.add(format!("where_examples[{i}]"), fault.message, fault.hint);
        }
    }
}

fn known_field(contract: &Contract, key: &str, name: &str, problems: &mut Problems<'_>) {
    if !problems.is_full() && contract.field(name).is_none() {
        let hint = did_you_mean(name, contract.fields.iter().map(|f| f.name.as_str()), "fields");
        problems.add(key, format!("unknown field `{name}`"), hint);
    }
}

fn joins(contract: &Contract, all: &[(String, Contract)], problems: &mut Problems<'_>) {
    for (i, join) in contract.joins.iter().enumerate() {
        let key = format!("joins[{i}]");
        if join.on.is_empty() {
            problems.add(format!("{key}.on"), "there are no pairs of fields", "write `on: {field: field_of_target}`");
        }
        for left in join.on.keys() {
            known_field(contract, &format!("{key}.on"), left, problems);
        }
        let target = all.iter().find(|(file, c)| c.resource == join.target && !is_older(file)).map(|(_, c)| c);
        match target {
            None => {
                let known = all.iter().map(|(_, c)| c.resource.as_str());
                problems.add(
                    format!("{key}.target"),
                    format!("unknown resource `{}`", join.target),
                    did_you_mean(&join.target, known, "resources"),
                );
            }
            Some(target) if target.source != contract.source => {
                let message = format!("`{}` belongs to another source", join.target);
                problems.add(format!("{key}.target"), message, "join resources of one source");
            }
            Some(target) => {
                for right in join.on.values() {
                    known_field(target, &format!("{key}.on"), right, problems);
                }
            }
        }
    }
}

fn limits(contract: &Contract, problems: &mut Problems<'_>) {
    let limits = contract.limits;
    let positive = [
        ("max_rows", limits.max_rows),
        ("max_predicates", limits.max_predicates),
        ("max_update_fields", limits.max_update_fields),
    ];
    for (key, _) in positive.iter().filter(|(_, n)| *n == 0) {
        problems.add(format!("limits.{key}"), "`0` allows nothing", "write at least 1");
    }
}

fn roles(contract: &Contract, problems: &mut Problems<'_>) -> BTreeMap<String, RowFilter> {
    let mut filters = BTreeMap::new();
    for (name, role) in &contract.roles {
        let key = format!("roles.{name}");
        role_fields(contract, &key, role, problems);
        let Some(rows) = &role.rows else { continue };
        match RowFilter::parse(contract, rows) {
            Ok(filter) => {
                filters.insert(name.clone(), filter);
            }
            Err(fault) => problems.add(format!("{key}.rows"), fault.message, fault.hint),
        }
    }
    filters
}

fn role_fields(contract: &Contract, key: &str, role: &Role, problems: &mut Problems<'_>) {
    for name in &role.hide {
        known_field(contract, &format!("{key}.hide"), name, problems);
    }
    for name in &role.write {
        known_field(contract, &format!("{key}.write"), name, problems);
        if role.hide.iter().any(|h| h.eq_ignore_ascii_case(name)) {
            problems.add(
                format!("{key}.write"),
                format!("the field `{name}` is hidden from this role"),
                "take it out of `hide` or of `write`",
            );
        }
        if contract.field(name).is_some_and(|f| f.generated) {
            problems.add(
                format!("{key}.write"),
                format!("the field `{name}` is generated by the source"),
                "take it out of `write`",
            );
        }
    }
    let writes = role.ops.iter().any(|op| *op != Op::Read);
    if writes && role.write.is_empty() {
        problems.add(format!("{key}.write"), "the role may write, but no field", "list the fields under `write`");
    }
    if !writes && !role.write.is_empty() {
        problems.add(
            format!("{key}.write"),
            "the role has writable fields, but no INSERT or UPDATE",
            "add the operation to `ops`, or take `write` out",
        );
    }
    if role.ops.contains(&Op::Update) && contract.key.is_empty() {
        problems.add("key", "a role may UPDATE, but there is no key", "list the fields that tell rows apart");
    }
}

/// Lowercase ASCII letters, digits and `_`, at most 64, starting with a letter.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain)
}

fn stem(file: &str) -> &str {
    file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file)
}
