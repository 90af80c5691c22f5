//! `gatehouse config show --origin`.

use super::SourceConfig;
use super::given::{Given, Origin};
use super::settings::Setting;
use engines::SourceKind;
use serde::Serialize;

/// One setting in force. Of secrets only that there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    pub key: String,
    /// None where nobody set it and it has no default.
    pub value: Option<String>,
    pub origin: String,
    pub doc: String,
}

impl Shown {
    pub(super) fn new(setting: &Setting, given: Option<&Given>) -> Self {
        Self {
            key: setting.key.to_owned(),
            value: given.map(|given| if setting.secret { "(secret)".to_owned() } else { given.shown() }),
            origin: given.map_or(Origin::Default.to_string(), |given| given.origin().to_string()),
            doc: setting.doc.to_owned(),
        }
    }

    pub(super) fn source(source: &SourceConfig, origin: &Origin) -> Self {
        let kind = match &source.source.kind {
            SourceKind::Sqlite(_) => "sqlite",
            SourceKind::SqliteWritable(_) => "sqlite, writable",
            SourceKind::Files(_) => "files",
            SourceKind::Postgres(settings) if settings.writable => "postgres, writable",
            SourceKind::Postgres(_) => "postgres",
            SourceKind::Flight(_) => "flight",
            SourceKind::BigQuery(_) => "bigquery",
            SourceKind::Rest(_) => "rest",
            SourceKind::Joined { .. } => "joined",
        };
        let place = match &source.source.kind {
            SourceKind::Postgres(_) => "(secret)".to_owned(),
            SourceKind::Flight(flight) => flight.url.clone(),
            SourceKind::BigQuery(warehouse) => format!("{} ({})", warehouse.project, warehouse.url),
            SourceKind::Rest(service) => service.url.clone(),
            _ => source.source.paths().iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        };
        Self {
            key: format!("sources.{}", source.source.name),
            value: Some(format!("{kind}: {place}")),
            origin: origin.to_string(),
            doc: source.description.clone(),
        }
    }
}

/// A line for each setting; with its origin if that is asked for.
pub fn text(shown: &[Shown], origin: bool) -> String {
    let value = |s: &Shown| s.value.clone().unwrap_or_else(|| "(not set)".to_owned());
    let width = |of: &dyn Fn(&Shown) -> usize| shown.iter().map(of).max().unwrap_or_default();
    let (key_width, value_width) = (width(&|s| s.key.chars().count()), width(&|s| value(s).chars().count()));
    let mut text = String::new();
    for line in shown {
        let value = value(line);
        let line = match origin {
            true => format!("{:key_width$}  {value:value_width$}  {}", line.key, line.origin),
            false => format!("{:key_width$}  {value}", line.key),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}
