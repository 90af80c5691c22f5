//! `[sources.NAME]`: data that is not in the datasets' registry.

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
    /// Whether Records may write to it.
    pub writable: bool,
}

/// The keys of a source, their meaning, and for which kind they are.
pub const KEYS: &[(&str, &str)] = &[
    ("kind", "`sqlite` or `files`. Required."),
    ("path", "The database file. For `sqlite`, required."),
    ("tables", "Each table's CSV, Parquet or JSON file, as in `{orders = \"orders.parquet\"}`. For `files`, required."),
    ("name", "Its name for people. Default: the name of its section."),
    ("description", "What it holds, in a sentence."),
    ("prompts", "Questions to suggest, a list."),
    ("writable", "`true` lets Records insert and update where contracts allow it. For `sqlite`. Default: `false`."),
];

/// All sources of the file that can be made out; what is wrong with the others is in `problems`.
pub fn read(file: &File, data: &Path, problems: &mut Problems) -> Vec<SourceConfig> {
    let mut sources = Vec::new();
    for (id, value) in &file.sources {
        let mut section = Section { id, file, data, problems };
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
    problems: &'a mut Problems,
}

impl Section<'_> {
    fn source(&mut self, table: &Table) -> Option<SourceConfig> {
        if !is_id(self.id) {
            self.problem("", "a source's name has lowercase letters, digits, `_` and `-`, at most 64".to_owned());
        }
        for key in table.keys().filter(|key| KEYS.iter().all(|(known, _)| known != key)) {
            self.problem(key, unknown(key, KEYS.iter().map(|(known, _)| *known)));
        }
        let text = |given: &Given| given.words().map(str::to_owned);
        let name = self.read(table, "name", text);
        let description = self.read(table, "description", text);
        let prompts = self.read(table, "prompts", Given::list);
        let writable = self.read(table, "writable", Given::switch);
        if table.get("kind").and_then(Value::as_str) == Some("files") {
            self.refuse(table, "writable", "sqlite");
        }
        let kind = self.kind(table)?;
        Some(SourceConfig {
            source: Source { name: self.id.to_owned(), kind },
            name: name.unwrap_or_else(|| self.id.to_owned()),
            description: description.unwrap_or_default(),
            prompts: prompts.unwrap_or_default(),
            writable: writable.unwrap_or_default(),
        })
    }

    fn kind(&mut self, table: &Table) -> Option<SourceKind> {
        let Some(kind) = table.get("kind") else {
            self.problem("kind", "missing: say `sqlite` or `files`".to_owned());
            return None;
        };
        match kind.as_str() {
            Some("sqlite") => {
                self.refuse(table, "tables", "files");
                self.require(table, "path");
                let data = self.data;
                self.read(table, "path", |given| given.path(data)).map(SourceKind::Sqlite)
            }
            Some("files") => {
                self.refuse(table, "path", "sqlite");
                self.require(table, "tables");
                self.tables(table.get("tables")?).map(SourceKind::Files)
            }
            _ => {
                self.problem("kind", format!("`{}` is not a kind of source: use `sqlite` or `files`", bare(kind)));
                None
            }
        }
    }

    fn tables(&mut self, value: &Value) -> Option<Vec<FileTable>> {
        let Some(tables) = value.as_table().filter(|tables| !tables.is_empty()) else {
            self.problem("tables", "must name a file for each table, as in `{orders = \"orders.parquet\"}`".to_owned());
            return None;
        };
        let mut found = Vec::new();
        for (table, file) in tables {
            match Given::toml(self.file.origin(), file.clone()).path(self.data) {
                Ok(path) => found.push(FileTable { table: table.clone(), path }),
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

    fn refuse(&mut self, table: &Table, key: &str, kind: &str) {
        if table.contains_key(key) {
            self.problem(key, format!("belongs to sources of kind `{kind}`"));
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
