//! The datasets that Chat offers: those of `registry.json`, and the sources of the configuration.

use crate::config::{Analyst, Config, SourceConfig};
use engines::{FileTable, Source, SourceKind};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The dataset that the Analyst's database becomes, where it is not one already.
const ANALYST: &str = "analyst";

#[derive(Debug, Clone)]
pub struct Dataset {
    pub id: String,
    pub name: String,
    pub description: String,
    /// Questions to begin with.
    pub prompts: Vec<String>,
    pub source: Source,
}

#[derive(Debug, Default)]
pub struct Datasets {
    by_id: BTreeMap<String, Dataset>,
    /// The one that the Analyst answers from.
    analysts: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    #[allow(dead_code, reason = "read only to refuse versions that do not exist")]
    version: RegistryVersion,
    datasets: Vec<Entry>,
}

#[derive(Deserialize)]
enum RegistryVersion {
    #[serde(rename = "1")]
    V1,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    prompts: Vec<String>,
    files: Vec<EntryFile>,
    /// Whether Records may write to it; for a SQLite file.
    #[serde(default)]
    writable: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryFile {
    path: String,
    /// Left out for a SQLite file, which brings its own tables.
    table: Option<String>,
    /// Whether a copy in DuckDB's own format is kept and read instead.
    #[serde(default)]
    hot: bool,
}

impl Dataset {
    /// A source that says nothing about itself.
    fn of(source: Source) -> Self {
        let name = source.name.clone();
        Self { id: name.clone(), name, description: String::new(), prompts: Vec::new(), source }
    }
}

impl Datasets {
    pub fn load(config: &Config) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let mut datasets = Self::default();
        match read_registry(&config.datasets_dir) {
            Ok(entries) => {
                for entry in entries {
                    match entry.into_dataset(&config.datasets_dir) {
                        Ok(dataset) => datasets.add(dataset, &mut problems),
                        Err(problem) => problems.push(problem),
                    }
                }
            }
            Err(problem) => problems.push(problem),
        }
        for source in &config.sources {
            datasets.add(from_config(source), &mut problems);
        }
        datasets.add_analysts(&config.analyst.db_path, &config.data, &mut problems);
        problems.extend(datasets.under_two_names());
        if problems.is_empty() { Ok(datasets) } else { Err(problems) }
    }

    /// The one dataset of a command that was given a file instead of a name.
    pub fn only(source: Source) -> Self {
        let dataset = Dataset::of(source);
        Self { by_id: BTreeMap::from([(dataset.id.clone(), dataset)]), analysts: None }
    }

    pub fn get(&self, id: &str) -> Option<&Dataset> {
        self.source(id).filter(|dataset| !dataset.source.is_service())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Dataset> {
        self.by_id.values().filter(|dataset| !dataset.source.is_service())
    }

    /// A dataset, or a service: only Records knows those.
    pub fn source(&self, id: &str) -> Option<&Dataset> {
        self.by_id.get(id)
    }

    /// The database behind `claude-da/analyst`, if there is one.
    pub fn analysts(&self) -> Option<&Dataset> {
        self.get(self.analysts.as_deref()?)
    }

    /// One that is a dataset already keeps its id, and with it its contracts; another becomes the dataset `analyst`.
    fn add_analysts(&mut self, path: &Path, data: &Path, problems: &mut Vec<String>) {
        let real = match path.canonicalize() {
            Ok(real) => real,
            // Only `--demo` brings one without being asked.
            Err(_) if path == data.join(Analyst::USUAL_NAME) => return,
            Err(error) => {
                let hint = "hint: `analyst.db_path` (`CLAUDE_DA_DB_PATH`) names a SQLite file";
                problems.push(format!("the analyst's database `{}` cannot be read: {error} ({hint})", path.display()));
                return;
            }
        };
        let is_it =
            |d: &&Dataset| matches!(&d.source.kind, SourceKind::Sqlite(p) if p.canonicalize().is_ok_and(|p| p == real));
        let known = self.iter().find(is_it).map(|dataset| dataset.id.clone());
        let id = known.unwrap_or_else(|| {
            let source = Source { name: ANALYST.to_owned(), kind: SourceKind::Sqlite(path.to_owned()) };
            let description = "The database that the Analyst answers from.".to_owned();
            let dataset = Dataset { name: "Analyst".to_owned(), description, ..Dataset::of(source) };
            self.add(dataset, problems);
            ANALYST.to_owned()
        });
        self.analysts = Some(id);
    }

    /// Contracts bind a table of a source. A file under a second name would be a way around those of the first.
    fn under_two_names(&self) -> Vec<String> {
        let mut names = BTreeMap::<_, Vec<&str>>::new();
        for dataset in self.by_id.values() {
            for path in dataset.source.paths() {
                names.entry(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())).or_default().push(&dataset.id);
            }
        }
        let twice = names.into_iter().filter(|(_, ids)| ids.len() > 1);
        let problem = |(path, ids): (PathBuf, Vec<&str>)| {
            let hint = "hint: name it once; contracts of one name do not bind the other";
            format!("`{}` is there under two names, in `{}` ({hint})", path.display(), ids.join("` and `"))
        };
        twice.map(problem).collect()
    }

    fn add(&mut self, dataset: Dataset, problems: &mut Vec<String>) {
        if let Some(earlier) = self.by_id.insert(dataset.id.clone(), dataset) {
            problems.push(format!("dataset `{}` is there twice (hint: give one of them another id)", earlier.id));
        }
    }
}

fn read_registry(dir: &Path) -> Result<Vec<Entry>, String> {
    let path = dir.join("registry.json");
    let text = match std::fs::read_to_string(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| format!("`{}` cannot be read: {e}", path.display()))?,
    };
    serde_json::from_str::<Registry>(&text)
        .map(|registry| registry.datasets)
        .map_err(|e| format!("`{}` is not a dataset registry: {e}", path.display()))
}

impl Entry {
    fn into_dataset(self, dir: &Path) -> Result<Dataset, String> {
        let kind = match self.files.as_slice() {
            [only] if only.table.is_none() && is_sqlite(&only.path) => match self.writable {
                true => SourceKind::SqliteWritable(dir.join(&only.path)),
                false => SourceKind::Sqlite(dir.join(&only.path)),
            },
            _ if self.writable => return Err(format!("dataset `{}`: only a SQLite file can be `writable`", self.id)),
            files => SourceKind::Files(
                files
                    .iter()
                    .map(|file| {
                        let table = file
                            .table
                            .clone()
                            .ok_or_else(|| format!("dataset `{}`: file `{}` needs a `table`", self.id, file.path))?;
                        Ok(FileTable { hot: file.hot, ..FileTable::new(table, dir.join(&file.path)) })
                    })
                    .collect::<Result<_, String>>()?,
            ),
        };
        let source = Source { name: self.id.clone(), kind };
        Ok(Dataset { id: self.id, name: self.name, description: self.description, prompts: self.prompts, source })
    }
}

fn from_config(config: &SourceConfig) -> Dataset {
    Dataset {
        id: config.source.name.clone(),
        name: config.name.clone(),
        description: config.description.clone(),
        prompts: config.prompts.clone(),
        source: config.source.clone(),
    }
}

/// By its name: the file itself is opened in the sandbox only.
pub fn is_sqlite(path: &str) -> bool {
    [".sqlite", ".sqlite3", ".db"].iter().any(|ending| path.to_ascii_lowercase().ends_with(ending))
}
