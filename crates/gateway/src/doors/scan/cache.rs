//! Catalogs, schemas and samples, kept for a while: §3.6. Nothing kept outlives the policy or the data that it came from.

use crate::House;
use domain::Caller;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// More are not kept: the shelf is cleared instead.
const MOST: usize = 4_096;

#[derive(Default)]
pub struct Shelf {
    entries: Mutex<HashMap<Key, Entry>>,
}

/// Whose it is is part of the key: what callers see differs by actor, role and claims.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    what: &'static str,
    id: String,
    who: String,
}

struct Entry {
    until: Instant,
    policy: String,
    data: String,
    value: Value,
}

/// What is kept, and how long.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    pub what: &'static str,
    pub id: &'a str,
    pub ttl: Duration,
}

impl Shelf {
    /// What was kept, or what `make` makes of it now. `data` is the version of the data that it is about.
    pub async fn get_or<E>(
        &self,
        house: &House,
        caller: &Caller,
        kept: Kept<'_>,
        data: &str,
        make: impl AsyncFnOnce() -> Result<Value, E>,
    ) -> Result<Value, E> {
        // Taken before it is made: what a change overtakes is not kept as if it came after.
        let policy = house.policy().fingerprint().to_owned();
        let who = serde_json::json!([caller.actor, caller.role, caller.claims]).to_string();
        let key = Key { what: kept.what, id: kept.id.to_owned(), who };
        let fresh = |entry: &&Entry| entry.until > Instant::now() && entry.policy == policy && entry.data == data;
        if let Some(entry) = self.lock().get(&key).filter(fresh) {
            return Ok(entry.value.clone());
        }
        let value = make().await?;
        if !kept.ttl.is_zero() {
            let entry = Entry { until: Instant::now() + kept.ttl, policy, data: data.to_owned(), value: value.clone() };
            let mut entries = self.lock();
            if entries.len() >= MOST {
                entries.clear();
            }
            entries.insert(key, entry);
        }
        Ok(value)
    }

    /// Forgets everything; how much it was.
    pub fn clear(&self) -> usize {
        let mut entries = self.lock();
        let count = entries.len();
        entries.clear();
        count
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl House {
    /// The state of all data. A source that cannot be looked at stands as such.
    pub fn data_versions(&self) -> String {
        let versions = self.datasets.iter().map(|dataset| dataset.source.data_version().unwrap_or_default());
        versions.collect::<Vec<_>>().join("\n")
    }
}
