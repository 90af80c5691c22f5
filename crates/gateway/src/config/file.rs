//! `gatehouse.toml`: read, and every key in it accounted for.

use super::error::Problems;
use super::given::Origin;
use super::settings::SETTINGS;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

pub const NAME: &str = "gatehouse.toml";

/// The file's values by the keys of the table, and its sources by name.
#[derive(Default)]
pub struct File {
    path: PathBuf,
    pub values: BTreeMap<&'static str, Value>,
    pub sources: BTreeMap<String, Value>,
}

impl File {
    /// The file that was named, which must exist, or the one in `data`, which need not.
    pub fn read(data: &Path, named: Option<&Path>, problems: &mut Problems) -> Self {
        let path = named.map_or_else(|| data.join(NAME), Path::to_owned);
        let mut file = Self { path, ..Self::default() };
        match std::fs::read_to_string(&file.path) {
            Ok(text) => match text.parse::<Table>() {
                Ok(table) => file.sort(table, problems),
                Err(error) => problems.add(file.origin(), "", syntax(&text, &error)),
            },
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {}
            Err(error) => problems.add(file.origin(), "", format!("cannot be read: {error}")),
        }
        file
    }

    pub fn origin(&self) -> Origin {
        Origin::File(self.path.clone())
    }

    fn sort(&mut self, mut table: Table, problems: &mut Problems) {
        match table.remove("sources") {
            None => {}
            Some(Value::Table(sources)) => self.sources = sources.into_iter().collect(),
            Some(_) => problems.add(self.origin(), "sources", "must be tables, as in `[sources.sales]`"),
        }
        self.walk("", table, problems);
    }

    fn walk(&mut self, above: &str, table: Table, problems: &mut Problems) {
        for (name, value) in table {
            let key = if above.is_empty() { name } else { format!("{above}.{name}") };
            let section = format!("{key}.");
            if let Some(setting) = SETTINGS.iter().find(|s| s.key == key) {
                self.values.insert(setting.key, value);
            } else if !SETTINGS.iter().any(|s| s.key.starts_with(&section)) {
                problems.add(self.origin(), key.as_str(), unknown(&key, SETTINGS.iter().map(|s| s.key)));
            } else if let Value::Table(inner) = value {
                self.walk(&key, inner, problems);
            } else {
                problems.add(self.origin(), key.as_str(), format!("is a section: write `[{key}]` and its keys below"));
            }
        }
    }
}

/// Says that a key is unknown, and which one may have been meant.
pub fn unknown<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    // A key in the wrong section, or in none, is nearly right too.
    let distance = |other: &str| {
        let moved = if last(other) == last(key) { 1 } else { usize::MAX };
        strsim::damerau_levenshtein(key, other).min(moved)
    };
    match known.map(|other| (distance(other), other)).min() {
        Some((distance, other)) if distance <= 1 + key.len() / 4 => format!("unknown key: did you mean `{other}`?"),
        _ => "unknown key: see `gatehouse config show` for all of them".to_owned(),
    }
}

fn syntax(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("not valid TOML in line {line}: {}", error.message().trim())
}
