//! The statements of a write: everything but names and placeholders is fixed text, and every value is bound.

use super::rules::{Known, Rules};
use super::{forbidden, invalid};
use crate::access::Reader;
use crate::approved::Statement;
use crate::check::statement;
use crate::names::is_quotable;
use crate::plan::instant;
use crate::sql::walk::{Origin, Used, placeholder};
use domain::{Dialect, Fault, FieldType, Limits, Value};

/// A statement in the making.
pub struct Draft {
    dialect: Dialect,
    params: Vec<Value>,
}

impl Draft {
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, params: Vec::new() }
    }

    /// The placeholder of a value.
    pub fn bind(&mut self, value: Value) -> String {
        self.params.push(value);
        placeholder(self.dialect, self.params.len())
    }

    pub fn finish(self, sql: String) -> Statement {
        Statement { sql, params: self.params }
    }
}

/// Only some engines write.
pub fn dialect(rules: &Rules<'_>) -> Result<Dialect, Fault> {
    match rules.reader.source.dialect {
        Dialect::Sqlite => Ok(Dialect::Sqlite),
        Dialect::DuckDb => {
            let message = format!("`{}` stands in files, which are only read", rules.contract.resource);
            Err(forbidden("change.read_only", message, "ask for a source that can be written"))
        }
        other @ (Dialect::Postgres | Dialect::Spark) => {
            let engine = if other == Dialect::Postgres { "Postgres" } else { "a distributed engine" };
            let message = format!("`{}` stands in {engine}, which is only read", rules.contract.resource);
            Err(forbidden("change.read_only", message, "ask for a source that can be written"))
        }
    }
}

pub fn table(rules: &Rules<'_>) -> String {
    format!("\"main\".{}", quote(&rules.readable.table.name))
}

pub fn quote(name: &str) -> String {
    format!("\"{name}\"")
}

/// The fields that tell rows apart, all of which the caller may see.
pub fn key<'r>(rules: &'r Rules<'_>) -> Result<Vec<Known<'r>>, Fault> {
    if rules.contract.key.is_empty() {
        let message = format!("the contract of `{}` has no key", rules.contract.resource);
        return Err(invalid("change.no_key", message, "ask whoever keeps the contracts to name one"));
    }
    let key: Vec<Known<'_>> = rules.contract.key.iter().map(|name| rules.field(name)).collect::<Result<_, _>>()?;
    debug_assert!(key.iter().all(|known| is_quotable(known.column)));
    Ok(key)
}

/// Both sides of a comparison in one form: SQLite keeps moments as text in several.
pub fn same(dialect: Dialect, known: &Known<'_>, word: &str, bound: &str) -> String {
    let column = quote(known.column);
    match (dialect, known.field.kind) {
        (Dialect::Sqlite, FieldType::Timestamp) => format!("{} {word} {}", instant(&column), instant(bound)),
        _ => format!("{column} {word} {bound}"),
    }
}

/// The row of a key as this caller may read it, through the check of all statements. Its first parameters are the key:
/// whoever runs it puts the values in.
pub fn image(rules: &Rules<'_>, limits: &Limits) -> Result<(Statement, Used), Fault> {
    let fields = rules.readable.fields.iter().map(|f| quote(f.name)).collect::<Vec<_>>().join(", ");
    // Also one that this very change has marked as deleted.
    by_key(rules, &fields, true, limits)
}

/// Whether the caller can see the row of a key at all.
pub fn visible(rules: &Rules<'_>, deleted: bool, limits: &Limits) -> Result<Statement, Fault> {
    let fields = key(rules)?.iter().map(|known| quote(&known.field.name)).collect::<Vec<_>>().join(", ");
    by_key(rules, &fields, deleted, limits).map(|(statement, _)| statement)
}

fn by_key(rules: &Rules<'_>, fields: &str, deleted: bool, limits: &Limits) -> Result<(Statement, Used), Fault> {
    let dialect = rules.reader.source.dialect;
    let mut draft = Draft::new(dialect);
    let mut tests = Vec::new();
    for known in key(rules)? {
        let bound = draft.bind(Value::Null);
        tests.push(format!("{} = {bound}", quote(&known.field.name)));
    }
    let sql = format!("SELECT {fields} FROM {} WHERE {}", quote(&rules.contract.resource), tests.join(" AND "));
    let reader = Reader { deleted, ..rules.reader };
    let (sql, mut used) = statement(reader, &sql, Origin::Plan, draft.params, limits)?;
    let params = std::mem::take(&mut used.params);
    Ok((Statement { sql, params }, used))
}

/// The fields that this caller may know of, as the source calls them.
pub fn fields(rules: &Rules<'_>) -> Vec<String> {
    rules.readable.fields.iter().map(|f| f.column.name.clone()).collect()
}

/// This moment, as moments are kept. The source says it, so that the same plan stays the same statement.
pub fn now(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
        Dialect::DuckDb | Dialect::Postgres | Dialect::Spark => "now()",
    }
}
