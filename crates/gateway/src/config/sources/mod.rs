//! `[sources.NAME]`: data that is not in the datasets' registry.
//!
//! A kind of source that needs more than a path has a file of its own here.

mod bigquery;
mod flight;
mod postgres;
mod rest;
mod secret;

use super::error::Problems;
use super::file::{File, unknown};
use super::given::Given;
use engines::{FileTable, Source, SourceKind};
use std::path::Path;
use toml::{Table, Value};

/// A source, and how it presents itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceConfig {
    /// What engines need of it; its `name` is the id in URLs and contracts.
    pub source: Source,
    /// Its name for people.
    pub name: String,
    pub description: String,
    /// Questions to suggest.
    pub prompts: Vec<String>,
}

/// A key of a source.
pub struct Key {
    pub name: &'static str,
    /// The kinds that have it; none means all.
    kinds: &'static [&'static str],
    pub meaning: &'static str,
}

const fn key(name: &'static str, kinds: &'static [&'static str], meaning: &'static str) -> Key {
    Key { name, kinds, meaning }
}

const KINDS: &str = "`sqlite`, `files`, `postgres`, `bigquery`, `flight` or `rest`";

/// The keys of all sources.
pub const KEYS: &[Key] = &[
    key(
        "kind",
        &[],
        "`sqlite`, `files`, `postgres`, `bigquery`, `flight` (an engine on many machines, by Arrow Flight SQL) or `rest` (an internal service, for Records). Required.",
    ),
    key("path", &["sqlite"], "The database file. For `sqlite`, required."),
    key(
        "tables",
        &["files"],
        "Each table's CSV, Parquet or JSON file, as in `{orders = \"orders.parquet\"}`. For `files`, required.",
    ),
    key(
        "hot",
        &["files"],
        "Tables of which a copy in DuckDB's own format is kept and read instead, a list: faster, for disk space.",
    ),
    key(
        "url_env",
        &["postgres"],
        "The variable that holds the address, as in `postgres://user:password@host:5432/database`. For `postgres`, this or `url_file` is required.",
    ),
    key("url_file", &["postgres"], "The file that holds the address instead."),
    key(
        "sslmode",
        &["postgres"],
        "`verify-full` (default): TLS, and the server's certificate is verified. `disable`: for this machine and its sockets only.",
    ),
    key(
        "url",
        &["flight", "bigquery", "rest"],
        "The address of an engine, as in `https://host:port`, or of a service, as in `https://crm.example.com/api`. `http://` is for this machine only, or for `flight` with `trusted_network = true`. Required for `flight` and `rest`; for `bigquery`, default: `https://bigquery.googleapis.com`.",
    ),
    key(
        "trusted_network",
        &["flight"],
        "`true` where everybody on the way to the engine may see and change what is said: for engines that speak no TLS, on a network of their own. Default: `false`.",
    ),
    key(
        "token_env",
        &["flight", "bigquery", "rest"],
        "The variable that holds the token that is sent, as `Authorization: Bearer`. Default: none is sent.",
    ),
    key("token_file", &["flight", "bigquery", "rest"], "The file that holds it instead."),
    key(
        "project",
        &["bigquery"],
        "The project that has the datasets and pays for statements. For `bigquery`, required.",
    ),
    key(
        "datasets",
        &["bigquery"],
        "Datasets whose tables are shown; those of the others than the first are called `dataset.table`. For `bigquery`, required.",
    ),
    key("location", &["bigquery"], "Where the datasets are, as in `EU`. Default: Google finds out."),
    key(
        "storage_url",
        &["bigquery"],
        "The address of the Storage Read interface. Default: `https://bigquerystorage.googleapis.com`.",
    ),
    key(
        "credentials_file",
        &["bigquery"],
        "The key file of the service account that asks. For `bigquery`, this, `metadata_url`, `token_env` or `token_file` is required.",
    ),
    key(
        "metadata_url",
        &["bigquery"],
        "Instead of a key file, where this machine gives tokens of its own service account: `http://metadata.google.internal`.",
    ),
    key(
        "max_bytes_billed",
        &["bigquery"],
        "What one statement may read, and cost, at most, in bytes. One that would read more fails, and costs nothing. Default: 10737418240 (10 GiB).",
    ),
    key(
        "dialect",
        &["flight"],
        "What the engine speaks: `spark` (default; Sail) or `datafusion` (Ballista). Statements are written in DuckDB's SQL and translated.",
    ),
    key(
        "databases",
        &["flight"],
        "Databases whose tables are shown. Default: `[\"default\"]`, with `datafusion` `[\"public\"]`. Tables of other databases are called `database.table`.",
    ),
    key(
        "ca",
        &["postgres", "flight"],
        "PEM file of the authority that the server's certificate comes from. Default: the authorities of this machine.",
    ),
    key(
        "schemas",
        &["postgres"],
        "Schemas whose tables are shown. Default: `[\"public\"]`. Tables of other schemas are called `schema.table`.",
    ),
    key(
        "roles",
        &["postgres"],
        "The database role that each role here takes for its statements, as in `{analyst = \"gatehouse_analyst\"}`; a role that is not named may not read. Default: nobody takes another role than the user that signs in.",
    ),
    key(
        "connections",
        &["postgres", "flight", "bigquery"],
        "Connections, or statements, at a time, 1 to 100. Default: 8.",
    ),
    key("timeout_seconds", &["rest"], "How long one request may take, 1 to 300. Default: 10."),
    key("name", &[], "Its name for people. Default: the name of its section."),
    key("description", &[], "What it holds, in a sentence."),
    key("prompts", &[], "Questions to suggest, a list."),
    key(
        "writable",
        &["sqlite", "postgres", "rest"],
        "`true` lets Records insert and update where contracts allow it. Default: `false`.",
    ),
];

/// All sources of the file that can be made out; what is wrong with the others is in `problems`.
pub fn read(
    file: &File,
    data: &Path,
    env: &dyn Fn(&str) -> Option<String>,
    problems: &mut Problems,
) -> Vec<SourceConfig> {
    let mut sources = Vec::new();
    for (id, value) in &file.sources {
        let mut section = Section { id, file, data, env, problems };
        match value {
            Value::Table(table) => sources.extend(section.source(table)),
            _ => section.problem("", format!("must be a table, as in `[sources.{id}]`")),
        }
    }
    sources
}

struct Section<'a> {
    id: &'a str,
    file: &'a File,
    data: &'a Path,
    env: &'a dyn Fn(&str) -> Option<String>,
    problems: &'a mut Problems,
}

impl Section<'_> {
    fn source(&mut self, table: &Table) -> Option<SourceConfig> {
        if !is_id(self.id) {
            self.problem("", "a source's name has lowercase letters, digits, `_` and `-`, at most 64".to_owned());
        }
        for key in table.keys().filter(|key| KEYS.iter().all(|known| known.name != *key)) {
            self.problem(key, unknown(key, KEYS.iter().map(|known| known.name)));
        }
        let text = |given: &Given| given.words().map(str::to_owned);
        let name = self.read(table, "name", text);
        let description = self.read(table, "description", text);
        let prompts = self.read(table, "prompts", Given::list);
        let kind = self.kind(table)?;
        Some(SourceConfig {
            source: Source { name: self.id.to_owned(), kind },
            name: name.unwrap_or_else(|| self.id.to_owned()),
            description: description.unwrap_or_default(),
            prompts: prompts.unwrap_or_default(),
        })
    }

    fn kind(&mut self, table: &Table) -> Option<SourceKind> {
        let Some(kind) = table.get("kind") else {
            self.problem("kind", format!("missing: say {KINDS}"));
            return None;
        };
        self.refuse_others(table, kind.as_str().unwrap_or_default());
        match kind.as_str() {
            Some("sqlite") => {
                self.require(table, "path");
                let data = self.data;
                let path = self.read(table, "path", |given| given.path(data));
                match self.read(table, "writable", Given::switch) {
                    Some(true) => path.map(SourceKind::SqliteWritable),
                    _ => path.map(SourceKind::Sqlite),
                }
            }
            Some("files") => {
                self.require(table, "tables");
                let hot = self.read(table, "hot", Given::list).unwrap_or_default();
                self.tables(table.get("tables")?, &hot).map(SourceKind::Files)
            }
            Some("postgres") => self.postgres(table).map(Box::new).map(SourceKind::Postgres),
            Some("flight") => self.flight(table).map(Box::new).map(SourceKind::Flight),
            Some("bigquery") => self.bigquery(table).map(Box::new).map(SourceKind::BigQuery),
            Some("rest") => self.rest(table).map(Box::new).map(SourceKind::Rest),
            _ => {
                self.problem("kind", format!("`{}` is not a kind of source: use {KINDS}", bare(kind)));
                None
            }
        }
    }

    fn tables(&mut self, value: &Value, hot: &[String]) -> Option<Vec<FileTable>> {
        let Some(tables) = value.as_table().filter(|tables| !tables.is_empty()) else {
            self.problem("tables", "must name a file for each table, as in `{orders = \"orders.parquet\"}`".to_owned());
            return None;
        };
        for table in hot.iter().filter(|table| !tables.contains_key(*table)) {
            self.problem("hot", format!("`{table}` is none of the tables of this source"));
        }
        let mut found = Vec::new();
        for (table, file) in tables {
            match Given::toml(self.file.origin(), file.clone()).path(self.data) {
                Ok(path) => found.push(FileTable { hot: hot.contains(table), ..FileTable::new(table, path) }),
                Err(message) => self.problem(&format!("tables.{table}"), message),
            }
        }
        (found.len() == tables.len()).then_some(found)
    }

    fn read<T>(&mut self, table: &Table, key: &str, read: impl Fn(&Given) -> Result<T, String>) -> Option<T> {
        let given = Given::toml(self.file.origin(), table.get(key)?.clone());
        read(&given).map_err(|message| self.problem(key, message)).ok()
    }

    fn require(&mut self, table: &Table, key: &str) {
        if !table.contains_key(key) {
            self.problem(key, "missing".to_owned());
        }
    }

    /// Keys that belong to sources of another kind.
    fn refuse_others(&mut self, table: &Table, kind: &str) {
        let all: Vec<&str> = KEYS.iter().flat_map(|key| key.kinds).copied().collect();
        if !all.contains(&kind) {
            return;
        }
        for key in KEYS.iter().filter(|key| !key.kinds.is_empty() && !key.kinds.contains(&kind)) {
            if table.contains_key(key.name) {
                let kinds: Vec<String> = key.kinds.iter().map(|kind| format!("`{kind}`")).collect();
                self.problem(key.name, format!("belongs to sources of kind {}", kinds.join(" and ")));
            }
        }
    }

    fn problem(&mut self, key: &str, message: String) {
        let key = if key.is_empty() { format!("sources.{}", self.id) } else { format!("sources.{}.{key}", self.id) };
        self.problems.add(self.file.origin(), key, message);
    }
}

fn is_id(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
