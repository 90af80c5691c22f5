//! Local tables and the parts beside them: what the last statement may read.

use super::part::Part;
use crate::House;
use crate::doors::scan::fetch::Refusal;
use domain::{Caller, Dialect, Fault, Kind, Proposal, SessionId, SourceSchema, Table};
use engines::{FileTable, Source, SourceKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The directory that parts are kept in, within the server's data. What a crash leaves in it goes at the next start.
pub const DIRECTORY: &str = "hybrid";

/// A source that exists for one statement.
#[derive(Debug)]
pub struct Joined {
    pub source: Source,
    pub schema: SourceSchema,
    /// Resources of which the parts hold only some rows.
    pub filtered_by: BTreeSet<String>,
    _place: Place,
}

/// Where the parts of one request are; gone with it.
#[derive(Debug)]
pub struct Place(PathBuf);

impl Place {
    pub fn new(data: &Path, session: SessionId) -> Result<Self, Fault> {
        let path = data.join(DIRECTORY).join(session.to_string());
        std::fs::create_dir_all(&path).map_err(|error| {
            tracing::error!(%error, "no directory for parts");
            Fault::new(Kind::Unavailable, "hybrid.disk", "the server has no room for the parts of this statement")
        })?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "the parts of a statement are left behind");
        }
    }
}

/// The first local source over which, with the parts, the statement holds; or where it came closest, to be refused there on
/// record. A statement over nothing but parts needs no other source.
pub async fn placed(
    house: &House,
    caller: &Caller,
    text: String,
    parts: Vec<Part>,
    place: Place,
) -> Result<(Proposal, Joined), Refusal> {
    let filtered_by = parts.iter().flat_map(|part| part.filtered_by.clone()).collect();
    let (files, given): (Vec<FileTable>, Vec<Table>) = parts.into_iter().map(|part| (part.file, part.table)).unzip();
    let alone = SourceSchema {
        source: DIRECTORY.to_owned(),
        dialect: Dialect::DuckDb,
        tables: given.clone(),
        data_version: String::new(),
    };
    let mut candidates = vec![(Vec::new(), alone)];
    for dataset in house.datasets.iter() {
        let SourceKind::Files(local) = &dataset.source.kind else { continue };
        let Ok((dataset, _)) = house.dataset(caller, &dataset.id).await else { continue };
        let Ok(schema) = house.schema(dataset).await else { continue };
        let names = house.policy().view(caller, &schema);
        if let Some(taken) = given.iter().find(|part| schema.table(&part.name).or(names.table(&part.name)).is_some()) {
            tracing::debug!(part = taken.name, source = dataset.id, "a part has the name of a table here");
            continue;
        }
        let tables = schema.tables.iter().chain(&given).cloned().collect();
        candidates.push((local.clone(), SourceSchema { tables, ..SourceSchema::clone(&schema) }));
    }
    let mut chosen = None;
    for (local, schema) in candidates {
        let proposal = Proposal::Sql { source: schema.source.clone(), text: text.clone() };
        match house.policy().check(caller, &schema, &proposal, &house.config.scan.limits) {
            Ok(_) => {
                chosen = Some((proposal, local, schema));
                break;
            }
            Err(fault) if chosen.is_none() || fault.code != "sql.unknown_table" => {
                chosen = Some((proposal, local, schema));
            }
            Err(_) => {}
        }
    }
    let (proposal, local, schema) = chosen.ok_or_else(|| Fault::internal("hybrid.placed"))?;
    let kind = SourceKind::Joined { local, parts: files };
    let source = Source { name: schema.source.clone(), kind };
    Ok((proposal, Joined { source, schema, filtered_by, _place: place }))
}
