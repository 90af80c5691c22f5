//! Whose turn it is: one actor never takes all the workers.

use domain::{Fault, Kind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Actors remembered before those without a statement are forgotten.
const MOST_ACTORS: usize = 1_000;

/// Held while it is an actor's turn.
pub type Turn = OwnedSemaphorePermit;

pub struct Turns {
    /// Statements of one actor that may run at the same time.
    each: usize,
    patience: Duration,
    actors: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Turns {
    /// Half of `concurrency`: with all its turns an actor leaves room for long statements of others.
    pub fn new(concurrency: usize, patience: Duration) -> Self {
        Self { each: (concurrency / 2).max(1), patience, actors: Mutex::default() }
    }

    pub async fn wait(&self, actor: &str) -> Result<Turn, Fault> {
        let turns = self.of(actor);
        match tokio::time::timeout(self.patience, turns.acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Fault::new(Kind::Unavailable, "engine.busy", "your other statements are still running")
                .hint("wait for them, or cancel one with `DELETE /runs/{id}`")),
        }
    }

    fn of(&self, actor: &str) -> Arc<Semaphore> {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if actors.len() >= MOST_ACTORS {
            actors.retain(|_, turns| turns.available_permits() < self.each);
        }
        actors.entry(actor.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.each))).clone()
    }
}
