//! What is remembered: runs, the audit chain, tokens and sign-ins, quotas, servers; in a SQLite file, or in a Postgres
//! database that several servers share.
//!
//! Writes go through one thread that commits them in groups (`store::writer`); reads have connections of their own.
//! Several processes may share a ledger: servers, and the command line that creates tokens while they run. A write that
//! was answered survives `kill -9` and a power cut.
//!
//! # Adding a table
//!
//! 1. One migration for each store, by the same name: `migrations/sqlite/007_notes.sql` and
//!    `migrations/postgres/007_notes.sql`, and that name at the end of the list in `migrations.rs`.
//! 2. One module, `notes.rs`, with the statements as functions of `&dyn Conn` and an `impl Ledger` that calls them through
//!    [`Ledger::write`] and [`Ledger::read`]. Statements are written once, in the SQL that both stores share: `$1` for
//!    values, `ON CONFLICT` for upserts, instants as text (`time::text`), JSON as text that Rust reads. Where the stores
//!    must differ, `conn.either(sqlite, postgres)` chooses.
//! 3. Work that a server begins and may not end carries the server's id ([`Ledger::server_id`]); `servers::bury` settles
//!    what a dead one left behind.
//! 4. Tests take a `Place` and run on both stores: `on_both!` in `tests/it/place.rs`.
//!
//! A piece of work given to `write` may run again when a connection is lost, and counts once: it must do nothing but
//! statements on its `conn`.

mod audit;
mod bounds;
mod capsule;
mod changes;
mod error;
mod files;
mod home;
mod keys;
mod migrations;
mod names;
pub mod ops;
mod prune;
mod pulse;
mod rates;
mod runs;
mod scans;
mod secret;
mod servers;
mod sign_ins;
mod store;
mod time;
mod tokens;

pub use audit::{AuditEntry, AuditEvent, AuditState, ChainReport, Flaw, FlawKind, Reexport, SignedHead};
pub use bounds::{kept_params, kept_statement};
pub use changes::Begun;
pub use error::LedgerError;
pub use home::Home;
pub use keys::key_seed;
pub use rates::Pace;
pub use runs::{Cursor, RunFilter, RunPage};
pub use scans::{OverQuota, QuotaKind, ScanQuota};
pub use secret::Secret;
pub use servers::{Elsewhere, Running};
pub use sign_ins::Identity;
pub use store::postgres::Address;
pub use tokens::{NewToken, TokenInfo};

use audit::signing::Signing;
use domain::Names;
use keys::AuditKey;
use servers::Membership;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Conn, Store};

/// How often heads are signed where nothing else is said.
const HEAD_INTERVAL: Duration = Duration::from_secs(60);

/// A handle to the ledger; clones share it.
#[derive(Clone)]
pub struct Ledger {
    store: Arc<Store>,
    key: AuditKey,
    signing: Arc<Signing>,
    /// The most that is kept of a result.
    result_bytes: usize,
    membership: Arc<Membership>,
    /// How actors are written.
    names: Names,
    /// Scans that have ended and could not be recorded yet.
    owed: Arc<scans::Owed>,
}

impl Ledger {
    /// Opens the ledger, or creates it, and brings it up to date. `keys` is the directory of the audit key (mode 700),
    /// which is made when it is missing.
    pub fn open(home: &Home, keys: &Path) -> Result<Self, LedgerError> {
        Ok(Self {
            store: Arc::new(home.open()?),
            key: AuditKey::open(keys)?,
            signing: Arc::new(Signing::new(home.heads(), matches!(home, Home::Postgres { .. }), HEAD_INTERVAL)),
            result_bytes: bounds::RESULT_BYTES,
            membership: Arc::default(),
            names: Names::default(),
            owed: Arc::default(),
        })
    }

    /// How often a server signs the head of the chain: `verify` expects a head for what is older than a few of these.
    #[must_use]
    pub fn signed_every(mut self, interval: Duration) -> Self {
        let Signing { file, shared, .. } = &*self.signing;
        self.signing = Arc::new(Signing::new(file.clone(), *shared, interval));
        self
    }

    /// Keeps at most so many bytes of a result.
    #[must_use]
    pub fn keeping(self, result_bytes: usize) -> Self {
        Self { result_bytes, ..self }
    }

    /// The same ledger, told how actors are written.
    pub fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Whether several servers may be serving from it.
    pub fn is_shared(&self) -> bool {
        matches!(*self.store, Store::Postgres(_))
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        if !self.signing.is_due() {
            return self.store.write(work).await;
        }
        let (key, signing) = (self.key.clone(), self.signing.clone());
        let begun = Instant::now();
        // In one piece of work: what a caller has begun to write is written, also if that caller goes away.
        let (head, done) = self.store.write(move |conn| Ok((signing.try_sign(conn, &key), work(conn)?))).await?;
        self.signed_by_the_way(head, begun).await;
        Ok(done)
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.store.read(work).await
    }
}
