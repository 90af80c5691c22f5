//! Rows that a new value names must be there for its writer.
//!
//! A database checks foreign keys against all rows: a value that names a hidden one would be taken, a value that names none
//! refused, and whoever writes could tell the two apart.

use super::compile::{Draft, quote};
use super::rules::{Known, Rules};
use crate::access::{Deleted, Readable, Reader};
use crate::approved::Statement;
use crate::check::statement;
use crate::sql::walk::Origin;
use domain::{Fault, ForeignKey, Limits, Value};

/// A statement for each foreign key that is set, and whose target this caller may read. Of one that is set in part, the rest
/// is the source's: what is set must then name a row.
pub fn of(rules: &Rules<'_>, set: &[(Known<'_>, Value)], limits: &Limits) -> Result<Vec<Statement>, Fault> {
    let table = rules.readable.table;
    // Those that only follow from names bind nobody.
    let declared = table.foreign_keys.iter().filter(|key| !key.columns.iter().any(|c| table.inferred.contains(c)));
    let mut found = Vec::new();
    for key in declared {
        let Some((columns, values)) = values(key, set) else { continue };
        let Some((target, fields)) = target(rules.reader, &key.target, &columns) else { continue };
        found.push(row(rules.reader, target, &fields, values, limits)?);
    }
    Ok(found)
}

/// What the columns of a key are set to, by those that they point to. With a NULL among them it names nothing.
fn values<'k>(key: &'k ForeignKey, set: &[(Known<'_>, Value)]) -> Option<(Vec<&'k String>, Vec<Value>)> {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (column, target) in key.columns.iter().zip(&key.target_columns) {
        match set.iter().find(|(known, _)| known.column.eq_ignore_ascii_case(column)) {
            Some((_, Value::Null)) => return None,
            Some((_, value)) => {
                columns.push(target);
                values.push(value.clone());
            }
            None => {}
        }
    }
    (!values.is_empty()).then_some((columns, values))
}

/// The resource over the table that a key points to, and its fields there.
fn target<'a>(reader: Reader<'a>, table: &str, columns: &[&String]) -> Option<(&'a str, Vec<&'a str>)> {
    let fields = |readable: &Readable<'a>| -> Option<Vec<&'a str>> {
        let field = |column: &String| readable.fields.iter().find(|f| f.column.name.eq_ignore_ascii_case(column));
        columns.iter().map(|column| field(column).map(|f| f.name)).collect()
    };
    let mut over = reader.resources().filter(|readable| readable.table.name.eq_ignore_ascii_case(table));
    over.find_map(|readable| Some((readable.name, fields(&readable)?)))
}

fn row(
    reader: Reader<'_>,
    target: &str,
    fields: &[&str],
    values: Vec<Value>,
    limits: &Limits,
) -> Result<Statement, Fault> {
    let (mut draft, open) = (Draft::new(reader.source.dialect), values.len());
    let tests: Vec<String> =
        fields.iter().zip(values).map(|(field, value)| format!("{} = {}", quote(field), draft.bind(value))).collect();
    let sql = format!("SELECT 1 AS \"there\" FROM {} WHERE {}", quote(target), tests.join(" AND "));
    // A row that is marked as deleted is not there.
    let reader = Reader { deleted: Deleted::Hidden, ..reader };
    let Statement { sql, params, .. } = draft.finish(sql);
    let (sql, mut used) = statement(reader, &sql, Origin::Key, params, limits)?;
    Ok(Statement { sql, params: std::mem::take(&mut used.params), open })
}
