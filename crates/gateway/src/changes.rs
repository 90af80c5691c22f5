//! Making a change, and finding out what became of those whose end nobody saw.
//!
//! A change is noted before it is made. Where its answer is lost, its source is asked at once; where that tells nothing, the
//! caller is told so, the note stays, and servers go on looking. What a killed server had begun is looked for as well. What
//! was seen, and could not be recorded because the ledger was away, is recorded when it is back.

use crate::House;
use crate::active::Watch;
use crate::datasets::Dataset;
use crate::path::{Reply, fail, is_ours, log, milliseconds};
use crate::turns::Turn;
use crate::versions;
use domain::{
    Ask, Caller, Changed, Fault, Kind, Proposal, Purpose, QueryPlan, Rows, Run, RunId, SessionId, Status, Wish,
};
use engines::{Unanswered, Written};
use jiff::Timestamp;
use ledger::{AuditEvent, Begun, LedgerError};
use policy::{Approved, Trace, Unmade};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often changes are looked for whose end nobody knows.
const LOOK: Duration = Duration::from_secs(10);
/// How long a source that could not be asked is left alone at the most.
const LONGEST: Duration = Duration::from_secs(600);
/// How long the end of a change may take on its way, beyond the time that its statements have.
const ON_ITS_WAY: Duration = Duration::from_secs(20);

/// Records that are owed beyond this are forgotten: the next start finds their notes.
const MOST_OWED: usize = 1_000;

/// Runs of changes that the ledger did not take.
#[derive(Default)]
pub(crate) struct Owed(Mutex<Vec<Run>>);

impl Owed {
    fn add(&self, run: Run) {
        let mut owed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owed.len() < MOST_OWED {
            owed.push(run);
        }
    }

    fn take(&self) -> Vec<Run> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a source says of a change that nobody saw the end of.
#[derive(Debug)]
enum Found {
    /// The row as it is now.
    Made(Rows),
    NotMade,
    /// Nothing tells its row from others.
    Unknown,
    /// It cannot be asked at the moment.
    Unreachable,
    /// It may still be made.
    Open,
}

impl Found {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Made(_) => "made",
            Self::NotMade => "not_made",
            Self::Unknown | Self::Unreachable | Self::Open => "unknown",
        }
    }
}

impl House {
    /// Notes the change, then makes it: the only line of the house that gives a change to an engine.
    pub(crate) async fn make_change(
        self: &Arc<Self>,
        caller: &Caller,
        approved: &Approved,
        watch: &Watch,
        run: &mut Run,
    ) -> Result<(Changed, Option<Turn>), Fault> {
        let dataset = self.datasets.source(approved.source()).ok_or_else(|| Fault::internal("change.source"))?;
        self.note_sandbox(&dataset.source, run);
        let turn = self.turns.wait(&run.actor).await?;
        watch.begin();
        self.ledger.begin_change(run, caller).await.map_err(|error| {
            tracing::error!(%error, run_id = %run.run_id, "a change cannot be noted, and is not made");
            Fault::from(error)
        })?;
        let start = Instant::now();
        let made = self.engines.change(&dataset.source, approved, turn).await;
        run.timings.run_ms = milliseconds(start);
        match made {
            Ok((Written { changed, exec_ms, data_version }, turn)) => {
                run.exec_time_ms = Some(exec_ms);
                run.dataset_version_hash = Some(versions::of_run(approved, data_version, &changed.rows.ipc));
                Ok((changed, Some(turn)))
            }
            Err(Unanswered::NotMade(fault)) => {
                self.note_change(dataset, &fault);
                Err(fault)
            }
            Err(Unanswered::Unseen(fault)) => {
                let found = self.look_for(caller.clone(), run).await;
                tracing::warn!(run_id = %run.run_id, code = fault.code, found = found.as_str(), "the end of a change was not seen");
                conclude(found, fault).map(|changed| (changed, None))
            }
            Err(Unanswered::Open(fault)) => {
                tracing::warn!(run_id = %run.run_id, code = fault.code, "a change has not ended");
                conclude(Found::Open, fault).map(|changed| (changed, None))
            }
        }
    }

    /// A change that has ended, and is not on record: it will be. What its caller is told.
    pub(crate) fn owe(&self, reply: Reply, fault: Fault) -> Fault {
        let made = reply.affected.is_some();
        self.owed.add(reply.run);
        if !made {
            return fault;
        }
        Fault::new(fault.kind, "change.unrecorded", "the change was made, and cannot be recorded at the moment")
            .hint("do not send it again: READ the row")
    }

    /// Records what could not be recorded when it was due.
    pub(crate) async fn pay_owed(&self) {
        for run in self.owed.take() {
            match self.ledger.record(&run).await {
                // It had taken it, and could not say so.
                Ok(()) | Err(LedgerError::AlreadyRecorded(_)) => {}
                Err(error) => {
                    tracing::error!(%error, run_id = %run.run_id, "a change cannot be recorded yet");
                    self.owed.add(run);
                }
            }
        }
    }

    /// Finds out what became of changes whose server is gone, or did not see their end: of those in sources of this machine.
    pub async fn reconcile_here(self: &Arc<Self>) -> Result<(), Fault> {
        let remote = |dataset: &&Dataset| dataset.source.is_remote();
        let elsewhere: Vec<String> = self.datasets.iter().filter(remote).map(|dataset| dataset.id.clone()).collect();
        self.reconcile(move |run| !elsewhere.contains(&run.dataset_id), &mut Away::default()).await
    }

    async fn reconcile<W>(self: &Arc<Self>, wanted: W, away: &mut Away) -> Result<(), Fault>
    where
        W: Fn(&Run) -> bool + Send + 'static,
    {
        for begun in self.ledger.changes_left(wanted).await.map_err(Fault::from)? {
            let (id, source) = (begun.run.run_id, begun.run.dataset_id.clone());
            // Its first note has told that nobody is there: the others of this round need not ask.
            let settled = match away.is(&source) {
                true => Ok(Settled::Later),
                false => self.settle(begun).await,
            };
            match settled {
                Ok(Settled::Done) => away.is_back(&source),
                Ok(Settled::Later) => self.release(id).await,
                Ok(Settled::Unreachable) => {
                    away.add(source);
                    self.release(id).await;
                }
                Err(fault) => {
                    tracing::error!(run_id = %id, reason = fault.message, "what became of a change cannot be recorded");
                    self.release(id).await;
                }
            }
        }
        Ok(())
    }

    /// Whether nothing of a change is at work any more. What runs elsewhere may outlive the server that began it.
    async fn has_ended(&self, begun: &Begun) -> Result<bool, Fault> {
        let Some(dataset) = self.datasets.get(&begun.run.dataset_id).filter(|d| d.source.is_remote()) else {
            return Ok(true);
        };
        // After this it cannot begin to end: the source's own time-outs have undone it.
        let seconds = Duration::from_secs(self.config.limits.seconds);
        let age = Timestamp::now().duration_since(begun.noted.unwrap_or(begun.run.created_at));
        if Duration::try_from(age).is_ok_and(|age| age > seconds * 2 + ON_ITS_WAY) {
            return self.engines.is_changing(&dataset.source, seconds).await.map(|changing| !changing);
        }
        Ok(false)
    }

    async fn settle(self: &Arc<Self>, begun: Begun) -> Result<Settled, Fault> {
        // In this order: what it has left behind by then is its last word.
        let ended = self.has_ended(&begun).await;
        let found = match (ended, self.look_for(begun.caller(), &begun.run).await) {
            (_, made @ Found::Made(_)) => made,
            (Err(_), _) => Found::Unreachable,
            (Ok(false), Found::NotMade | Found::Unknown) => Found::Open,
            (Ok(_), found) => found,
        };
        let Begun { mut run, .. } = begun;
        tracing::warn!(run_id = %run.run_id, found = found.as_str(), "a change was interrupted");
        let message = match found {
            Found::Unreachable => return Ok(Settled::Unreachable),
            Found::Open => return Ok(Settled::Later),
            Found::Made(_) => "the server was stopped after the change was made, and before it could say so",
            Found::NotMade => "the server was stopped before the change was made",
            Found::Unknown => {
                "the server was stopped while the change was on its way; whether it was made is not known"
            }
        };
        let fault = Fault::new(Kind::Unavailable, "change.interrupted", message).detail("found", found.as_str());
        fail(&mut run, Status::Failed, fault);
        let detail = serde_json::json!({ "found": found.as_str() });
        let mut event =
            AuditEvent::new("change.reconciled").about(&run.actor, &run.role).through(run.door).detail(detail);
        event.run_id = Some(run.run_id);
        if self.ledger.settle_change(&run, event).await.map_err(Fault::from)? {
            self.metrics.ran(&run);
            log(&run);
        }
        Ok(Settled::Done)
    }

    /// For the next look. Without it, the next start of a server finds the note.
    async fn release(&self, run: RunId) {
        if let Err(error) = self.ledger.release_change(run).await {
            tracing::error!(%error, run_id = %run, "a change cannot be left for later");
        }
    }

    /// Asks its source, as whoever wanted it: by key or natural key, version and content.
    async fn look_for(self: &Arc<Self>, caller: Caller, run: &Run) -> Found {
        let plan = run.plan_json.as_ref().and_then(|json| policy::parse_change_value(json).ok());
        let Some((step, dataset)) = plan.as_ref().and_then(|plan| plan.step()).zip(self.datasets.get(&run.dataset_id))
        else {
            return Found::Unknown;
        };
        let Ok(schema) = self.schema(dataset).await else { return Found::Unreachable };
        let Trace { made, unmade } = self.policy().trace(&caller, &schema, step);
        if let Some(plan) = made {
            match self.look(caller.clone(), run, plan).await {
                Ok(Some(rows)) => return Found::Made(rows),
                Ok(None) => {}
                Err(found) => return found,
            }
        }
        let (plan, telling) = match unmade {
            None => return Found::Unknown,
            Some(Unmade::Row(plan)) => (plan, true),
            Some(Unmade::NoRow(plan)) => (plan, false),
        };
        match self.look(caller, run, plan).await {
            Ok(row) if row.is_some() == telling => Found::NotMade,
            Ok(_) => Found::Unknown,
            Err(found) => found,
        }
    }

    /// The row that a plan gives, by the path of all questions.
    async fn look(self: &Arc<Self>, caller: Caller, run: &Run, plan: QueryPlan) -> Result<Option<Rows>, Found> {
        let source = run.dataset_id.clone();
        let ask = Ask {
            door: run.door,
            purpose: Purpose::Describe,
            source: source.clone(),
            wish: Wish::Proposal(Proposal::Query { source, plan: Box::new(plan) }),
            session: SessionId::new(),
            thread: None,
        };
        let reply = self.start(caller, ask).reply().await.map_err(|_| Found::Unreachable)?;
        match &reply.rows {
            Some(rows) => Ok((rows.row_count > 0).then(|| rows.clone())),
            None if reply.run.error_json.as_ref().is_some_and(is_ours) => Err(Found::Unreachable),
            None => Err(Found::Unknown),
        }
    }
}

/// What a caller is told of a change whose end was not seen.
fn conclude(found: Found, fault: Fault) -> Result<Changed, Fault> {
    let kind = if is_ours(&fault) { fault.kind } else { Kind::Unavailable };
    match found {
        Found::Made(rows) => Ok(Changed { rows, affected: 1 }),
        Found::NotMade => {
            let message = format!("the change was not made: {}", fault.message);
            Err(Fault::new(kind, fault.code, message).hint("send it again").detail("found", "not_made"))
        }
        Found::Unknown | Found::Unreachable | Found::Open => {
            let message = format!("whether the change was made is not known: {}", fault.message);
            Err(Fault::new(kind, Fault::UNKNOWN_OUTCOME, message)
                .hint("READ the row before you send the change again; the audit will tell what became of it")
                .detail("found", "unknown"))
        }
    }
}

/// What became of a note.
enum Settled {
    Done,
    /// It is for the next look.
    Later,
    /// So are all of its source.
    Unreachable,
}

/// Sources that could not be asked: until when they are left alone, and for how long the time after that.
#[derive(Default)]
struct Away(BTreeMap<String, (Instant, Duration)>);

impl Away {
    fn add(&mut self, source: String) {
        let (until, pause) = self.0.entry(source).or_insert((Instant::now(), LOOK));
        *until = Instant::now() + *pause;
        *pause = (*pause * 2).min(LONGEST);
    }

    fn is(&self, source: &str) -> bool {
        self.0.get(source).is_some_and(|(until, _)| Instant::now() < *until)
    }

    fn is_back(&mut self, source: &str) {
        self.0.remove(source);
    }

    fn sources(&self) -> Vec<String> {
        self.0.keys().filter(|source| self.is(source)).cloned().collect()
    }
}

/// Looks again and again for changes whose end nobody knows, in a task of its own.
pub async fn keep_reconciling(house: Arc<House>) {
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut away = Away::default();
    while house.shutdown.run_until_cancelled(look.tick()).await.is_some() {
        house.pay_owed().await;
        let alone = away.sources();
        if let Err(fault) = house.reconcile(move |run| !alone.contains(&run.dataset_id), &mut away).await {
            tracing::error!(reason = fault.message, "changes whose end nobody knows cannot be looked for");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that is away is asked less and less often, and as often as any other when it is back.
    #[test]
    fn what_is_away_is_left_alone_for_longer_each_time() {
        let mut away = Away::default();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            away.add("crm".to_owned());
            pauses.push(away.0["crm"].0.saturating_duration_since(Instant::now()).as_secs_f64().round() as u64);
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 600, 600, 600]);
        assert!(away.is("crm") && !away.is("erp") && away.sources() == ["crm"]);
        away.is_back("crm");
        assert!(!away.is("crm"));
    }
}
