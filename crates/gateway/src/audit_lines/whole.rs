//! Whole results for verbose lines (AC-06.6), while their session is on its way: the ledger keeps the first rows only.

use domain::{Run, RunId, SessionId};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

type Results = HashMap<RunId, Box<RawValue>>;

/// Empty where lines are not verbose.
#[derive(Default)]
pub struct WholeResults(Mutex<HashMap<SessionId, Results>>);

impl WholeResults {
    /// From now on, until they are taken, results of this session are kept.
    pub fn follow(&self, session: SessionId) {
        self.sessions().insert(session, Results::new());
    }

    pub fn keep(&self, run: &Run) {
        if let (Some(result), Some(results)) = (&run.result_json, self.sessions().get_mut(&run.session_id)) {
            results.insert(run.run_id, result.clone());
        }
    }

    pub fn take(&self, session: SessionId) -> Results {
        self.sessions().remove(&session).unwrap_or_default()
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Results>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
