//! Queries on this machine: DuckDB over the views, offline.

use crate::cache;
use crate::place::Place;
use crate::problem::{Exit, Problem, Result};
use crate::snapshots::open_for_reading;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use duckdb::Connection;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeSet;

pub struct Local<'a> {
    pub connection: Connection,
    place: &'a Place,
}

impl<'a> Local<'a> {
    pub fn open(place: &'a Place) -> Result<Self> {
        Ok(Self { connection: open_for_reading(place)?, place })
    }

    /// Ends without taking the database apart, which costs more than many queries: it was only read, and whatever it
    /// held goes with the program.
    pub fn leave(self) {
        std::mem::forget(self.connection);
    }

    /// Runs a statement and hands its result on as it is made.
    pub fn query<T>(
        &self,
        sql: &str,
        with: impl FnOnce(SchemaRef, &mut dyn Iterator<Item = Result<RecordBatch>>) -> Result<T>,
    ) -> Result<T> {
        let mut statement = self.connection.prepare(sql).map_err(|error| self.problem(&error))?;
        let stream = statement.stream_arrow([]).map_err(|error| self.problem(&error))?;
        let schema = stream.get_schema();
        let mut batches = stream.map(|batch| batch.map_err(|error| self.problem(&error)));
        with(schema, &mut batches)
    }

    /// Rows of text, for statements of our own.
    pub fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let read = || -> duckdb::Result<_> {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            let mut texts = Vec::new();
            while let Some(row) = rows.next()? {
                let width = row.as_ref().column_count();
                texts.push((0..width).map(|i| row.get(i)).collect::<duckdb::Result<_>>()?);
            }
            Ok(texts)
        };
        read().map_err(|error| self.problem(&error))
    }

    /// Snapshots that a statement names and that are older than so many days.
    pub fn stale(&self, sql: &str, days: u32) -> Result<Vec<(String, u64)>> {
        let now = Timestamp::now();
        let most = SignedDuration::from_hours(i64::from(days) * 24);
        let age = |at: Timestamp| now.duration_since(at);
        let old: Vec<_> = self.place.snapshots()?.into_iter().filter(|meta| age(meta.fetched_at) > most).collect();
        if old.is_empty() {
            return Ok(Vec::new());
        }
        let named = self.tables_of(sql);
        let days = |at: Timestamp| u64::try_from(age(at).as_hours() / 24).unwrap_or_default();
        let stale = old.into_iter().filter(|meta| named.contains(&meta.name));
        Ok(stale.map(|meta| (meta.name, days(meta.fetched_at))).collect())
    }

    /// The tables that a SELECT names, by DuckDB's own parser; nothing of what it cannot serialise.
    fn tables_of(&self, sql: &str) -> BTreeSet<String> {
        let tree = self.connection.query_row("SELECT json_serialize_sql($1::VARCHAR)", [sql], |row| row.get(0));
        let tree: Value = tree.ok().and_then(|text: String| serde_json::from_str(&text).ok()).unwrap_or_default();
        let mut names = BTreeSet::new();
        let mut waiting = vec![&tree];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(object) => {
                    if let Some(Value::String(name)) = object.get("table_name") {
                        names.insert(name.to_lowercase());
                    }
                    waiting.extend(object.values());
                }
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        names
    }

    /// DuckDB's own words, which mark the place in the statement.
    pub fn problem(&self, error: &duckdb::Error) -> Problem {
        let text = error.to_string().trim_end().to_owned();
        let hint = match missing_table(&text) {
            Some(table) => self.where_is(&table),
            None if text.contains("read-only mode") => {
                "`da query` only reads; -o FILE writes a result, `duckdb` opens analytics.duckdb for writing".to_owned()
            }
            None if text.starts_with("Parser Error") || text.starts_with("Binder Error") => {
                "this is DuckDB's SQL; `DESCRIBE TABLE_NAME` shows columns and types".to_owned()
            }
            None => "`da snapshot list` and `DESCRIBE TABLE_NAME` show what there is".to_owned(),
        };
        match () {
            () if text.contains("No files found that match") => {
                Problem::invalid("no_file", text, "paths are relative to the working directory")
            }
            () if text.contains("Failed to download extension") => {
                let hint = "nothing is installed behind your back, and nothing could be fetched; parquet, json and icu are there";
                Problem::new(Exit::Network, "no_extension", text, hint)
            }
            () if text.starts_with("IO Error") || text.starts_with("INTERNAL Error") => {
                Problem::new(Exit::Unexpected, "duckdb", text, "`da doctor` checks this installation")
            }
            () => Problem::invalid("sql", text, hint),
        }
    }

    /// What to do about a table that is not here.
    fn where_is(&self, table: &str) -> String {
        let catalog = cache::last_catalog(self.place).unwrap_or_default();
        let tables = catalog.get("tables").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let known = tables.iter().find(|known| known.get("id").and_then(Value::as_str) == Some(table));
        match known.and_then(|known| known.get("query_mode")).and_then(Value::as_str) {
            Some("local") => format!("`da sync {table}` copies it here"),
            Some(_) => format!("`da fetch {table} --select … --where …`, or `da query --remote`"),
            None => "`da snapshot list` shows what is here, `da catalog` what can be fetched".to_owned(),
        }
    }
}

fn missing_table(text: &str) -> Option<String> {
    let rest = text.strip_prefix("Catalog Error: Table with name ")?;
    rest.split_whitespace().next().map(|name| name.trim_matches('"').to_lowercase())
}
