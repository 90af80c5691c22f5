//! What is remembered: runs, the audit chain, tokens and sign-ins, in one SQLite file.
//!
//! Writes go through one thread that commits them in groups (`writer`); reads have connections of
//! their own (`readers`). Several processes may share the file: the command line creates tokens
//! while the server runs. A write that was answered survives `kill -9` and a power cut.

mod audit;
mod capsule;
mod changes;
mod error;
mod fields;
mod keys;
mod prune;
mod readers;
mod runs;
mod scans;
mod secret;
mod sign_ins;
mod store;
mod time;
mod tokens;
mod writer;

pub use audit::{AuditEntry, AuditEvent, AuditState, ChainReport, Flaw, FlawKind, SignedHead};
pub use changes::Begun;
pub use error::LedgerError;
pub use runs::{Cursor, RunFilter, RunPage};
pub use scans::{OverQuota, QuotaKind, ScanQuota};
pub use secret::Secret;
pub use sign_ins::Identity;
pub use tokens::{NewToken, TokenInfo};

use capsule::Capsule;
use domain::{Caller, QueryMode, Run, RunId, ThreadId, Turn};
use jiff::{SignedDuration, Timestamp};
use keys::AuditKey;
use readers::Readers;
use rusqlite::Connection;
use secret::{Presented, Use};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use writer::Writer;

/// A handle to the ledger; clones share it.
#[derive(Clone)]
pub struct Ledger {
    path: Arc<Path>,
    key: AuditKey,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
}

/// Results up to this size are sealed where the run is; larger ones on a thread where it keeps nobody waiting.
const LIGHT_BYTES: usize = 16 << 10;

/// A run as it is kept, and its entry in the chain.
fn seal(run: &Run) -> Result<(Capsule, AuditEvent), LedgerError> {
    let capsule = Capsule::of(run)?;
    let event = audit::run_event(run, capsule.digest()?)?;
    Ok((capsule, event))
}

impl Ledger {
    /// Opens the ledger at `path`, or creates it (mode 600). `keys` is the directory of the audit
    /// key (mode 700), which is made when it is missing.
    pub fn open(path: &Path, keys: &Path) -> Result<Self, LedgerError> {
        let writer = Writer::start(store::open_writer(path)?)?;
        Ok(Self {
            path: path.into(),
            key: AuditKey::open(keys)?,
            writer: Arc::new(writer),
            readers: Readers::new(path),
        })
    }

    /// Keeps a run and its entry in the chain, both or neither. A reply that says "done" waits for this.
    pub async fn record(&self, run: &Run) -> Result<(), LedgerError> {
        let (capsule, event) = match run.result_json.as_ref().is_some_and(|result| result.get().len() > LIGHT_BYTES) {
            true => {
                let run = run.clone();
                tokio::task::spawn_blocking(move || seal(&run)).await.map_err(|_| LedgerError::Closed)??
            }
            false => seal(run)?,
        };
        let change = (run.query_mode == Some(QueryMode::Change)).then_some(run.run_id);
        self.write(move |conn| {
            capsule.insert(conn)?;
            audit::append(conn, &event)?;
            change.map_or(Ok(()), |run| changes::end(conn, run))
        })
        .await
    }

    /// Before a change is made: durable, so that a start after a crash knows what to look for.
    pub async fn begin_change(&self, run: &Run, caller: &Caller) -> Result<(), LedgerError> {
        let begun = Begun { run: run.clone(), claims: caller.claims.clone() };
        self.write(move |conn| changes::begin(conn, &begun)).await
    }

    /// Changes that began and whose end is not on record.
    pub async fn changes_left(&self) -> Result<Vec<Begun>, LedgerError> {
        self.read(changes::left).await
    }

    /// Before a scan: sets aside up to `bytes` of its actor's quota, durably, or says what is used up. What is granted
    /// is all that the scan may fetch.
    pub async fn begin_scan(
        &self,
        run: RunId,
        caller: &Caller,
        bytes: u64,
        quota: ScanQuota,
    ) -> Result<Result<u64, OverQuota>, LedgerError> {
        let caller = caller.clone();
        self.write(move |conn| scans::begin(conn, (run, &caller), bytes, quota, Timestamp::now())).await
    }

    /// After a scan that had begun: its capsule, its entries in the chain and what it took of the quota, all or nothing.
    pub async fn end_scan(&self, run: &Run, bytes: u64, event: AuditEvent) -> Result<(), LedgerError> {
        let (capsule, recorded) = seal(run)?;
        let id = run.run_id;
        self.write(move |conn| {
            capsule.insert(conn)?;
            audit::append(conn, &recorded)?;
            audit::append(conn, &event)?;
            scans::end(conn, id, bytes, Timestamp::now())
        })
        .await
    }

    /// A scan that did not come as far as to begin.
    pub async fn refuse_scan(&self, run: &Run, event: AuditEvent) -> Result<(), LedgerError> {
        let (capsule, recorded) = seal(run)?;
        self.write(move |conn| {
            capsule.insert(conn)?;
            audit::append(conn, &recorded)?;
            audit::append(conn, &event).map(drop)
        })
        .await
    }

    /// At start, before anything is served: settles what a server that was killed left behind. How many they were.
    pub async fn abandon_scans(&self) -> Result<usize, LedgerError> {
        self.write(|conn| scans::abandon(conn, Timestamp::now())).await
    }

    /// Adds an entry that belongs to no run; its number in the chain.
    pub async fn append(&self, event: AuditEvent) -> Result<i64, LedgerError> {
        self.write(move |conn| audit::append(conn, &event)).await
    }

    /// One run, whole.
    pub async fn run(&self, id: RunId) -> Result<Option<Run>, LedgerError> {
        self.read(move |conn| runs::one(conn, id)).await
    }

    /// One run of this actor. Another's is as if it were not there, and found missing in the same time.
    pub async fn run_of(&self, id: RunId, actor: &str) -> Result<Option<Run>, LedgerError> {
        let actor = actor.to_owned();
        self.read(move |conn| runs::one_of(conn, id, &actor)).await
    }

    /// A page of runs, newest first.
    pub async fn runs(&self, filter: &RunFilter) -> Result<RunPage, LedgerError> {
        let filter = filter.clone();
        self.read(move |conn| runs::page(conn, &filter)).await
    }

    /// The last turns of one actor's thread, oldest first.
    pub async fn thread(&self, thread: ThreadId, actor: &str, last: usize) -> Result<Vec<Turn>, LedgerError> {
        let actor = actor.to_owned();
        self.read(move |conn| runs::turns(conn, thread, &actor, last)).await
    }

    /// Makes a token and its `token.created` entry. The secret cannot be had again.
    pub async fn create_token(&self, token: NewToken) -> Result<(TokenInfo, Secret), LedgerError> {
        self.write(move |conn| tokens::create(conn, token)).await
    }

    /// All tokens, also revoked and expired ones, the newest first.
    pub async fn tokens(&self) -> Result<Vec<TokenInfo>, LedgerError> {
        self.read(tokens::list).await
    }

    /// Ends a token at once, with its `token.revoked` entry. False when there is no such token to end.
    pub async fn revoke_token(&self, id: &str) -> Result<bool, LedgerError> {
        let id = id.to_owned();
        self.write(move |conn| tokens::revoke(conn, &id)).await
    }

    /// Whose token this is; none for a wrong, revoked or expired one, and no saying which.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<TokenInfo>, LedgerError> {
        let Some(token) = Presented::parse(Use::Token, secret) else { return Ok(None) };
        self.read(move |conn| tokens::authenticate(conn, &token)).await
    }

    /// A sign-in code for the page: good once, for ten minutes.
    pub async fn create_login(&self, actor: &str, role: &str) -> Result<Secret, LedgerError> {
        let who = Identity { actor: actor.to_owned(), role: role.to_owned() };
        self.write(move |conn| sign_ins::create_login(conn, &who)).await
    }

    /// Changes a sign-in code for a session of twelve hours; the code is then used up.
    pub async fn redeem_login(&self, code: &str) -> Result<Option<Secret>, LedgerError> {
        let Some(code) = Presented::parse(Use::Login, code) else { return Ok(None) };
        self.write(move |conn| sign_ins::redeem_login(conn, &code)).await
    }

    /// Who holds this session.
    pub async fn session(&self, secret: &str) -> Result<Option<Identity>, LedgerError> {
        let Some(session) = Presented::parse(Use::Session, secret) else { return Ok(None) };
        self.read(move |conn| sign_ins::identity(conn, &session)).await
    }

    /// Signs out. False when there was no such session.
    pub async fn end_session(&self, secret: &str) -> Result<bool, LedgerError> {
        let Some(session) = Presented::parse(Use::Session, secret) else { return Ok(false) };
        self.write(move |conn| sign_ins::end_session(conn, &session)).await
    }

    /// Walks the whole chain: hashes, signed heads (of the ledger and of the exported file), capsules.
    pub async fn verify(&self) -> Result<ChainReport, LedgerError> {
        let (key, heads, path) = (self.key.clone(), heads_file(&self.path), Arc::clone(&self.path));
        // A connection of its own: the walk takes long and must not hold up other readers.
        let walk = move || audit::verify::verify(&store::open_reader(&path)?, &key, &heads);
        tokio::task::spawn_blocking(walk).await.map_err(|_| LedgerError::Closed)?
    }

    /// The same for a ledger that is only looked at: nothing is written, so that it also works where nothing can be.
    pub fn verify_at(path: &Path, keys: &Path) -> Result<ChainReport, LedgerError> {
        audit::verify::verify(&store::open_evidence(path)?, &AuditKey::existing(keys)?, &heads_file(path))
    }

    /// How long the chain is, its last signed head and its last entries. Says nothing of whether it is whole.
    pub async fn audit_state(&self, last: usize) -> Result<AuditState, LedgerError> {
        self.read(move |conn| audit::state(conn, last)).await
    }

    /// Signs the last entry and exports the signature. None while the chain is empty.
    pub async fn sign_head(&self) -> Result<Option<SignedHead>, LedgerError> {
        let (key, file) = (self.key.clone(), heads_file(&self.path));
        let Some(head) = self.write(move |conn| audit::head::sign(conn, &key)).await? else { return Ok(None) };
        let export = move || audit::head::export(&file, &head).map(|()| Some(head));
        tokio::task::spawn_blocking(export).await.map_err(|_| LedgerError::Closed)?
    }

    /// Finds out by writing, about as much as a run takes.
    pub async fn writable(&self) -> Result<(), LedgerError> {
        let sql = "INSERT OR REPLACE INTO pulse (one, at, ballast) VALUES (1, ?1, zeroblob(32768))";
        let now = time::text(Timestamp::now());
        self.write(move |conn| Ok(conn.execute(sql, [now]).map(drop)?)).await
    }

    /// Deletes capsules that are older than `keep_days`; how many. Their entries stay.
    pub async fn prune(&self, keep_days: u32) -> Result<usize, LedgerError> {
        let age = SignedDuration::from_hours(24 * i64::from(keep_days));
        let before = Timestamp::now().saturating_sub(age).unwrap_or(Timestamp::MIN);
        let mut pruned = 0;
        if self.write(move |conn| prune::announce(conn, before)).await? {
            // Only what is signed excuses a capsule that is gone.
            self.sign_head().await?;
            loop {
                let slice = self.write(move |conn| prune::slice(conn, before)).await?;
                pruned += slice;
                if slice < prune::SLICE {
                    break;
                }
            }
        }
        Ok(pruned)
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.writer.write(work).await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.readers.read(work).await
    }
}

/// Where the heads of a ledger are exported to.
fn heads_file(ledger: &Path) -> PathBuf {
    ledger.with_file_name(audit::head::FILE)
}
