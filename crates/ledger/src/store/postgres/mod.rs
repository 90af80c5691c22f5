//! A Postgres database that several servers share.
//!
//! Every transaction that writes takes its turn by a lock, so that the audit chain and the quotas have one writer at a
//! time whichever server it is. A connection that is lost is made again as long as the caller has patience. Whether a
//! COMMIT whose answer was lost took effect is asked of the database, so that nothing is written twice.

mod address;
mod conn;
mod link;
mod lives;
mod migrate;
mod readers;
mod values;
mod writer;

pub use address::Address;
pub(crate) use conn::PgConn;
pub(crate) use lives::{Lives, is_let_go};

use super::Conn;
use super::writer::Writer;
use crate::LedgerError;
use link::Link;
use readers::Readers;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// First pause before another attempt to connect, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));
/// How long a start may take. A database that is not there is told at once.
const START: Duration = Duration::from_secs(60);
/// A walk of the whole chain may take its time.
const LONG_READ: Duration = Duration::from_secs(3600);
/// So may whoever is given it (`audit export | less`): a read keeps nobody from writing.
const SLOW_READER: &str = "SET idle_in_transaction_session_timeout = '1h'";

pub(crate) struct Store {
    pub writer: Writer,
    pub readers: Arc<Readers>,
    pub lives: Arc<Lives>,
    opener: Opener,
}

/// Makes connections.
#[derive(Clone)]
pub(crate) struct Opener {
    address: Arc<Address>,
}

impl Opener {
    pub(crate) fn new(address: &Address) -> Self {
        Self { address: Arc::new(address.clone()) }
    }

    fn open(&self, writes: bool, deadline: Instant) -> Result<PgConn, LedgerError> {
        Link::connect(&self.address, writes, deadline).map(PgConn::new)
    }

    /// Reads as of one moment, on a connection of its own.
    pub(crate) fn snapshot<T>(&self, work: impl FnOnce(&dyn Conn) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        let conn = self.open(false, Instant::now() + START)?;
        conn.wait_until(Instant::now() + LONG_READ);
        if migrate::version(&conn)? == 0 {
            return Err(LedgerError::NoLedger(self.address.to_string()));
        }
        super::Session::control(&conn, SLOW_READER)?;
        let begin = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
        super::Session::control(&conn, begin)?;
        // The connection goes, and the transaction with it.
        work(&conn)
    }
}

impl Store {
    /// Connects, and brings the tables up to date.
    pub(crate) fn open(address: &Address) -> Result<Self, LedgerError> {
        let opener = Opener::new(address);
        let lives = Arc::new(Lives::new(address.lease));
        let first = aside(|| {
            let conn = opener.open(true, Instant::now() + START)?;
            migrate::migrate(&conn).map(|()| conn)
        })?;
        let mut turn = writer::Turn::new(opener.clone(), first, lives.clone());
        let writer = Writer::start(move |tasks| turn.commit(tasks))?;
        Ok(Self { writer, readers: Readers::new(opener.clone()), lives, opener })
    }

    pub(crate) fn opener(&self) -> Opener {
        self.opener.clone()
    }
}

/// Waits on a thread of its own: the one that opens a ledger may be running async code.
pub(crate) fn aside<T: Send>(work: impl FnOnce() -> Result<T, LedgerError> + Send) -> Result<T, LedgerError> {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or(Err(LedgerError::Closed)))
}

/// Waits before another attempt, longer each time; false when the deadline comes first.
fn pause(attempt: u32, deadline: Instant) -> bool {
    let (first, longest) = PAUSES;
    let pause = if attempt == 0 { Duration::ZERO } else { (first * 2_u32.pow(attempt.min(8))).min(longest) };
    let left = deadline.saturating_duration_since(Instant::now());
    if left <= pause {
        return false;
    }
    std::thread::sleep(pause);
    true
}
