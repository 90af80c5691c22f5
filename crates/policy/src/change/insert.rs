//! INSERT: one row, whose key the source makes.

use super::compile::{self, Draft, Nulls, quote, same};
use super::rules::{Known, Rules};
use super::{forbidden, invalid, references, values};
use crate::approved::{Change, Statement};
use crate::sql::walk::{Used, claim_missing};
use domain::change::InsertStep;
use domain::{Dialect, Fault, FieldType, Limits, Op, Value};

pub fn change(rules: &Rules<'_>, step: &InsertStep, limits: &Limits) -> Result<(Change, Used), Fault> {
    let dialect = compile::dialect(rules)?;
    if step.values.is_empty() {
        return Err(invalid("change.values", "`values` is empty", "give the fields of the new row"));
    }
    let mut given: Vec<(Known<'_>, Value)> = Vec::new();
    for (name, value) in &step.values {
        let known = rules.writable(name)?;
        if given.iter().any(|(other, _)| other.field.name == known.field.name) {
            let message = format!("the field `{}` is set twice", known.field.name);
            return Err(invalid("change.values", message, "set it once"));
        }
        let value = values::take(known.field, value)?;
        given.push((known, value));
    }
    let (lock, twin) = twin(rules, dialect, &given)?.unzip();
    let references = references::of(rules, &given, limits)?;
    let (image, used) = compile::image(rules, limits)?;
    let (write, columns) = write(rules, dialect, &given)?;
    let table = rules.readable.table.name.clone();
    let (key, fields) = (rules.contract.key.len(), compile::fields(rules));
    let change = Change {
        op: Op::Insert,
        table,
        columns,
        key,
        lock: lock.flatten(),
        references,
        twin,
        before: None,
        write,
        image,
        versioned: false,
        fields,
    };
    Ok((change, used))
}

fn write(rules: &Rules<'_>, dialect: Dialect, given: &[(Known<'_>, Value)]) -> Result<(Statement, Vec<String>), Fault> {
    let mut draft = Draft::new(dialect);
    let (mut columns, mut bound) = (Vec::new(), Vec::new());
    for (known, value) in given {
        columns.push(known.column.to_owned());
        bound.push(draft.bind(value.clone()));
    }
    if let Some((column, first)) = first_version(rules, dialect, &columns) {
        columns.push(column);
        bound.push(first.to_owned());
    }
    let names: Vec<String> = columns.iter().map(|c| quote(c)).collect();
    let sql = format!(
        "{} INTO {} ({}) VALUES ({}) RETURNING {}",
        compile::verb(dialect, "INSERT"),
        compile::table(rules),
        names.join(", "),
        bound.join(", "),
        compile::returned(rules)?
    );
    Ok((draft.finish(sql), columns))
}

/// The version that a new row begins with, where neither the source nor the caller gives one.
fn first_version(rules: &Rules<'_>, dialect: Dialect, set: &[String]) -> Option<(String, &'static str)> {
    let field = rules.contract.field(rules.contract.version_field.as_deref()?).filter(|f| !f.generated)?;
    let column = &rules.readable.table.column(&field.name)?.name;
    let first = match field.kind {
        FieldType::Integer => "1",
        FieldType::Timestamp => compile::now(dialect),
        _ => return None,
    };
    (!set.iter().any(|c| c.eq_ignore_ascii_case(column))).then(|| (column.clone(), first))
}

/// Keeps others from inserting this natural key meanwhile.
type Lock = Option<Statement>;

/// Finds the row with this natural key, and says whether it is the one that was to be inserted.
fn twin(rules: &Rules<'_>, dialect: Dialect, given: &[(Known<'_>, Value)]) -> Result<Option<(Lock, Statement)>, Fault> {
    if rules.contract.natural_key.is_empty() {
        return Ok(None);
    }
    let mut draft = Draft::new(dialect);
    let mut all = Vec::new();
    let mut natural = Vec::new();
    for (known, value) in given {
        let bound = draft.bind(value.clone());
        if rules.contract.natural_key.iter().any(|name| name.eq_ignore_ascii_case(&known.field.name)) {
            if *value == Value::Null {
                return Err(incomplete(rules));
            }
            natural.push(same(dialect, known, Nulls::Unknown, &bound));
        }
        all.push(same(dialect, known, Nulls::Alike, &bound));
    }
    if natural.len() != rules.contract.natural_key.len() {
        return Err(incomplete(rules));
    }
    if let Some(mark) = rules.contract.soft_delete.as_ref().and_then(|mark| rules.readable.table.column(mark)) {
        all.push(format!("{} IS NULL", quote(&mark.name)));
    }
    // A row that the caller may not see is no twin: what the table's own constraints say of it is told alike of all rows.
    for filter in rules.readable.rows.iter().chain(&rules.readable.living) {
        let shown = filter.bind(dialect, |claim| {
            let value = rules.reader.caller.claim(claim).ok_or_else(|| claim_missing(rules.readable.name, claim))?;
            Ok(draft.bind(Value::Text(value.to_owned())))
        })?;
        natural.push(format!("({shown})"));
    }
    let sql = format!(
        "SELECT {}, ({}) FROM {} WHERE {} LIMIT 2",
        compile::returned(rules)?,
        all.join(" AND "),
        compile::table(rules),
        natural.join(" AND ")
    );
    Ok(Some((lock(rules, dialect, given), draft.finish(sql))))
}

/// Values that the source would round to one are two here: its own constraint tells them apart then. Callers of all tenants
/// share the lock, as they do the table's constraints: who inserts a natural key waits for whoever inserts the same.
fn lock(rules: &Rules<'_>, dialect: Dialect, given: &[(Known<'_>, Value)]) -> Lock {
    (dialect == Dialect::Postgres).then(|| {
        let mut draft = Draft::new(dialect);
        // In the order of the contract: that of the values is the caller's.
        let part = |name: &String| {
            let value = given.iter().find(|(known, _)| name.eq_ignore_ascii_case(&known.field.name));
            value.and_then(|(_, value)| serde_json::to_string(value).ok()).unwrap_or_default()
        };
        let name: Vec<String> =
            std::iter::once(compile::table(rules)).chain(rules.contract.natural_key.iter().map(part)).collect();
        let bound = draft.bind(Value::Text(name.join("\n")));
        draft.finish(format!("SELECT pg_advisory_xact_lock(hashtextextended({bound}, 0))"))
    })
}

fn incomplete(rules: &Rules<'_>) -> Fault {
    let resource = &rules.contract.resource;
    match rules.named(&rules.contract.natural_key) {
        Some(fields) => {
            let message = format!("a new row of `{resource}` needs `{fields}`");
            invalid("change.natural_key", message, "they tell a retry from a new row: give them all")
        }
        None => {
            let message = format!("a new row of `{resource}` needs fields that your role cannot set");
            forbidden("change.natural_key", message, "ask whoever keeps the contracts for them")
        }
    }
}
