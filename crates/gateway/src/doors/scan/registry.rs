//! Which table an id names, for one caller.

use crate::House;
use crate::datasets::Dataset;
use domain::{Caller, Fault, Flavour, Kind, SourceSchema, Table};
use engines::SourceKind;
use policy::{Contract, Policy, QueryPath};
use std::sync::Arc;

/// A table as a caller sees it, and where it is.
pub struct Entry<'h> {
    pub dataset: &'h Dataset,
    pub schema: Arc<SourceSchema>,
    pub table: Table,
    policy: Arc<Policy>,
}

impl<'h> Entry<'h> {
    pub fn id(&self) -> &str {
        &self.table.name
    }

    pub fn contract(&self) -> Option<&Contract> {
        self.policy.contract(&self.table.name)
    }

    /// What the source is, in a word.
    pub fn source_type(&self) -> &'static str {
        match self.dataset.source.kind {
            SourceKind::Files(_) => "files",
            SourceKind::Sqlite(_) | SourceKind::SqliteWritable(_) => "sqlite",
            SourceKind::Postgres(_) => "postgres",
            SourceKind::Flight(_) => "flight",
            SourceKind::BigQuery(_) => "bigquery",
            SourceKind::Joined { .. } => "joined",
            SourceKind::Rest(_) => "rest",
        }
    }

    /// What predicates are written in. Those for other engines are translated.
    pub fn flavour(&self) -> Flavour {
        self.schema.dialect.flavour()
    }

    pub fn is_remote(&self) -> bool {
        self.contract().is_some_and(|contract| contract.query_mode == QueryPath::Remote)
    }

    /// Whether its caller sees all columns and rows of it.
    pub fn is_whole(&self) -> bool {
        let columns = self.schema.table(self.physical()).map(|table| table.columns.len());
        columns == Some(self.table.columns.len()) && !self.table.hides_rows
    }

    /// The table's name in its source.
    fn physical(&self) -> &str {
        self.contract().map_or(self.id(), |contract| &contract.table)
    }

    /// The file that holds this table and nothing else.
    pub fn file_bytes(&self) -> Option<u64> {
        let SourceKind::Files(tables) = &self.dataset.source.kind else { return None };
        let physical = self.physical();
        let file = tables.iter().find(|file| file.table.eq_ignore_ascii_case(physical))?;
        std::fs::metadata(&file.path).ok().map(|meta| meta.len())
    }
}

/// Everything that this caller may read, by id. A source that cannot be read is left out, and the log says why.
pub async fn all<'h>(house: &'h House, caller: &Caller) -> Vec<Entry<'h>> {
    // All at once: a source that takes long to open does not hold up the others.
    let looks = house.datasets.iter().map(async |dataset| match house.schema(dataset).await {
        Ok(schema) => seen(house, caller, dataset, &schema),
        Err(fault) => {
            tracing::warn!(dataset = dataset.id, %fault, "dataset left out of the catalog");
            Vec::new()
        }
    });
    let mut entries: Vec<Entry<'h>> = futures_util::future::join_all(looks).await.into_iter().flatten().collect();
    // Contracts have names of their own; tables without one may share theirs, and the first has it then.
    entries.sort_by(|a, b| (a.id(), a.contract().is_none()).cmp(&(b.id(), b.contract().is_none())));
    entries.dedup_by(|later, first| later.id() == first.id());
    entries
}

fn seen<'h>(house: &House, caller: &Caller, dataset: &'h Dataset, schema: &Arc<SourceSchema>) -> Vec<Entry<'h>> {
    let policy = house.policy();
    let tables = policy.view(caller, schema).tables.into_iter();
    let contracted = |table: &Table| policy.contract(&table.name).is_none_or(|contract| contract.source == dataset.id);
    tables
        .filter(contracted)
        .map(|table| Entry { dataset, schema: schema.clone(), table, policy: policy.clone() })
        .collect()
}

/// The table of that id. One that this caller may not read does not exist for them: both are told in the same words.
pub async fn find<'h>(house: &'h House, caller: &Caller, id: &str) -> Result<Entry<'h>, Fault> {
    let named = house.policy().contract(id).and_then(|contract| house.datasets.get(&contract.source));
    let found = match named {
        Some(dataset) => {
            let schema = house.schema(dataset).await?;
            seen(house, caller, dataset, &schema).into_iter().find(|entry| entry.id() == id)
        }
        None if caller.is_admin() => all(house, caller).await.into_iter().find(|entry| entry.id() == id),
        None => None,
    };
    match found {
        Some(entry) => Ok(entry),
        None => Err(not_for(caller, id)),
    }
}

fn not_for(caller: &Caller, id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    let hint = "`GET /api/v2/catalog` lists the tables that you may read";
    let fault = match caller.is_admin() {
        true => Fault::new(Kind::NotFound, "scan.unknown_table", format!("there is no table `{shown}`")),
        false => Fault::new(
            Kind::Forbidden,
            "scan.table_not_accessible",
            format!("there is no table `{shown}`, or your role may not read it"),
        ),
    };
    fault.hint(hint).detail("table", shown)
}
