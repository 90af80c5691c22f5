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
    /// What was kept, or what `make` makes of it now. `policy` and `data` are the versions of what it comes from: taken before
    /// it is made, so that what a change overtakes is not kept as if it came after.
    pub async fn get_or<E>(
        &self,
        policy: &str,
        caller: &Caller,
        kept: Kept<'_>,
        data: &str,
        make: impl AsyncFnOnce() -> Result<Value, E>,
    ) -> Result<Value, E> {
        let who = serde_json::json!([caller.actor, caller.role, caller.claims]).to_string();
        let key = Key { what: kept.what, id: kept.id.to_owned(), who };
        let fresh = |entry: &&Entry| entry.until > Instant::now() && entry.policy == policy && entry.data == data;
        if let Some(entry) = self.lock().get(&key).filter(fresh) {
            return Ok(entry.value.clone());
        }
        let value = make().await?;
        if !kept.ttl.is_zero() {
            let (policy, data) = (policy.to_owned(), data.to_owned());
            let entry = Entry { until: Instant::now() + kept.ttl, policy, data, value: value.clone() };
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// What a shelf gives for a question, where it would be `fresh` if it were made now.
    async fn asked(shelf: &Shelf, (policy, data): (&str, &str), actor: &str, ttl: Duration, fresh: u64) -> Value {
        let caller = Caller::new(actor, "analyst");
        let kept = Kept { what: "sample", id: "events", ttl };
        let made = shelf.get_or(policy, &caller, kept, data, async || Ok::<_, Infallible>(Value::from(fresh))).await;
        made.unwrap()
    }

    #[tokio::test]
    async fn what_is_kept_is_given_until_anything_changes() {
        let (shelf, hour) = (Shelf::default(), Duration::from_secs(3600));
        assert_eq!(asked(&shelf, ("p", "d"), "ann", hour, 1).await, 1);
        assert_eq!(asked(&shelf, ("p", "d"), "ann", hour, 2).await, 1, "kept");
        assert_eq!(asked(&shelf, ("p", "d"), "bob", hour, 3).await, 3, "another's is another's");
        assert_eq!(asked(&shelf, ("p", "e"), "ann", hour, 4).await, 4, "other data");
        assert_eq!(asked(&shelf, ("q", "e"), "ann", hour, 5).await, 5, "another policy");
        assert_eq!(shelf.clear(), 2);
        assert_eq!(asked(&shelf, ("q", "e"), "ann", hour, 6).await, 6, "invalidated");
    }

    #[tokio::test]
    async fn what_is_kept_is_kept_for_its_time() {
        let (shelf, moment) = (Shelf::default(), Duration::from_nanos(1));
        assert_eq!(asked(&shelf, ("p", "d"), "ann", moment, 1).await, 1);
        assert_eq!(asked(&shelf, ("p", "d"), "ann", moment, 2).await, 2, "its time is over");
        assert_eq!(asked(&shelf, ("p", "d"), "ann", Duration::ZERO, 3).await, 3);
        shelf.clear();
        assert_eq!(asked(&shelf, ("p", "d"), "ann", Duration::ZERO, 4).await, 4);
        assert_eq!(shelf.clear(), 0, "0 keeps nothing");
    }
}
