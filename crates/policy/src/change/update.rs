//! UPDATE: new values for the one row that its key names.

use super::compile::{self, Draft, Nulls, quote, same};
use super::rules::{Known, Rules};
use super::{forbidden, invalid, references, values};
use crate::access::Deleted;
use crate::approved::{Change, Statement};
use crate::sql::refuse::clip;
use crate::sql::walk::Used;
use domain::change::{Predicate, UpdateStep};
use domain::{Dialect, Fault, FieldType, FilterOperator, Limits, Op, Value};

/// A field and the value that it is compared with or set to.
type Pair<'r> = (Known<'r>, Value);

pub fn change(rules: &Rules<'_>, step: &UpdateStep, limits: &Limits) -> Result<(Change, Used), Fault> {
    let dialect = compile::dialect(rules)?;
    if step.limit != 1 {
        let message = format!("`limit` is {}, and an UPDATE changes one row", step.limit);
        return Err(invalid("change.update_limit", message, "write `\"limit\": 1`"));
    }
    let (key, version) = place(rules, &step.filter)?;
    let set = assignments(rules, step)?;
    let (image, used) = compile::image(rules, limits)?;
    let mut before = compile::visible(rules, revived(rules, &set), limits)?;
    for (param, (_, value)) in before.params.iter_mut().zip(&key) {
        *param = value.clone();
    }
    let (write, columns) = write(rules, dialect, &set, &key, version.as_ref())?;
    let change = Change {
        op: Op::Update,
        table: rules.readable.table.name.clone(),
        columns,
        key: rules.contract.key.len(),
        lock: lock(rules, dialect, &key),
        references: references::of(rules, &set, limits)?,
        twin: None,
        before: Some(before),
        write,
        image,
        versioned: version.is_some(),
        fields: compile::fields(rules),
    };
    Ok((change, used))
}

/// `where`: each field of the key once, and nothing else but the version.
fn place<'r>(rules: &'r Rules<'_>, filter: &[Predicate]) -> Result<(Vec<Pair<'r>>, Option<Pair<'r>>), Fault> {
    let Some(names) = rules.named(&rules.contract.key) else { return Err(compile::hidden_key(rules)) };
    let one_row = |message: String| {
        invalid("change.update_where", message, format!("name one row: `{names}` with `=`, each once"))
    };
    let mut found: Vec<Pair<'r>> = Vec::new();
    let mut version = None;
    for predicate in filter {
        let known = rules.field(&predicate.field)?;
        if predicate.op != FilterOperator::Equal {
            return Err(one_row(format!("`{}` in the `where` of an UPDATE", predicate.op.as_str())));
        }
        let is = |name: &String| name.eq_ignore_ascii_case(&known.field.name);
        let (in_key, in_version) = (rules.contract.key.iter().any(is), rules.contract.version_field.iter().any(is));
        let twice = found.iter().any(|(other, _)| other.field.name == known.field.name);
        if twice || !in_key && (!in_version || version.is_some()) {
            return Err(one_row(format!("`{}` in the `where` of an UPDATE", clip(&predicate.field))));
        }
        if predicate.value.is_null() {
            return Err(one_row(format!("`{}` is null", known.field.name)));
        }
        let value = values::take(known.field, &predicate.value)?;
        match in_key {
            true => found.push((known, value)),
            false => version = Some((known, value)),
        }
    }
    // In the order of the contract's key, as statements have it.
    let mut key = Vec::new();
    for name in &rules.contract.key {
        let Some(at) = found.iter().position(|(known, _)| known.field.name.eq_ignore_ascii_case(name)) else {
            return Err(one_row(format!("the `where` of an UPDATE lacks `{name}`")));
        };
        key.push(found.swap_remove(at));
    }
    if key.is_empty() {
        return Err(one_row(format!("the contract of `{}` has no key", rules.contract.resource)));
    }
    Ok((key, version))
}

fn assignments<'r>(rules: &'r Rules<'_>, step: &UpdateStep) -> Result<Vec<Pair<'r>>, Fault> {
    let most = rules.contract.limits.max_update_fields;
    if step.update.is_empty() {
        return Err(invalid("change.values", "`update` is empty", "give the fields to set"));
    }
    if step.update.len() as u64 > most {
        let message = format!("{} fields to set, and `{}` allows {most}", step.update.len(), rules.contract.resource);
        return Err(invalid("change.update_fields", message, "set fewer"));
    }
    let mut set: Vec<Pair<'r>> = Vec::new();
    for (name, value) in &step.update {
        let known = rules.writable(name)?;
        let is = |name: &String| name.eq_ignore_ascii_case(&known.field.name);
        if rules.contract.key.iter().any(is) || rules.contract.version_field.iter().any(is) {
            let message = format!("the field `{}` is not set by an UPDATE", known.field.name);
            return Err(forbidden("change.key_update", message, "it tells rows or versions apart: leave it out"));
        }
        if set.iter().any(|(other, _)| other.field.name == known.field.name) {
            let message = format!("the field `{}` is set twice", known.field.name);
            return Err(invalid("change.values", message, "set it once"));
        }
        let value = values::take(known.field, value)?;
        set.push((known, value));
    }
    Ok(set)
}

/// A row that is marked as deleted is not there, except for who may see it and takes the mark away.
fn revived(rules: &Rules<'_>, set: &[Pair<'_>]) -> Deleted {
    let mark = rules.contract.soft_delete.as_ref();
    let is_mark = |known: &Known<'_>| mark.is_some_and(|mark| mark.eq_ignore_ascii_case(&known.field.name));
    let revives = set.iter().any(|(known, value)| is_mark(known) && *value == Value::Null);
    if revives { Deleted::ByRole } else { Deleted::Hidden }
}

fn write(
    rules: &Rules<'_>,
    dialect: Dialect,
    set: &[Pair<'_>],
    key: &[Pair<'_>],
    version: Option<&Pair<'_>>,
) -> Result<(Statement, Vec<String>), Fault> {
    let mut draft = Draft::new(dialect);
    let mut columns: Vec<String> = set.iter().map(|(known, _)| known.column.to_owned()).collect();
    let mut assign: Vec<String> =
        set.iter().map(|(known, value)| format!("{} = {}", quote(known.column), draft.bind(value.clone()))).collect();
    if let Some((column, next)) = next_version(rules, dialect) {
        assign.push(format!("{} = {next}", quote(&column)));
        columns.push(column);
    }
    let tests: Vec<String> = key
        .iter()
        .chain(version)
        .map(|(known, value)| {
            let bound = draft.bind(value.clone());
            same(dialect, known, Nulls::Unknown, &bound)
        })
        .collect();
    let sql = format!(
        "{} {} SET {} WHERE {} RETURNING {}",
        compile::verb(dialect, "UPDATE"),
        compile::table(rules),
        assign.join(", "),
        tests.join(" AND "),
        compile::returned(rules)?
    );
    Ok((draft.finish(sql), columns))
}

/// Holds the row, where others could change it between the look at it and the write.
fn lock(rules: &Rules<'_>, dialect: Dialect, key: &[Pair<'_>]) -> Option<Statement> {
    (dialect == Dialect::Postgres).then(|| {
        let mut draft = Draft::new(dialect);
        let test = |(known, value): &Pair<'_>| {
            let bound = draft.bind(value.clone());
            same(dialect, known, Nulls::Unknown, &bound)
        };
        let tests = key.iter().map(test).collect::<Vec<_>>().join(" AND ");
        draft.finish(format!("SELECT 1 FROM {} WHERE {tests} FOR UPDATE", compile::table(rules)))
    })
}

/// Whether a write leaves another version behind: the source's own, or ours.
pub fn moves_version(rules: &Rules<'_>) -> bool {
    let field = rules.contract.version_field.as_deref().and_then(|name| rules.contract.field(name));
    field.is_some_and(|f| f.generated) || next_version(rules, rules.reader.source.dialect).is_some()
}

/// Every write moves the version on, where the source does not do so itself.
fn next_version(rules: &Rules<'_>, dialect: Dialect) -> Option<(String, String)> {
    let field = rules.contract.field(rules.contract.version_field.as_deref()?).filter(|f| !f.generated)?;
    let column = rules.readable.table.column(&field.name)?.name.clone();
    match field.kind {
        FieldType::Integer => Some((column.clone(), format!("{} + 1", quote(&column)))),
        FieldType::Timestamp => Some((column, compile::now(dialect).to_owned())),
        _ => None,
    }
}
