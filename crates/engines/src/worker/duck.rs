//! DuckDB over files: views first, then every door of the engine shut, then statements.

mod copy;
mod estimate;
mod footer;
mod words;

pub use copy::copy;

use super::{Engine, encode, message};
use crate::protocol::{Cause, Estimate, Failed, OpenTable, Queried, Query};
use arrow_array::RecordBatch;
use domain::{Column, Dialect, FieldType, SourceSchema, Table, Value};
use duckdb::{Config, Connection, Statement, params_from_iter, types};
use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

pub struct Duck {
    connection: Connection,
    threads: u32,
    tables: Vec<OpenTable>,
    memory_bytes: u64,
    /// To which every table is its file, for questions about files.
    by_file: OnceCell<Connection>,
    /// Statements that were found to be one SELECT: values are bound, so that the same come again.
    known_selects: RefCell<HashSet<String>>,
}

const MOST_KNOWN: usize = 256;
/// Statements whose plans are kept.
const PLANS_KEPT: usize = 32;

impl Duck {
    pub fn open(tables: &[OpenTable], memory_bytes: u64, threads: u32, hides_rows: bool) -> Result<Self, Failed> {
        let connection = connect(memory_bytes, threads).map_err(|e| source_failed("the engine does not start", &e))?;
        for (number, OpenTable { name, path, copy }) in tables.iter().enumerate() {
            if copy.as_ref().is_some_and(|copy| copy::attach(&connection, number, name, copy)) {
                continue;
            }
            create_view(&connection, &quoted(name), path).map_err(|e| {
                let mut failed = source_failed(&format!("table `{name}` cannot be read from its file"), &e);
                // Without the directory: where files are is nobody's business but the operator's.
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                failed.message = failed.message.replace(&*path.to_string_lossy(), &file);
                failed
            })?;
        }
        let forgotten = if hides_rows { forget_statistics(&connection) } else { Ok(()) };
        let locked = forgotten.and_then(|()| lock_down(&connection, tables));
        locked.map_err(|e| source_failed("the engine cannot be locked down", &e))?;
        Ok(Self {
            connection,
            threads,
            tables: tables.to_vec(),
            memory_bytes,
            by_file: OnceCell::new(),
            known_selects: RefCell::default(),
        })
    }

    /// Asks DuckDB's own parser, which serialises SELECT statements and nothing else. Preparing would
    /// not do: of several statements it runs all but the last.
    fn must_be_one_select(&self, sql: &str) -> Result<(), Failed> {
        if self.known_selects.borrow().contains(sql) {
            return Ok(());
        }
        let read = "SELECT json_array_length(tree, '$.statements'), lower(tree ->> '$.error_type'), \
                    tree ->> '$.error_message', tree ->> '$.position' \
                    FROM (SELECT json_serialize_sql($1::VARCHAR) AS tree)";
        let read = self.connection.prepare_cached(read).and_then(|mut statement| {
            statement.query_row([sql], |row| {
                let said: (Option<String>, Option<String>, Option<String>) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((row.get::<_, Option<u64>>(0)?, said))
            })
        });
        match read.map_err(|e| failed_to_prepare(&e))? {
            (None, (Some(kind), Some(said), place)) if kind != "not implemented" => {
                let cause =
                    if kind.contains("parser") || kind.contains("syntax") { Cause::Syntax } else { Cause::Statement };
                let place =
                    place.map(|place| format!(" (at byte {place} of the compiled statement)")).unwrap_or_default();
                Err(Failed::new(cause, format!("{}{place}", message::first_line(&said))))
            }
            (Some(1), _) => {
                let mut known = self.known_selects.borrow_mut();
                if known.len() >= MOST_KNOWN {
                    known.clear();
                }
                known.insert(sql.to_owned());
                Ok(())
            }
            _ => Err(Failed::new(Cause::Denied, "the statement is not one SELECT")),
        }
    }

    fn write(
        &self,
        statement: &mut Statement<'_>,
        query: &Query,
        out: &mut dyn encode::Sink,
    ) -> Result<Queried, Failed> {
        let params = params_from_iter(query.params.iter().map(bound));
        let stream = statement.stream_arrow(params).map_err(|e| failed_on_data(&e))?;
        let schema = stream.get_schema();
        let mut batches = stream.map(|batch: Result<RecordBatch, _>| batch.map_err(|e| failed_on_data(&e)));
        let wanted = encode::Wanted { columns: encode::columns_of(&schema), schema, query };
        if self.threads == 1 {
            return encode::write_stream(wanted, batches, out);
        }
        let few: Vec<_> = batches.by_ref().take(FEW).collect();
        match few.len() < FEW {
            true => encode::write_stream(wanted, few.into_iter(), out),
            false => side_by_side(wanted, few.into_iter().chain(batches), out),
        }
    }

    fn describe_table(&self, name: &str) -> duckdb::Result<Table> {
        let mut statement = self.connection.prepare(&format!("DESCRIBE SELECT * FROM {}", quoted(name)))?;
        let columns = statement
            .query_map([], |row| {
                let native: String = row.get(1)?;
                let mut column = Column::new(row.get::<_, String>(0)?, field_type(&native));
                column.native = native;
                Ok(column)
            })?
            .collect::<duckdb::Result<_>>()?;
        let count = format!("SELECT count(*) FROM {}", quoted(name));
        let rows: i64 = self.connection.query_row(&count, [], |row| row.get(0))?;
        Ok(Table { name: name.to_owned(), columns, row_count: u64::try_from(rows).ok(), ..Table::default() })
    }
}

impl Engine for Duck {
    fn describe(&mut self) -> Result<SourceSchema, Failed> {
        let tables = self.tables.iter().map(|table| self.describe_table(&table.name)).collect::<duckdb::Result<_>>();
        let tables = tables.map_err(|e| failed_on_data(&e))?;
        Ok(SourceSchema { source: String::new(), dialect: Dialect::DuckDb, tables, data_version: String::new() })
    }

    fn query(&self, query: &Query, out: &mut dyn encode::Sink) -> Result<Queried, Failed> {
        self.must_be_one_select(&query.sql)?;
        // Planned once: half of a small question's time goes into its plan.
        let mut statement = self.connection.prepare_cached(&query.sql).map_err(|e| failed_to_prepare(&e))?;
        if let Some(odd) = words::odd(&statement) {
            let sql = words::as_text(&self.connection, query, &odd).map_err(|e| failed_to_prepare(&e))?;
            statement = self.connection.prepare_cached(&sql).map_err(|e| failed_to_prepare(&e))?;
        }
        let written = self.write(&mut statement, query, out);
        // DuckDB keeps a connection to a result that was not read to its end.
        if !written.as_ref().is_ok_and(|queried| !queried.truncated) {
            statement.discard();
        }
        written
    }

    fn estimate(&mut self, query: &Query) -> Result<Estimate, Failed> {
        self.must_be_one_select(&query.sql)?;
        self.measure(query, estimate::PATIENCE)
    }
}

/// Of fewer batches, a thread to write them would cost more than it saves.
const FEW: usize = 4;
/// Batches that may wait to be written.
const WAITING: usize = 64;

/// Writes on a thread of its own what this one takes from the engine: converting and encoding cost about the same.
fn side_by_side(
    wanted: encode::Wanted<'_>,
    batches: impl Iterator<Item = Result<RecordBatch, Failed>>,
    out: &mut dyn encode::Sink,
) -> Result<Queried, Failed> {
    thread::scope(|scope| {
        let (sender, received) = sync_channel(WAITING);
        let writer = scope.spawn(move || encode::write_stream(wanted, received.into_iter(), out));
        for batch in batches {
            // Once a cap is reached, nobody takes any more.
            if sender.send(batch).is_err() {
                break;
            }
        }
        drop(sender);
        writer.join().unwrap_or_else(|_| Err(Failed::new(Cause::Protocol, "the writer of a result panicked")))
    })
}

fn connect(memory_bytes: u64, threads: u32) -> duckdb::Result<Connection> {
    // The rest of the jail's memory is for the process itself and the encoded result.
    let megabytes = memory_bytes / 1024 / 1024 * 6 / 10;
    let config = Config::default()
        .threads(i64::from(threads))?
        .max_memory(&format!("{megabytes}MB"))?
        .enable_autoload_extension(false)?
        .with("autoinstall_known_extensions", "false")?
        .with("allow_community_extensions", "false")?
        .with("allow_persistent_secrets", "false")?
        .with("temp_directory", "")?
        .with("max_temp_directory_size", "0B")?;
    let connection = Connection::open_in_memory_with_flags(config)?;
    // A worker sees one state of the data: footers are read once. Rows wait in order for their reader, so that threads that may
    // be further ahead than 1 MB wait less for it; much further, and the first rows come late.
    connection.execute_batch("SET parquet_metadata_cache = true; SET streaming_buffer_size = '4MB'")?;
    connection.set_prepared_statement_cache_capacity(PLANS_KEPT);
    Ok(connection)
}

/// A view of this (quoted) name over one file. What has to be guessed (CSV dialect, types) is guessed once, here, so
/// that each statement finds the same types.
fn create_view(connection: &Connection, view: &str, path: &Path) -> duckdb::Result<()> {
    let file = literal(&path.to_string_lossy());
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let reader = match extension.as_str() {
        "csv" | "tsv" | "txt" => {
            connection.query_row(&format!("SELECT Prompt FROM sniff_csv({file}, sample_size = -1)"), [], |row| {
                row.get::<_, String>(0).map(|prompt| prompt.trim_end_matches(';').to_owned())
            })?
        }
        "json" | "ndjson" | "jsonl" => json_reader(connection, &file)?,
        _ => format!("FROM read_parquet({file})"),
    };
    connection.execute_batch(&format!("CREATE VIEW {view} AS {reader}"))
}

fn json_reader(connection: &Connection, file: &str) -> duckdb::Result<String> {
    let mut statement = connection.prepare(&format!("DESCRIBE FROM read_json_auto({file}, sample_size = -1)"))?;
    let columns: Vec<String> = statement
        .query_map([], |row| {
            let (name, native): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(format!("{}: {}", literal(&name), literal(&of_nulls_as_json(&native))))
        })?
        .collect::<duckdb::Result<_>>()?;
    Ok(format!("FROM read_json({file}, columns = {{{}}})", columns.join(", ")))
}

/// A type in which values of which a file knows nothing but NULL are JSON, as no column can be of type NULL.
fn of_nulls_as_json(native: &str) -> String {
    const NULL: &str = "\"NULL\"";
    let mut shown = String::new();
    let mut rest = native;
    while let Some((before, after)) = rest.split_once(NULL) {
        // The name of a field is followed by its type.
        let is_type = after.is_empty() || after.starts_with([')', ',', '[']);
        shown.extend([before, if is_type { "JSON" } else { NULL }]);
        rest = after;
    }
    shown + rest
}

/// Keeps DuckDB from folding expressions by the statistics of a table, which are of all its rows. `n BETWEEN 9 AND CAST(x AS
/// INTEGER)` is never evaluated where no row reaches 9, so that its failing would tell the largest `n` of hidden rows.
fn forget_statistics(connection: &Connection) -> duckdb::Result<()> {
    connection.execute_batch("SET disabled_optimizers = 'statistics_propagation'")
}

/// Everything off that statements could reach the outside by; the last setting makes it final.
fn lock_down(connection: &Connection, tables: &[OpenTable]) -> duckdb::Result<()> {
    let paths: Vec<String> = tables.iter().map(|table| literal(&table.path.to_string_lossy())).collect();
    connection.execute_batch(&format!(
        "SET allowed_paths = [{}]; SET enable_external_access = false; SET lock_configuration = true;",
        paths.join(", ")
    ))
}

fn bound(value: &Value) -> types::Value {
    match value {
        Value::Null => types::Value::Null,
        Value::Bool(b) => types::Value::Boolean(*b),
        Value::Int(i) => types::Value::BigInt(*i),
        Value::Float(f) => types::Value::Double(*f),
        Value::Text(t) => types::Value::Text(t.clone()),
    }
}

/// The word of the house for a DuckDB type by its name.
fn field_type(native: &str) -> FieldType {
    let base = native.split(['(', ' ']).next().unwrap_or_default();
    if native.ends_with(']') {
        return FieldType::List;
    }
    match base {
        "BOOLEAN" => FieldType::Boolean,
        "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "HUGEINT" | "UTINYINT" | "USMALLINT" | "UINTEGER"
        | "UBIGINT" | "UHUGEINT" => FieldType::Integer,
        "FLOAT" | "DOUBLE" => FieldType::Number,
        "DECIMAL" => FieldType::Decimal,
        "VARCHAR" | "ENUM" => FieldType::String,
        "DATE" => FieldType::Date,
        "TIME" => FieldType::Time,
        base if base.starts_with("TIMESTAMP") => FieldType::Timestamp,
        "UUID" => FieldType::Uuid,
        "JSON" => FieldType::Json,
        "BLOB" => FieldType::Bytes,
        "STRUCT" | "MAP" => FieldType::Struct,
        _ => FieldType::Other,
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn source_failed(what: &str, error: &duckdb::Error) -> Failed {
    Failed::new(Cause::Source, format!("{what}: {}", message::first_line(&error.to_string())))
}

fn failed_to_prepare(error: &duckdb::Error) -> Failed {
    let text = error.to_string();
    match cause(&text) {
        Cause::Data => Failed::new(Cause::Statement, message::first_line(&text)),
        other => Failed::new(other, message::first_line(&text)),
    }
}

fn failed_on_data(error: &duckdb::Error) -> Failed {
    let text = error.to_string();
    Failed::new(cause(&text), message::without_values(&text))
}

/// A setting that the lockdown keeps. What is quoted may be data, which may say anything.
fn is_locked(message: &str) -> bool {
    message.starts_with("Invalid Input Error") && message::without_values(message).contains("has been locked")
}

fn cause(message: &str) -> Cause {
    if message.contains("Out of Memory") || message.contains("bad_alloc") || message.contains("failed to allocate") {
        Cause::Memory
    } else if message.starts_with("Permission Error") || is_locked(message) {
        Cause::Denied
    } else {
        Cause::Data
    }
}
