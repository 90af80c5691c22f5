//! Requests on their way: what can be watched, resumed and cancelled.

use crate::path::Reply;
use domain::{Caller, Fault, RunId};
use planner::records::Routed;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Where on the path a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Planning,
    Validating,
    Executing,
}

impl Stage {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Validating => "validating",
            Self::Executing => "executing",
        }
    }
}

/// What a watcher is told, in order. Never forgotten while the request lives, so that a stream can
/// be taken up again from any event.
#[derive(Debug, Clone)]
pub enum Event {
    Entered(Stage),
    /// More of an answer that comes in pieces.
    Words(String),
    Finished(Result<Arc<Reply>, Fault>),
}

/// One request, as those see it who wait for it.
#[derive(Debug)]
pub struct Watch {
    pub run_id: RunId,
    caller: Caller,
    pub cancel: CancellationToken,
    /// Set once it changes something: from then on it cannot be taken back.
    begun: AtomicBool,
    /// Where the router of Records sent its instruction.
    routed: OnceLock<Routed>,
    events: watch::Sender<Vec<Event>>,
}

impl Watch {
    pub fn new(caller: &Caller) -> Arc<Self> {
        let events = watch::Sender::new(Vec::with_capacity(4));
        let caller = caller.clone();
        let (cancel, begun) = (CancellationToken::new(), AtomicBool::new(false));
        Arc::new(Self { run_id: RunId::new(), caller, cancel, begun, routed: OnceLock::new(), events })
    }

    /// From here on a cancellation comes too late: what has begun to be written is seen through.
    pub fn begin(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    pub fn note_route(&self, routed: Routed) {
        let _ = self.routed.set(routed);
    }

    pub fn routed(&self) -> Option<&Routed> {
        self.routed.get()
    }

    /// Whether it has begun to change something.
    pub fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    /// Ends when the request is taken back while it still can be.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
        if self.has_begun() {
            std::future::pending::<()>().await;
        }
    }

    /// Whether this caller may watch it and take it back: whoever asked, in the same role and with
    /// the same claims, or an admin.
    fn is_open_to(&self, caller: &Caller) -> bool {
        let Caller { actor, role, claims, .. } = &self.caller;
        caller.is_admin() || (*actor == caller.actor && *role == caller.role && *claims == caller.claims)
    }

    /// Tells of a stage when it is entered for the first time.
    pub fn enter(&self, stage: Stage) {
        self.events.send_if_modified(|events| {
            let new = !events.iter().any(|event| matches!(event, Event::Entered(known) if *known == stage));
            if new {
                events.push(Event::Entered(stage));
            }
            new
        });
    }

    pub fn tell(&self, event: Event) {
        self.events.send_modify(|events| events.push(event));
    }

    pub fn subscribe(&self) -> watch::Receiver<Vec<Event>> {
        self.events.subscribe()
    }
}

/// All requests that have not ended.
#[derive(Debug, Default)]
pub struct Active {
    watches: Mutex<HashMap<RunId, Arc<Watch>>>,
}

impl Active {
    pub fn insert(&self, watch: Arc<Watch>) {
        self.lock().insert(watch.run_id, watch);
    }

    pub fn remove(&self, run_id: RunId) {
        self.lock().remove(&run_id);
    }

    /// A request on its way, for those to whom it is open.
    pub fn get(&self, caller: &Caller, run_id: RunId) -> Option<Arc<Watch>> {
        self.lock().get(&run_id).filter(|watch| watch.is_open_to(caller)).cloned()
    }

    /// Every request on its way, and whose it is.
    pub fn running(&self) -> Vec<(RunId, String)> {
        self.lock().values().map(|watch| (watch.run_id, watch.caller.actor.clone())).collect()
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// For a shutdown that cannot wait any longer: the runs end as cancelled, and are recorded so.
    pub fn cancel_all(&self) {
        for watch in self.lock().values() {
            watch.cancel.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<Watch>>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
