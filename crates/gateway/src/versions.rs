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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// More are not kept: they are forgotten, and made anew.
const MOST: usize = 4_096;

/// How long a list of datasets waits for their versions. Digests of large tables are made on, for the next list.
const PATIENCE: Duration = Duration::from_secs(3);

/// A digest that one caller makes while the others wait for it.
type Digest = Arc<OnceCell<String>>;

/// Digests of tables as callers see them, by statement and state of the source.
#[derive(Default)]
pub struct Versions {
    digests: Mutex<HashMap<(String, String), Digest>>,
}

impl Versions {
    fn of(&self, key: (String, String)) -> Digest {
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        if digests.len() >= MOST {
            digests.clear();
        }
        digests.entry(key).or_default().clone()
    }
}

/// The version of a dataset for one caller.
pub struct Version {
    /// None where it cannot be made out now, or not soon.
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
        let (house, caller, dataset) = (self.clone(), caller.clone(), dataset.clone());
        let digesting = tokio::spawn(async move { house.seen_version(&caller, &dataset, &schema).await });
        let hash = tokio::time::timeout(PATIENCE, digesting).await.ok().and_then(Result::ok).flatten();
        Version { hash, is_of_all }
    }

    /// The version of what a caller sees of a dataset's tables.
    async fn seen_version(
        self: &Arc<Self>,
        caller: &Caller,
        dataset: &Dataset,
        schema: &SourceSchema,
    ) -> Option<String> {
        let policy = self.policy();
        let mut seen = String::new();
        for table in &policy.view(caller, schema).tables {
            let version = match self.table_version(caller, dataset, schema, &table.name).await {
                Ok(version) => version,
                // What policy does not give them (a claim is missing, say) has no state.
                Err(NotStreamed::Fault(fault)) if fault.kind == Kind::Forbidden => fault.code,
                Err(_) => return None,
            };
            let columns: Vec<_> = table.columns.iter().map(|column| (&column.name, &column.kind)).collect();
            seen.push_str(&format!("{}\0{columns:?}\0{version}\n", table.name));
        }
        Some(sha256_hex(seen.as_bytes()))
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
        let digest = self.versions.of((approved.fingerprint(), schema.data_version.clone()));
        let made = digest.get_or_try_init(|| self.make_digest(caller, schema, proposal)).await?;
        Ok(made.clone())
    }

    async fn make_digest(
        self: &Arc<Self>,
        caller: &Caller,
        schema: &SourceSchema,
        proposal: Proposal,
    ) -> Result<String, NotStreamed> {
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
        Ok(String::from_utf8(digest).map_err(|_| Fault::internal("version.digest"))?)
    }
}

/// The version that a run's record shows: the source's for who sees all of it, else what the statement was answered.
pub fn of_run(approved: &Approved, data_version: String, answered: &[u8]) -> String {
    match approved.sees_all() {
        true => data_version,
        false => sha256_hex([approved.fingerprint().as_bytes(), answered].concat().as_slice()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_asks_at_the_same_time_waits_for_one_digest() {
        let (versions, made) = (Versions::default(), Mutex::new(0));
        let make = async || {
            tokio::task::yield_now().await;
            *made.lock().unwrap() += 1;
            Ok::<_, ()>("digest".to_owned())
        };
        let ask = async || versions.of(("scan".to_owned(), "state".to_owned())).get_or_try_init(&make).await.cloned();
        let told = tokio::join!(ask(), ask(), ask());
        assert_eq!((told.0, told.1, told.2, *made.lock().unwrap()), {
            let digest = Ok("digest".to_owned());
            (digest.clone(), digest.clone(), digest, 1)
        });
        let other = versions.of(("scan".to_owned(), "another state".to_owned()));
        assert!(other.get().is_none());
    }
}
