//! One request: from its question to its audit line.

use super::answer::Answer;
use super::conversation::Conversation;
use crate::House;
use crate::active::{Event, Watch};
use crate::audit_lines::Asked;
use crate::path::Walk;
use domain::{Ask, Caller, Door, Fault, Kind, Purpose, Run, SessionId, Wish};
use ledger::RunFilter;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// A request on its way. The client that holds it waits; when it is dropped, the client has its answer or has gone.
pub struct Session {
    pub id: SessionId,
    watch: Arc<Watch>,
    events: watch::Receiver<Vec<Event>>,
    /// Events that were heard already.
    heard: usize,
    answer: oneshot::Receiver<Result<Answer, Fault>>,
    /// Dropped with the session: the audit line waits for it.
    _told: oneshot::Sender<()>,
}

impl Session {
    /// Sends a question down the path. The rest happens in a task of its own, whatever becomes of the client.
    pub fn start(house: &Arc<House>, caller: Caller, source: String, talk: Conversation, asked: Asked) -> Self {
        let ask = Ask {
            door: Door::Analyst,
            purpose: Purpose::Answer,
            source,
            wish: Wish::Question { text: talk.question, history: talk.history },
            session: asked.session,
            thread: None,
        };
        house.audit_lines.follow(asked.session);
        let walk = house.start(caller, ask);
        let watch = walk.watch.clone();
        let (answered, answer) = oneshot::channel();
        let (told, was_told) = oneshot::channel();
        let id = asked.session;
        house.tasks.spawn(see_through(house.clone(), walk, asked, answered, was_told));
        let events = watch.subscribe();
        Self { id, watch, events, heard: 0, answer, _told: told }
    }

    /// More of an answer that comes in pieces; none when it has ended.
    pub async fn words(&mut self) -> Option<String> {
        loop {
            let mut words = String::new();
            for event in self.events.borrow_and_update().iter().skip(self.heard) {
                match event {
                    Event::Words(more) => words.push_str(more),
                    // Not heard, so that the next call finds it again.
                    Event::Finished(_) if words.is_empty() => return None,
                    Event::Finished(_) => break,
                    Event::Entered(_) => {}
                }
                self.heard += 1;
            }
            if !words.is_empty() {
                return Some(words);
            }
            self.events.changed().await.ok()?;
        }
    }

    pub async fn answer(&mut self) -> Result<Answer, Fault> {
        (&mut self.answer).await.unwrap_or_else(|_| Err(Fault::internal("analyst.session")))
    }
}

/// Nobody can come back for this answer: what still runs for it is stopped, and recorded so.
impl Drop for Session {
    fn drop(&mut self) {
        self.watch.cancel.cancel();
    }
}

async fn see_through(
    house: Arc<House>,
    walk: Walk,
    asked: Asked,
    answered: oneshot::Sender<Result<Answer, Fault>>,
    was_told: oneshot::Receiver<()>,
) {
    let response = in_time(house.config.analyst.timeout, walk).await;
    let took = asked.since.elapsed();
    let _ = answered.send(response.clone());
    // An error is how a dropped sender says that it was dropped.
    let _ = was_told.await;
    let mut runs = runs(&house, asked.session).await;
    house.audit_lines.complete(asked.session, &mut runs);
    house.audit_lines.tell(&asked, took, response.as_ref().map(|answer| answer.text.as_str()), &runs);
}

async fn in_time(limit: Duration, walk: Walk) -> Result<Answer, Fault> {
    let watch = walk.watch.clone();
    let mut reply = std::pin::pin!(walk.reply());
    match tokio::time::timeout(limit, &mut reply).await {
        Ok(reply) => Answer::of(&*reply?),
        Err(_) => {
            watch.cancel.cancel();
            // It is recorded as cancelled before anybody is told.
            let _ = reply.await;
            let message = format!("the answer took longer than {} s and was stopped", limit.as_secs());
            Err(Fault::new(Kind::Timeout, "agent_timeout", message))
        }
    }
}

/// The statements of a session, in the order in which they ran. A ledger that cannot be read costs the line its
/// statements, and nobody anything else.
async fn runs(house: &House, session: SessionId) -> Vec<Run> {
    let filter = RunFilter {
        session: Some(session),
        purposes: &[Purpose::Answer, Purpose::Step],
        limit: RunFilter::MAX_LIMIT,
        ..RunFilter::default()
    };
    let mut runs = Vec::new();
    match house.ledger.runs(&filter).await {
        Ok(page) => {
            for run in page.runs.iter().rev() {
                runs.extend(house.ledger.run(run.run_id).await.ok().flatten());
            }
        }
        Err(error) => tracing::error!(%error, "an audit line lacks its statements"),
    }
    runs
}
