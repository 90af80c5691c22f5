//! Results that were sent before, in bytes ready to be sent again.
//!
//! A key is the approved statement with its bound claims, the state of the data and the form: who may not see the same rows
//! has another statement, and what has changed has another key. Statements whose answer changes by itself are not kept.

use bytes::Bytes;
use domain::{Dialect, ResultColumn};
use engines::{Form, Total};
use policy::Approved;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What one result may take of the room for all.
const SHARE: u64 = 8;

pub struct Results {
    /// Bytes of all results together; 0 keeps none.
    most: u64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    results: HashMap<Key, (u64, Arc<KeptResult>)>,
    bytes: u64,
    /// Counts uses, so that the one least lately used is known.
    clock: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    statement: String,
    data_version: String,
    form: Form,
    /// The caps under which it was made: they may have cut it.
    rows: u64,
    bytes: u64,
}

#[derive(Debug)]
pub struct KeptResult {
    pub pieces: Vec<Bytes>,
    pub columns: Vec<ResultColumn>,
    pub total: Total,
}

/// Functions whose value changes while the data does not.
const RESTLESS: [&str; 18] = [
    "current_",
    "now(",
    "'now'",
    "today(",
    "ago(",
    "age(",
    "localtime",
    "random",
    "uuid",
    "sample",
    "gen_random",
    "transaction_timestamp",
    // SQLite's, which take the present moment where they are given none, or a bound one.
    "date(",
    "time(",
    "julianday(",
    "unixepoch(",
    "strftime(",
    "timediff(",
];

impl Key {
    /// None for a statement whose answer changes by itself, or by who asks. A word within a text counts as well: it is not
    /// kept then.
    pub fn of(approved: &Approved, data_version: String, form: Form, rows: u64, bytes: u64) -> Option<Self> {
        let sql = approved.sql().to_ascii_lowercase();
        let restless = RESTLESS.iter().any(|word| sql.contains(word)) || form == Form::Estimate;
        // Nobody tells us when what is in these changes.
        let unseen = matches!(approved.dialect(), Dialect::Spark | Dialect::DataFusion | Dialect::BigQuery);
        let kept = !restless && !approved.dialect().varies_by_caller() && !unseen;
        kept.then(|| Self { statement: approved.fingerprint(), data_version, form, rows, bytes })
    }
}

impl Key {
    pub fn data_version(&self) -> &str {
        &self.data_version
    }

    pub fn is_of(&self, data_version: &str) -> bool {
        self.data_version == data_version
    }
}

impl Results {
    pub fn new(most: u64) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// The most that one result may have to be kept.
    pub fn most_of_one(&self) -> u64 {
        self.most / SHARE
    }

    pub fn get(&self, key: &Key) -> Option<Arc<KeptResult>> {
        let mut kept = self.lock();
        kept.clock += 1;
        let now = kept.clock;
        let (used, result) = kept.results.get_mut(key)?;
        *used = now;
        Some(result.clone())
    }

    pub fn put(&self, key: Key, result: KeptResult) {
        let size = result.total.bytes;
        if size > self.most_of_one() {
            return;
        }
        let mut kept = self.lock();
        while kept.bytes + size > self.most {
            let Some(oldest) = kept.results.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone())
            else {
                return;
            };
            kept.forget(&oldest);
        }
        kept.forget(&key);
        kept.clock += 1;
        kept.bytes += size;
        let now = kept.clock;
        kept.results.insert(key, (now, Arc::new(result)));
    }

    pub fn clear(&self) -> usize {
        let mut kept = self.lock();
        let count = kept.results.len();
        *kept = Kept::default();
        count
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn forget(&mut self, key: &Key) {
        if let Some((_, result)) = self.results.remove(key) {
            self.bytes = self.bytes.saturating_sub(result.total.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> Key {
        Key { statement: n.to_string(), data_version: String::new(), form: Form::Arrow, rows: 1, bytes: 1 }
    }

    fn result(bytes: u64) -> KeptResult {
        let total = Total { rows: 1, bytes, truncated: false, exec_ms: 0.0 };
        KeptResult { pieces: Vec::new(), columns: Vec::new(), total }
    }

    #[test]
    fn the_least_lately_used_gives_way() {
        let results = Results::new(80);
        for n in 0..8 {
            results.put(key(n), result(10));
        }
        assert!(results.get(&key(0)).is_some());
        results.put(key(8), result(10));
        assert!(results.get(&key(1)).is_none() && results.get(&key(0)).is_some() && results.get(&key(8)).is_some());
        results.put(key(9), result(11));
        assert!(results.get(&key(9)).is_none(), "more than one result's share is not kept");
        assert_eq!(results.clear(), 8);
    }
}
