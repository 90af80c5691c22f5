//! The snapshot of all contracts.

use crate::contract::error::ContractError;
use crate::contract::role::ResourceContract;
use crate::contract::rows::RowFilter;
use crate::contract::{Contract, parse, validate};
use domain::{Caller, SourceSchema, sha256_hex};
use std::collections::BTreeMap;

/// An immutable snapshot of all contracts; the gateway swaps it on hot reload.
#[derive(Debug)]
pub struct Policy {
    /// Current contracts by resource.
    entries: BTreeMap<String, Entry>,
    /// Older versions, kept beside the current one.
    older: Vec<Entry>,
    fingerprint: String,
}

/// A contract with its predicates parsed.
#[derive(Debug)]
pub struct Entry {
    pub contract: Contract,
    /// Role → the rows that exist for it.
    pub rows: BTreeMap<String, RowFilter>,
    /// The rows that are not marked as deleted, where the contract says how they are marked.
    pub living: Option<RowFilter>,
}

impl Entry {
    fn new(contract: &Contract, rows: BTreeMap<String, RowFilter>) -> Self {
        let mark = contract.soft_delete.as_ref().map(|mark| format!("\"{mark}\" IS NULL"));
        // The mark is a field that exists: validation has seen to it.
        let living = mark.and_then(|predicate| RowFilter::parse(contract, &predicate).ok());
        Self { contract: contract.clone(), rows, living }
    }
}

/// A contract that no longer fits its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    pub resource: String,
    /// `None` when the whole table is missing.
    pub field: Option<String>,
}

impl Policy {
    /// Reads all contract files, as (file name, text). All problems of all files are reported at once.
    pub fn load(files: impl IntoIterator<Item = (String, String)>) -> Result<Self, Vec<ContractError>> {
        let mut errors = Vec::new();
        let mut parsed: Vec<(String, Contract)> = Vec::new();
        for (file, yaml) in files {
            match parse::parse(&file, &yaml) {
                Ok(contract) => parsed.push((file, contract)),
                Err(error) => errors.push(error),
            }
        }
        // Which problems come first must not depend on the order of a directory.
        parsed.sort_by(|a, b| a.0.cmp(&b.0));
        let mut entries = BTreeMap::new();
        let mut older = Vec::new();
        for (file, contract) in &parsed {
            let rows = validate::contract(file, contract, &parsed, &mut errors);
            if validate::is_older(file) {
                older.push(Entry::new(contract, rows));
            } else {
                entries.insert(contract.resource.clone(), Entry::new(contract, rows));
            }
        }
        errors.sort();
        if !errors.is_empty() {
            return Err(errors);
        }
        older.sort_by(|a, b| place(&a.contract).cmp(&place(&b.contract)));
        let fingerprint = fingerprint(entries.values().chain(&older).map(|e| &e.contract));
        Ok(Self { entries, older, fingerprint })
    }

    /// Changes if and only if a contract changes: comments and layout of the files do not count.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The current contract of a resource.
    pub fn contract(&self, resource: &str) -> Option<&Contract> {
        self.entries.get(resource).map(|entry| &entry.contract)
    }

    /// All current contracts, by resource.
    pub fn contracts(&self) -> impl Iterator<Item = &Contract> {
        self.entries.values().map(|entry| &entry.contract)
    }

    /// Contracts kept beside the current ones (`NAME@VERSION.yaml`).
    pub fn older_contracts(&self) -> impl Iterator<Item = &Contract> {
        self.older.iter().map(|entry| &entry.contract)
    }

    /// What a role sees of a resource, as spec 002 §5.3 writes it; `None` if it sees nothing.
    pub fn role_contract(&self, resource: &str, role: &str) -> Option<ResourceContract> {
        let mut seen = ResourceContract::of(self.contract(resource)?, role)?;
        seen.joins_allowed.retain(|join| {
            let target = self.contract(&join.target_resource).and_then(|target| ResourceContract::of(target, role));
            target.is_some_and(|target| join.leads_to(&target))
        });
        Some(seen)
    }

    /// What a caller sees of a resource, under the role that each contract gives them: no join names what it hides.
    pub fn caller_contract(&self, caller: &Caller, resource: &str) -> Option<ResourceContract> {
        let seen = |resource: &str| {
            let contract = self.contract(resource)?;
            ResourceContract::of(contract, contract.role_of(&caller.actor, &caller.role))
        };
        let mut own = seen(resource)?;
        own.joins_allowed.retain(|join| seen(&join.target_resource).is_some_and(|target| join.leads_to(&target)));
        Some(own)
    }

    /// Contracts of this source whose table or fields the source does not have.
    pub fn drift(&self, source: &SourceSchema) -> Vec<Drift> {
        let mut found = Vec::new();
        for Entry { contract, .. } in self.entries_of(&source.source) {
            let resource = contract.resource.clone();
            let Some(table) = source.table(&contract.table) else {
                found.push(Drift { resource, field: None });
                continue;
            };
            let missing = contract.fields.iter().filter(|f| table.column(&f.name).is_none());
            found.extend(missing.map(|f| Drift { resource: resource.clone(), field: Some(f.name.clone()) }));
        }
        found
    }

    pub(crate) fn entries_of<'a>(&'a self, source: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries.values().filter(move |entry| entry.contract.source == source)
    }

    /// The contracts of a source that bind this caller: the current ones, or those that its token is pinned to.
    pub(crate) fn entries_for<'a>(&'a self, caller: &'a Caller, source: &'a str) -> impl Iterator<Item = &'a Entry> {
        let bound = self.entries.values().filter_map(move |entry| self.pinned(caller, entry));
        bound.filter(move |entry| entry.contract.source == source)
    }

    /// The same for one resource.
    pub(crate) fn entry_for(&self, caller: &Caller, source: &str, resource: &str) -> Option<&Entry> {
        // Canonical names are lowercase.
        let current = self.entries.get(&resource.to_ascii_lowercase())?;
        self.pinned(caller, current).filter(|entry| entry.contract.source == source)
    }

    /// A pin to a version that is not there any more shows nothing, rather than something else.
    fn pinned<'a>(&'a self, caller: &Caller, current: &'a Entry) -> Option<&'a Entry> {
        let resource = &current.contract.resource;
        match caller.pin(resource) {
            Some(version) if version != current.contract.version => self
                .older
                .iter()
                .find(|entry| entry.contract.resource == *resource && entry.contract.version == version),
            _ => Some(current),
        }
    }
}

fn place(contract: &Contract) -> (&str, &str) {
    (&contract.resource, &contract.version)
}

fn fingerprint<'a>(contracts: impl Iterator<Item = &'a Contract>) -> String {
    // Field order is fixed by the types and maps are sorted, so equal contracts give equal text.
    let text: Vec<String> = contracts.map(|c| serde_json::to_string(c).unwrap_or_default()).collect();
    sha256_hex(text.join("\n").as_bytes())
}
