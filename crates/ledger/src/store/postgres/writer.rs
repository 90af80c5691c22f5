//! Groups of work, each in a transaction that took its turn among all servers.

use super::{Lives, Opener, PgConn, pause};
use crate::LedgerError;
use crate::store::Session;
use crate::store::writer::{Task, carry_out, tell};
use std::sync::Arc;
use std::time::Instant;

/// What the writing thread holds on to.
pub(super) struct Turn {
    opener: Opener,
    lives: Arc<Lives>,
    session: Option<PgConn>,
    /// A transaction whose COMMIT was sent and not answered.
    doubtful: Option<String>,
}

impl Turn {
    pub(super) fn new(opener: Opener, session: PgConn, lives: Arc<Lives>) -> Self {
        Self { opener, lives, session: Some(session), doubtful: None }
    }

    /// Carries out a group. While the database is away it is tried again, and those whose patience is over are told.
    pub(super) fn commit(&mut self, mut tasks: Vec<Box<dyn Task>>) {
        self.doubtful = None;
        let mut attempt = 0;
        while let Some(deadline) = tasks.iter().map(|task| task.asked()).max() {
            let deadline = deadline + self.opener.address.patience;
            match self.attempt(&mut tasks, deadline) {
                Err(error) if error.is_lost() => {
                    tracing::warn!(%error, attempt, "the database of the ledger is away");
                    self.session = None;
                    let again = pause(attempt, deadline);
                    tasks = self.impatient(tasks, again, &error);
                }
                ended => return tell(tasks, ended.err().as_ref()),
            }
            attempt += 1;
        }
    }

    /// Tells those whose time is up; the others.
    fn impatient(&self, tasks: Vec<Box<dyn Task>>, again: bool, error: &LedgerError) -> Vec<Box<dyn Task>> {
        let now = Instant::now();
        let patience = self.opener.address.patience;
        let (patient, others): (Vec<_>, Vec<_>) =
            tasks.into_iter().partition(|task| again && task.asked() + patience > now);
        if !others.is_empty() {
            tell(others, Some(error));
        }
        patient
    }

    fn attempt(&mut self, tasks: &mut [Box<dyn Task>], deadline: Instant) -> Result<(), LedgerError> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.connect(deadline)?,
        };
        session.wait_until(deadline);
        let ended = self.transact(&session, tasks);
        if ended.is_err() && session.is_begun() {
            session.rollback();
        }
        self.session = Some(session);
        ended
    }

    fn connect(&self, deadline: Instant) -> Result<PgConn, LedgerError> {
        let session = self.opener.open(true, deadline)?;
        self.lives.go_on(&session)?;
        Ok(session)
    }

    fn transact(&mut self, session: &PgConn, tasks: &mut [Box<dyn Task>]) -> Result<(), LedgerError> {
        session.begin()?;
        if let Some(xid) = &self.doubtful {
            // It held the turn that we have now, so it is over.
            if session.was_committed(xid)? {
                session.rollback();
                return Ok(());
            }
            self.doubtful = None;
        }
        carry_out(session, tasks)?;
        self.doubtful = Some(session.xid());
        session.commit()
    }
}
