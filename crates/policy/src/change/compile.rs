//! The statements of a write: everything but names and placeholders is fixed text, and every value is bound.

use super::rules::{Known, Rules};
use super::{forbidden, invalid};
use crate::access::{Deleted, Reader};
use crate::approved::Statement;
use crate::check::statement;
use crate::names::is_quotable;
use crate::plan::instant;
use crate::sql::postgres::place;
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
        let open = self.params.len();
        Statement { sql, params: self.params, open }
    }
}

/// Only some engines write.
pub fn dialect(rules: &Rules<'_>) -> Result<Dialect, Fault> {
    match rules.reader.source.dialect {
        dialect @ (Dialect::Sqlite | Dialect::Postgres) => Ok(dialect),
        Dialect::DuckDb => {
            let message = format!("`{}` stands in files, which are only read", rules.contract.resource);
            Err(forbidden("change.read_only", message, "ask for a source that can be written"))
        }
        Dialect::Spark | Dialect::DataFusion => {
            let message = format!("`{}` stands in a distributed engine, which is only read", rules.contract.resource);
            Err(forbidden("change.read_only", message, "ask for a source that can be written"))
        }
        Dialect::BigQuery => {
            let message = format!("`{}` stands in a warehouse, which is only read", rules.contract.resource);
            Err(forbidden("change.read_only", message, "ask for a source that can be written"))
        }
    }
}

pub fn table(rules: &Rules<'_>) -> String {
    let name = &rules.readable.table.name;
    let (schema, name) = match rules.reader.source.dialect {
        Dialect::Postgres => place(name),
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::BigQuery | Dialect::Sqlite => {
            ("main", name.as_str())
        }
    };
    format!("{}.{}", quote(schema), quote(name))
}

/// A verb that never replaces rows of others: a table of SQLite may say ON CONFLICT REPLACE, which deletes them.
pub fn verb(dialect: Dialect, verb: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{verb} OR ABORT"),
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::BigQuery | Dialect::Postgres => {
            verb.to_owned()
        }
    }
}

/// The columns of the key, to be read back. Postgres has more types than values here: it gives them as text, and takes
/// them as text again.
pub fn returned(rules: &Rules<'_>) -> Result<String, Fault> {
    let dialect = rules.reader.source.dialect;
    let column = |known: &Known<'_>| match dialect {
        Dialect::Postgres => format!("CAST({} AS text)", quote(known.column)),
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::BigQuery | Dialect::Sqlite => {
            quote(known.column)
        }
    };
    Ok(key(rules)?.iter().map(column).collect::<Vec<_>>().join(", "))
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
    let key: Vec<Known<'_>> = rules
        .contract
        .key
        .iter()
        .map(|name| rules.field(name))
        .collect::<Result<_, _>>()
        .map_err(|_| hidden_key(rules))?;
    debug_assert!(key.iter().all(|known| is_quotable(known.column)));
    Ok(key)
}

/// A role that does not see what tells rows apart cannot say which one it means, nor be shown the one that it wrote.
pub fn hidden_key(rules: &Rules<'_>) -> Fault {
    let message =
        format!("your role cannot tell the rows of `{}` apart, and so cannot write them", rules.contract.resource);
    forbidden("change.hidden_key", message, "ask whoever keeps the contracts to show it the key")
}

/// What a comparison says of two NULLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// They are alike.
    Alike,
    /// Nothing is known of them.
    Unknown,
}

/// Whether a column holds a value, both in one form: SQLite keeps moments as text in several; Postgres rounds to what its
/// column holds, and does not compare `json`.
pub fn same(dialect: Dialect, known: &Known<'_>, nulls: Nulls, bound: &str) -> String {
    let column = quote(known.column);
    let word = match (nulls, dialect) {
        (Nulls::Unknown, _) => "=",
        (Nulls::Alike, Dialect::Sqlite) => "IS",
        (
            Nulls::Alike,
            Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::BigQuery | Dialect::Postgres,
        ) => "IS NOT DISTINCT FROM",
    };
    match (dialect, known.field.kind) {
        (Dialect::Sqlite, FieldType::Timestamp) => format!("{} {word} {}", instant(&column), instant(bound)),
        (Dialect::Postgres, _) => match known.native {
            "JSON" => format!("CAST({column} AS jsonb) {word} CAST({bound} AS jsonb)"),
            native if rounds(native) => format!("{column} {word} CAST({bound} AS {native})"),
            _ => format!("{column} {word} {bound}"),
        },
        _ => format!("{column} {word} {bound}"),
    }
}

/// Whether a type of Postgres keeps fewer digits than it is given: `NUMERIC(10,2)`, `TIMESTAMP(3) WITH TIME ZONE`.
fn rounds(native: &str) -> bool {
    let plain = native.bytes().all(|b| b.is_ascii_alphanumeric() || b" (),".contains(&b));
    plain && ["NUMERIC(", "TIMESTAMP(", "TIME("].iter().any(|kind| native.starts_with(kind)) && !native.ends_with(']')
}

/// The row of a key as this caller may read it, through the check of all statements. Its first parameters are the key:
/// whoever runs it puts the values in.
pub fn image(rules: &Rules<'_>, limits: &Limits) -> Result<(Statement, Used), Fault> {
    let fields = rules.readable.fields.iter().map(|f| quote(f.name)).collect::<Vec<_>>().join(", ");
    // Also one that this very change has marked as deleted.
    by_key(rules, &fields, Deleted::Shown, limits)
}

/// Whether the caller can see the row of a key at all.
pub fn visible(rules: &Rules<'_>, deleted: Deleted, limits: &Limits) -> Result<Statement, Fault> {
    let fields = key(rules)?.iter().map(|known| quote(&known.field.name)).collect::<Vec<_>>().join(", ");
    by_key(rules, &fields, deleted, limits).map(|(statement, _)| statement)
}

fn by_key(rules: &Rules<'_>, fields: &str, deleted: Deleted, limits: &Limits) -> Result<(Statement, Used), Fault> {
    let dialect = rules.reader.source.dialect;
    let mut draft = Draft::new(dialect);
    let mut tests = Vec::new();
    for known in key(rules)? {
        let bound = draft.bind(Value::Null);
        tests.push(format!("{} = {bound}", quote(&known.field.name)));
    }
    let sql = format!("SELECT {fields} FROM {} WHERE {}", quote(&rules.contract.resource), tests.join(" AND "));
    let reader = Reader { deleted, ..rules.reader };
    let (sql, mut used) = statement(reader, &sql, Origin::Key, draft.params, limits)?;
    let params = std::mem::take(&mut used.params);
    Ok((Statement { sql, params, open: key(rules)?.len() }, used))
}

/// The fields that this caller may know of, as the source calls them.
pub fn fields(rules: &Rules<'_>) -> Vec<String> {
    rules.readable.fields.iter().map(|f| f.column.name.clone()).collect()
}

/// This moment, as moments are kept. The source says it, so that the same plan stays the same statement.
pub fn now(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => "now()",
        Dialect::BigQuery => "current_timestamp()",
        // Not that of the transaction's beginning: it may have waited for the row, and another come before it.
        Dialect::Postgres => "clock_timestamp()",
    }
}
