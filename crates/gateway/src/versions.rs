//! Versions of data, as far as a caller may see it.
//!
//! The state of a source's files changes with every row in them. To whom some of it is hidden, that state would tell when the
//! rest changes, so that they are told the state of what they see instead: a digest of it.

use crate::House;
use crate::datasets::Dataset;
use crate::streamed::{NotStreamed, Wanted};
use domain::{Ask, Caller, Door, Fault, Kind, Proposal, Purpose, Scan, SessionId, SourceSchema, Wish, sha256_hex};
use engines::Form;
use policy::Approved;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More are not kept: they are forgotten, and made anew.
const MOST: usize = 4_096;

/// Digests of tables as callers see them, by statement and state of the source.
#[derive(Default)]
pub struct Versions {
    digests: Mutex<HashMap<(String, String), String>>,
}

impl Versions {
    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), String>> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The version of a dataset for one caller.
pub struct Version {
    /// None where it cannot be made out now.
    pub hash: Option<String>,
    /// Whether the caller sees all of the dataset.
    pub is_of_all: bool,
}

impl House {
    /// The version of a dataset: it changes whenever something changes that this caller may see.
    pub async fn version(self: &Arc<Self>, caller: &Caller, dataset: &Dataset) -> Version {
        let policy = self.policy();
        let schema = match self.schema(dataset).await {
            Ok(schema) => schema,
            Err(_) => return Version { hash: None, is_of_all: false },
        };
        let is_of_all = policy.sees_all(caller, &schema);
        if is_of_all || dataset.source.is_remote() {
            return Version { hash: Some(schema.data_version.clone()), is_of_all };
        }
        let mut seen = String::new();
        for table in &policy.view(caller, &schema).tables {
            let version = match self.table_version(caller, dataset, &schema, &table.name).await {
                Ok(version) => version,
                // What policy does not give them (a claim is missing, say) has no state.
                Err(NotStreamed::Fault(fault)) if fault.kind == Kind::Forbidden => fault.code,
                Err(_) => return Version { hash: None, is_of_all },
            };
            let columns: Vec<_> = table.columns.iter().map(|column| (&column.name, &column.kind)).collect();
            seen.push_str(&format!("{}\0{columns:?}\0{version}\n", table.name));
        }
        Version { hash: Some(sha256_hex(seen.as_bytes())), is_of_all }
    }

    /// The version of one table, by its name for this caller.
    pub async fn table_version(
        self: &Arc<Self>,
        caller: &Caller,
        dataset: &Dataset,
        schema: &SourceSchema,
        table: &str,
    ) -> Result<String, NotStreamed> {
        let scan = Scan { table: table.to_owned(), flavour: schema.dialect.flavour(), ..Scan::default() };
        let proposal = Proposal::Scan { source: dataset.id.clone(), scan: Box::new(scan) };
        let approved = self.policy().check(caller, schema, &proposal, &self.config.scan.limits)?;
        let state = match dataset.source.is_remote() || approved.sees_all() {
            true => schema.data_version.clone(),
            false => self.digest(caller, schema, &approved, proposal).await?,
        };
        Ok(sha256_hex([approved.fingerprint().as_str(), &state].join("\0").as_bytes()))
    }

    /// The digest of what a scan gives its caller, made once for each state of the source.
    async fn digest(
        self: &Arc<Self>,
        caller: &Caller,
        schema: &SourceSchema,
        approved: &Approved,
        proposal: Proposal,
    ) -> Result<String, NotStreamed> {
        let key = (approved.fingerprint(), schema.data_version.clone());
        if let Some(known) = self.versions.lock().get(&key) {
            return Ok(known.clone());
        }
        let ask = Ask {
            door: Door::Scan,
            purpose: Purpose::Describe,
            source: schema.source.clone(),
            wish: Wish::Proposal(proposal),
            session: SessionId::new(),
            thread: None,
        };
        let streamed = self.stream(caller.clone(), ask, Wanted::all(Form::Digest)).await?;
        let (digest, _) = streamed.whole().await?;
        let digest = String::from_utf8(digest).map_err(|_| Fault::internal("version.digest"))?;
        let mut digests = self.versions.lock();
        if digests.len() >= MOST {
            digests.clear();
        }
        digests.insert(key, digest.clone());
        Ok(digest)
    }
}

/// The version that a run's record shows: the source's for who sees all of it, else what the statement was answered.
pub fn of_run(approved: &Approved, data_version: String, answered: &[u8]) -> String {
    match approved.sees_all() {
        true => data_version,
        false => sha256_hex([approved.fingerprint().as_bytes(), answered].concat().as_slice()),
    }
}
