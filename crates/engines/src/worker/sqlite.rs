//! SQLite, with an authorizer that knows only reading, and for a writer nothing but the write in hand.

use super::{Engine, encode, message};
use crate::protocol::{Cause, Change, Estimate, Failed, Queried, Query, column};
use arrow_array::RecordBatch;
use domain::{Column, Dialect, FieldType, ForeignKey, SourceSchema, Table, Value};
use rusqlite::hooks::{AuthContext, Authorization};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Rows, ToSql, params_from_iter};
use std::path::Path;
use std::time::{Duration, Instant};

mod columns;
mod functions;
mod mirror;
mod open;
mod write;

pub use mirror::Shape;
pub use open::Access;
use open::authorize;

pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub fn open(path: &Path, access: Access) -> Result<Self, Failed> {
        let connection =
            open::connect(path, access).map_err(|e| Failed::new(Cause::Source, message::first_line(&e.to_string())))?;
        Ok(Self { connection })
    }

    fn tables(&mut self) -> rusqlite::Result<Vec<Table>> {
        // Introspection asks PRAGMAs that statements may not: the authorizer is put back afterwards.
        self.connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
        let tables = self.describe_all();
        self.connection.authorizer(Some(authorize))?;
        tables
    }

    fn describe_all(&self) -> rusqlite::Result<Vec<Table>> {
        let sql = "SELECT name, type = 'view' FROM sqlite_schema WHERE type IN ('table', 'view') \
                   AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
        let mut statement = self.connection.prepare(sql)?;
        let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let names: Vec<(String, bool)> = names.collect::<rusqlite::Result<_>>()?;
        // A view over what is gone is as good as gone itself; the rest of the source can be read.
        let described = names.iter().filter_map(|(name, is_view)| {
            self.describe_table(name, *is_view).inspect_err(|e| eprintln!("`{name}` left out: {e}")).ok()
        });
        Ok(described.collect())
    }

    fn describe_table(&self, name: &str, is_view: bool) -> rusqlite::Result<Table> {
        let mut keys: Vec<(i64, String)> = Vec::new();
        let mut columns = Vec::new();
        let mut statement = self.connection.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)")?;
        let mut rows = statement.query([name])?;
        while let Some(row) = rows.next()? {
            let native: String = row.get(1)?;
            let mut column = Column::new(row.get::<_, String>(0)?, field_type(&native));
            column.native = native;
            column.nullable = row.get::<_, i64>(2)? == 0;
            if let position @ 1.. = row.get::<_, i64>(3)? {
                keys.push((position, column.name.clone()));
            }
            columns.push(column);
        }
        keys.sort();
        // Counting a view may take for ever.
        let row_count = if is_view { None } else { self.count(name)? };
        Ok(Table {
            name: name.to_owned(),
            columns,
            primary_key: keys.into_iter().map(|(_, column)| column).collect(),
            foreign_keys: self.foreign_keys(name)?,
            row_count,
            ..Table::default()
        })
    }

    fn count(&self, table: &str) -> rusqlite::Result<Option<u64>> {
        let count = format!("SELECT count(*) FROM {}", quoted(table));
        self.connection.query_row(&count, [], |row| row.get::<_, i64>(0)).map(|n| u64::try_from(n).ok())
    }

    fn foreign_keys(&self, name: &str) -> rusqlite::Result<Vec<ForeignKey>> {
        let sql = "SELECT id, \"table\", \"from\", \"to\", seq FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([name])?;
        let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, target, from): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            // A reference without a column means the primary key of the target.
            let to = match row.get::<_, Option<String>>(3)? {
                Some(to) => to,
                None => self.key_column(&target, row.get::<_, i64>(4)? + 1)?,
            };
            match keys.last_mut() {
                Some((last, key)) if *last == id => {
                    key.columns.push(from);
                    key.target_columns.push(to);
                }
                _ => keys.push((id, ForeignKey { columns: vec![from], target, target_columns: vec![to] })),
            }
        }
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }

    fn key_column(&self, table: &str, position: i64) -> rusqlite::Result<String> {
        let sql = "SELECT coalesce((SELECT name FROM pragma_table_info(?1) WHERE pk = ?2), 'rowid')";
        self.connection.query_row(sql, (table, position), |row| row.get(0))
    }
}

impl Engine for Sqlite {
    fn describe(&mut self) -> Result<SourceSchema, Failed> {
        let tables = self.tables().map_err(|e| failed(&e, Cause::Source))?;
        Ok(SourceSchema { source: String::new(), dialect: Dialect::Sqlite, tables, data_version: String::new() })
    }

    fn query(&self, query: &Query, out: &mut dyn encode::Sink) -> Result<Queried, Failed> {
        let mut statement = self.connection.prepare(&query.sql).map_err(|e| failed(&e, Cause::Statement))?;
        if !statement.readonly() || statement.is_explain() != 0 || statement.column_count() == 0 {
            return Err(Failed::new(Cause::Denied, "the statement is not a read"));
        }
        let params = || params_from_iter(query.params.iter().map(Bound));
        let columns = columns::Columns::of(&statement);
        let rows = statement.query(params()).map_err(|e| failed(&e, Cause::Data))?;
        let mut blocks = Blocks { rows, columns, most: query.rows.saturating_add(1), ended: false };
        blocks.fill()?;
        if !blocks.ended {
            let look = blocks.columns.look_at_all(&self.connection, &query.sql, params());
            look.map_err(|e| failed(&e, Cause::Data))?;
        }
        let kinds: Vec<_> = blocks.columns.kinds().collect();
        let first = blocks.batch()?;
        let schema = first.schema();
        let columns = schema.fields().iter().zip(kinds).map(|(f, kind)| column(f.name(), kind)).collect();
        let wanted = encode::Wanted { schema, columns, query };
        encode::write_stream(wanted, std::iter::once(Ok(first)).chain(blocks), out)
    }

    fn change(&mut self, change: &Change, out: &mut dyn encode::Sink) -> Result<(Queried, u64), Failed> {
        write::change(self, change, out)
    }

    fn estimate(&mut self, query: &Query) -> Result<Estimate, Failed> {
        let start = Instant::now();
        let late = move || start.elapsed() > PATIENCE;
        self.connection.progress_handler(10_000, Some(late)).map_err(|e| failed(&e, Cause::Protocol))?;
        let measured = self.measure(query);
        self.connection.progress_handler(0, None::<fn() -> bool>).map_err(|e| failed(&e, Cause::Protocol))?;
        match measured {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) => {
                Ok(Estimate::default())
            }
            measured => measured.map_err(|e| failed(&e, Cause::Data)),
        }
    }
}

/// How long the rows of a statement are counted before it is given up.
const PATIENCE: Duration = Duration::from_secs(1);

impl Sqlite {
    /// Counts the rows and, over the first of them, the bytes of each.
    fn measure(&self, query: &Query) -> rusqlite::Result<Estimate> {
        let params = || params_from_iter(query.params.iter().map(Bound));
        let count = format!("SELECT count(*) FROM ({})", query.sql);
        let rows: i64 = self.connection.query_row(&count, params(), |row| row.get(0))?;
        let rows = u64::try_from(rows).unwrap_or_default().min(query.rows);
        let mut statement = self.connection.prepare(&query.sql)?;
        let mut columns = columns::Columns::of(&statement);
        let mut first = statement.query(params())?;
        while columns.rows() < 1_000
            && let Some(row) = first.next()?
        {
            columns.push(row)?;
        }
        let bytes = columns.bytes().checked_div(columns.rows()).unwrap_or_default() * rows;
        Ok(Estimate { scan_bytes: None, result_rows: Some(rows), result_bytes: Some(bytes) })
    }
}

/// A result as batches, read while they are asked for.
struct Blocks<'s> {
    rows: Rows<'s>,
    columns: columns::Columns,
    /// Rows that are worth reading at all.
    most: u64,
    ended: bool,
}

/// Bytes of values that are gathered at most.
const BLOCK_BYTES: u64 = 8 * 1024 * 1024;

impl Blocks<'_> {
    fn fill(&mut self) -> Result<(), Failed> {
        let most = self.most.min(encode::BLOCK as u64);
        while self.columns.rows() < most && self.columns.bytes() < BLOCK_BYTES {
            match self.rows.next().map_err(|e| failed(&e, Cause::Data))? {
                Some(row) => self.columns.push(row).map_err(|e| failed(&e, Cause::Data))?,
                None => {
                    self.ended = true;
                    break;
                }
            }
        }
        Ok(())
    }

    fn batch(&mut self) -> Result<RecordBatch, Failed> {
        self.columns.take_batch().map_err(|e| Failed::new(Cause::Protocol, e.to_string()))
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<RecordBatch, Failed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.fill() {
            Ok(()) if self.columns.rows() == 0 => None,
            Ok(()) => Some(self.batch()),
            Err(failed) => Some(Err(failed)),
        }
    }
}

/// Binds a value by reference.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            Value::Null => Ok(ToSqlOutput::from(rusqlite::types::Null)),
            Value::Bool(b) => b.to_sql(),
            Value::Int(i) => i.to_sql(),
            Value::Float(f) => f.to_sql(),
            Value::Text(t) => t.to_sql(),
        }
    }
}

/// The word of the house for a declared type; SQLite itself only has affinities.
fn field_type(declared: &str) -> FieldType {
    let declared = declared.to_ascii_uppercase();
    let has = |part: &str| declared.contains(part);
    if has("BOOL") {
        FieldType::Boolean
    } else if has("INT") {
        FieldType::Integer
    } else if has("DATETIME") || has("TIMESTAMP") {
        FieldType::Timestamp
    } else if has("DATE") {
        FieldType::Date
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        FieldType::String
    } else if has("REAL") || has("FLOA") || has("DOUB") || has("NUM") || has("DEC") {
        FieldType::Number
    } else if has("JSON") {
        FieldType::Json
    } else if has("BLOB") {
        FieldType::Bytes
    } else {
        FieldType::Other
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn failed(error: &rusqlite::Error, otherwise: Cause) -> Failed {
    use rusqlite::ErrorCode;
    let cause = match error.sqlite_error_code() {
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig) => Cause::Memory,
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => Cause::Denied,
        _ => otherwise,
    };
    // Without the statement: it is ours, not the caller's, and names what was made of their tables.
    let (text, place) = match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => (msg.clone(), u64::try_from(*offset).ok()),
        other => (other.to_string(), None),
    };
    let says = |words: &[&str]| cause == Cause::Statement && words.iter().any(|words| text.contains(words));
    if says(&["syntax error", "incomplete input", "unrecognized token"]) {
        let place = place.map(|place| format!(" (at byte {place} of the compiled statement)")).unwrap_or_default();
        return Failed::new(Cause::Syntax, format!("{}{place}", message::first_line(&text)));
    }
    // Of a function the authorizer says so in words alone.
    let cause = if text.starts_with("not authorized to use function") { Cause::Denied } else { cause };
    Failed::new(cause, if cause == Cause::Data { message::without_values(&text) } else { message::first_line(&text) })
}
