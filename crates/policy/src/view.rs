//! What a caller sees of a source.

use crate::access::{Deleted, Readable, ReadableField, Reader};
use crate::policy::Policy;
use domain::{Caller, Column, ForeignKey, SourceSchema, Table};

impl Policy {
    /// Whether nothing of the source is kept from this caller.
    pub fn sees_all(&self, caller: &Caller, source: &SourceSchema) -> bool {
        Reader { policy: self, caller, source, deleted: Deleted::ByRole }.sees_all()
    }

    /// The source as this caller may see it: resources by canonical name with their readable columns,
    /// and the joins between them. What it may not see is not there.
    pub fn view(&self, caller: &Caller, source: &SourceSchema) -> SourceSchema {
        let reader = Reader { policy: self, caller, source, deleted: Deleted::ByRole };
        let readable: Vec<Readable<'_>> = reader.resources().filter(|r| !r.fields.is_empty()).collect();
        SourceSchema {
            source: source.source.clone(),
            dialect: source.dialect,
            tables: readable.iter().map(|r| table(r, &readable)).collect(),
            data_version: source.data_version.clone(),
        }
    }
}

fn table(readable: &Readable<'_>, all: &[Readable<'_>]) -> Table {
    let contract = readable.contracts.first();
    let described = contract.map(|c| c.describe.as_str()).filter(|text| !text.is_empty());
    let key = contract.map(|c| &c.key).filter(|key| !key.is_empty()).unwrap_or(&readable.table.primary_key);
    Table {
        name: readable.name.to_owned(),
        description: described.unwrap_or(&readable.table.description).to_owned(),
        columns: readable.fields.iter().map(column).collect(),
        primary_key: names(readable, key).unwrap_or_default(),
        foreign_keys: joins(readable, all),
        inferred: inferred(readable),
        synonyms: contract.map(|c| c.synonyms.clone()).unwrap_or_default(),
        row_count: if readable.hides_rows() { None } else { readable.table.row_count },
        filtered: readable.is_filtered(),
        hides_rows: readable.hides_rows(),
        partition_by: names(readable, &readable.table.partition_by).and_then(|mut name| name.pop()),
        clustered_by: readable.table.clustered_by.iter().filter_map(|name| names(readable, [name])).flatten().collect(),
        given: readable.table.given,
    }
}

fn column(readable: &ReadableField<'_>) -> Column {
    let ReadableField { name, column, field } = readable;
    let Some(field) = field else { return (*column).clone() };
    Column {
        name: (*name).to_owned(),
        kind: field.kind,
        native: column.native.clone(),
        nullable: field.nullable || column.nullable,
        description: if field.describe.is_empty() { column.description.clone() } else { field.describe.clone() },
        synonyms: field.synonyms.clone(),
        values: field.values.clone(),
        pii: field.pii,
    }
}

/// Columns of keys that neither the source nor the contract declares.
fn inferred(readable: &Readable<'_>) -> Vec<String> {
    let declared = readable.contracts.first().map(|c| c.joins.as_slice()).unwrap_or_default();
    let declared = |name: &String| declared.iter().any(|join| join.on.contains_key(name));
    let visible = readable.table.inferred.iter().filter_map(|name| names(readable, [name])).flatten();
    visible.filter(|name| !declared(name)).collect()
}

/// Foreign keys of the source and joins of the contract, where both ends are visible.
pub(crate) fn joins(readable: &Readable<'_>, all: &[Readable<'_>]) -> Vec<ForeignKey> {
    let mut found: Vec<ForeignKey> = Vec::new();
    let mut add = |key: Option<ForeignKey>| {
        if let Some(key) = key.filter(|key| !found.contains(key)) {
            found.push(key);
        }
    };
    for join in readable.contracts.first().map(|c| c.joins.as_slice()).unwrap_or_default() {
        let target = all.iter().find(|other| other.name == join.target);
        add(target.and_then(|target| link(readable, target, join.on.keys(), join.on.values())));
    }
    for key in &readable.table.foreign_keys {
        for target in all.iter().filter(|other| other.table.name.eq_ignore_ascii_case(&key.target)) {
            add(link(readable, target, key.columns.iter(), key.target_columns.iter()));
        }
    }
    found
}

fn link<'n>(
    from: &Readable<'_>,
    to: &Readable<'_>,
    columns: impl Iterator<Item = &'n String>,
    targets: impl Iterator<Item = &'n String>,
) -> Option<ForeignKey> {
    Some(ForeignKey { columns: names(from, columns)?, target: to.name.to_owned(), target_columns: names(to, targets)? })
}

/// The names as the resource has them, if all are visible.
fn names<'n>(readable: &Readable<'_>, columns: impl IntoIterator<Item = &'n String>) -> Option<Vec<String>> {
    columns.into_iter().map(|name| readable.field(name).map(|f| f.name.to_owned())).collect()
}
