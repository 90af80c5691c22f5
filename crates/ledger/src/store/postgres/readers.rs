//! Connections for reading, made when needed and kept.

use super::{Opener, PgConn, pause};
use crate::LedgerError;
use crate::store::Conn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::Semaphore;

/// How many reads run at once; more wait.
const AT_ONCE: usize = 8;

pub(crate) struct Readers {
    opener: Opener,
    idle: Mutex<Vec<PgConn>>,
    slots: Semaphore,
}

impl Readers {
    pub(super) fn new(opener: Opener) -> Arc<Self> {
        Arc::new(Self { opener, idle: Mutex::default(), slots: Semaphore::new(AT_ONCE) })
    }

    /// Each statement on its own. It is read again when a connection is lost, as long as there is patience.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Fn(&dyn Conn) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let deadline = Instant::now() + self.opener.address.patience;
        let slot = tokio::time::timeout_at(deadline.into(), self.slots.acquire()).await;
        let _slot = slot.map_err(|_| LedgerError::Busy)?.map_err(|_| LedgerError::Closed)?;
        let readers = Arc::clone(self);
        let read = move || readers.until(deadline, work);
        tokio::task::spawn_blocking(read).await.map_err(|_| LedgerError::Closed)?
    }

    fn until<T>(
        &self,
        deadline: Instant,
        work: impl Fn(&dyn Conn) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut attempt = 0;
        loop {
            match self.once(deadline, &work) {
                Err(error) if error.is_lost() => {
                    // What took one connection took the others, too.
                    self.idle().clear();
                    if !pause(attempt, deadline) {
                        return Err(error);
                    }
                }
                other => return other,
            }
            attempt += 1;
        }
    }

    fn once<T>(&self, deadline: Instant, work: impl Fn(&dyn Conn) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        let kept = self.idle().pop();
        let conn = kept.map_or_else(|| self.opener.open(false, deadline), Ok)?;
        conn.wait_until(deadline);
        let value = work(&conn)?;
        self.idle().push(conn);
        Ok(value)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<PgConn>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
