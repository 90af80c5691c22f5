//! Replies of the server that are kept for a while (spec 004 §4.1), for one server and one token.

use crate::client::Client;
use crate::files;
use crate::place::{Place, make_private};
use crate::problem::Result;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::PathBuf;

/// What is kept, and for how long.
#[derive(Debug, Clone, Copy)]
pub enum Kept<'a> {
    Catalog,
    Schema(&'a str),
    Sample(&'a str, u64),
}

impl Kept<'_> {
    fn file(self) -> String {
        match self {
            Self::Catalog => "catalog.json".to_owned(),
            Self::Schema(id) => format!("schema/{id}.json"),
            Self::Sample(id, _) => format!("samples/{id}.json"),
        }
    }

    fn path(self) -> String {
        match self {
            Self::Catalog => "/api/v2/catalog".to_owned(),
            Self::Schema(id) => format!("/api/v2/schema/{id}"),
            Self::Sample(id, n) => format!("/api/v2/sample/{id}?n={n}"),
        }
    }

    fn ttl(self) -> SignedDuration {
        match self {
            Self::Catalog => SignedDuration::from_mins(5),
            Self::Schema(_) | Self::Sample(..) => SignedDuration::from_hours(1),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Entry {
    /// Of whom, from where and of what this is the reply.
    identity: String,
    path: String,
    kept_at: Timestamp,
    /// Exactly as the server wrote it.
    body: Box<RawValue>,
}

pub struct Cache<'a> {
    place: &'a Place,
    client: &'a Client,
}

impl<'a> Cache<'a> {
    pub fn new(place: &'a Place, client: &'a Client) -> Self {
        Self { place, client }
    }

    /// The reply, word for word; from the server if it is not kept, too old, or not wanted.
    pub fn get(&self, what: Kept<'_>, refresh: bool) -> Result<String> {
        let identity = self.client.identity();
        if !refresh && let Some(entry) = self.read(what).filter(|entry| entry.identity == identity) {
            return Ok(entry.body.get().to_owned());
        }
        let body = self.client.get(&what.path())?.text();
        if let Ok(raw) = RawValue::from_string(body.clone()) {
            self.keep(what, Entry { identity, path: what.path(), kept_at: Timestamp::now(), body: raw });
        }
        Ok(body)
    }

    fn read(&self, what: Kept<'_>) -> Option<Entry> {
        let entry: Entry = serde_json::from_slice(&std::fs::read(self.file(what)).ok()?).ok()?;
        let age = Timestamp::now().duration_since(entry.kept_at);
        let fresh = age < what.ttl() && age >= SignedDuration::ZERO;
        (fresh && entry.path == what.path()).then_some(entry)
    }

    /// A cache that cannot be written costs a request, no more.
    fn keep(&self, what: Kept<'_>, entry: Entry) {
        let path = self.file(what);
        let text = serde_json::to_vec(&entry).unwrap_or_default();
        if path.parent().is_some_and(|dir| make_private(dir).is_ok()) {
            drop(files::write(&path, &text));
        }
    }

    fn file(&self, what: Kept<'_>) -> PathBuf {
        self.place.cache().join(what.file())
    }
}

/// Forgets everything.
pub fn clear(place: &Place) {
    // What is left over is too old soon.
    drop(std::fs::remove_dir_all(place.cache()));
}

/// The catalog as it was last seen by anybody here, for hints only.
pub fn last_catalog(place: &Place) -> Option<serde_json::Value> {
    let entry: Entry = serde_json::from_slice(&std::fs::read(place.cache().join("catalog.json")).ok()?).ok()?;
    serde_json::from_str(entry.body.get()).ok()
}
