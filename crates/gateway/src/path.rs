//! The one path.
//!
//! ```text
//! identify ─► plan ─► check ─► (note) ─► run ─► record ─► reply
//! ```
//!
//! Every request of every door walks it, in this order. A door translates: its wire format into an
//! [`Ask`], the [`Reply`] into its wire format. Who asks was identified at the threshold
//! ([`crate::http::identify`]), since pages that run nothing need it too.
//!
//! The path runs in a task of its own: a client that goes away never loses the record.

mod capsule;

pub(crate) use capsule::{begin, fail, log};

use crate::active::{Event, Stage, Watch};
use crate::aside::aside;
use crate::house::House;
use crate::nothing;
use crate::planning::{MOST_VALUES, Mind, Planned};
use crate::turns::Turn;
use crate::versions;
use domain::{
    Ask, Caller, Clarification, Door, Fault, Kind, Limits, Outcome, Proposal, Purpose, Rows, Run, SourceSchema, Wish,
};
use engines::{Executed, Source};
use futures_util::FutureExt;
use planner::records::Routed;
use policy::{Approved, Author};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinHandle;

/// Statements and results up to this size are dealt with where the request is; larger ones aside.
const LIGHT_BYTES: usize = 16 << 10;

/// A request that has ended and is on record.
#[derive(Debug)]
pub struct Reply {
    pub run: Run,
    /// The rows as Arrow, for doors that reply them so.
    pub rows: Option<Rows>,
    pub seen: Seen,
    /// Rows that were written, where it was a change.
    pub affected: Option<u64>,
    /// Where its instruction was sent, where it was one.
    pub routed: Option<Routed>,
}

/// What policy has found out about an approved statement, whatever came of it then.
#[derive(Debug, Default)]
pub struct Seen {
    /// Whether personal fields may be among what it reads.
    pub personal: bool,
    /// The fields that its columns are, where a model wrote it.
    pub labels: Vec<Option<String>>,
}

/// A request on its way.
pub struct Walk {
    pub watch: Arc<Watch>,
    task: JoinHandle<Result<Arc<Reply>, Fault>>,
}

impl Walk {
    pub async fn reply(self) -> Result<Arc<Reply>, Fault> {
        self.task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a request's task ended early");
            Err(Fault::internal("path.task"))
        })
    }
}

/// What a walk comes to, if nothing ends it before.
struct Done {
    outcome: Outcome,
    why_nothing: Option<String>,
    /// Kept until the run is on record: however large results are, one actor has but a few on their way.
    turn: Option<Turn>,
}

/// What ends a walk before it has rows.
pub(crate) enum Stop {
    Fault(Fault),
    Clarify(Clarification),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl House {
    /// Sends a request on its way.
    pub fn start(self: &Arc<Self>, caller: Caller, ask: Ask) -> Walk {
        let watch = Watch::new(&caller);
        self.active.insert(watch.clone());
        let (house, told) = (self.clone(), watch.clone());
        let task = self.tasks.spawn(async move {
            // A panic of ours ends the request as a fault of ours, not as silence.
            let walked = AssertUnwindSafe(house.walk(&caller, &ask, &told)).catch_unwind().await;
            let reply = walked.unwrap_or_else(|_| Err(Fault::internal("path.panic"))).map(Arc::new);
            house.active.remove(told.run_id);
            told.tell(Event::Finished(reply.clone()));
            reply
        });
        Walk { watch, task }
    }

    /// The path itself. The record is written before anybody is told that it is done.
    async fn walk(self: &Arc<Self>, caller: &Caller, ask: &Ask, watch: &Watch) -> Result<Reply, Fault> {
        // Not even the refusal is recorded: what is left of the disk is for work that has begun.
        self.disk.admit()?;
        let mut run = begin(caller, ask, watch, self.policy().fingerprint());
        let mut seen = Seen::default();
        let end = tokio::select! {
            biased;
            // Dropping the steps kills the worker that they hold.
            () = watch.cancelled() => Ok(None),
            end = self.steps(caller, ask, watch, &mut run, &mut seen) => end.map(Some),
        };
        let (mut why, mut turn) = (None, None);
        let outcome = match end {
            Ok(Some(done)) => {
                (why, turn) = (done.why_nothing, done.turn);
                done.outcome
            }
            Ok(None) => Outcome::Cancelled,
            Err(Stop::Clarify(clarification)) => Outcome::Clarify(clarification),
            // Nothing was approved: nothing ran. What went wrong on our side is no refusal, though.
            Err(Stop::Fault(fault)) if run.compiled_sql.is_none() && !is_ours(&fault) => Outcome::Refused(fault),
            Err(Stop::Fault(fault)) => Outcome::Failed(fault),
        };
        let is_sent = matches!(outcome, Outcome::Sent);
        let mut reply = capsule::conclude(run, ask, outcome, seen).await?;
        reply.routed = watch.routed().cloned();
        if is_sent {
            // It was noted with its package, durably; the device's word ends it.
            return Ok(reply);
        }
        if let Some(why) = why {
            reply.run.assistant_message = format!("{} {why}", reply.run.assistant_message);
        }
        if let Err(fault) = self.record(&reply.run).await {
            return Err(if watch.has_begun() { self.owe(reply, fault) } else { fault });
        }
        drop(turn);
        Ok(reply)
    }

    async fn steps(
        self: &Arc<Self>,
        caller: &Caller,
        ask: &Ask,
        watch: &Watch,
        run: &mut Run,
        seen: &mut Seen,
    ) -> Result<Done, Stop> {
        watch.enter(Stage::Planning);
        if let (Wish::Question { text, history }, mind @ (Mind::Model { .. } | Mind::Cli(_))) =
            (&ask.wish, self.planning.mind())
        {
            let start = Instant::now();
            run.planner = Some(self.planning.name().to_owned());
            let told = self.ask_model(mind, caller, ask, (text, history), watch, run).await;
            run.timings.plan_ms = milliseconds(start);
            return Ok(Done { outcome: Outcome::Told(told?), why_nothing: None, turn: None });
        }
        let proposal = self.propose(caller, ask, watch, run).await?;
        watch.enter(Stage::Validating);
        if let Proposal::Script { device, script } = &proposal {
            watch.begin();
            self.send_script(caller, device, script, run).await?;
            return Ok(Done { outcome: Outcome::Sent, why_nothing: None, turn: None });
        }
        let approved = self.check_by(author(&ask.wish), caller, &proposal, run).await?;
        *seen = Seen { personal: approved.is_personal(), labels: approved.labels().to_vec() };
        watch.enter(Stage::Executing);
        if approved.change().is_some() {
            let (changed, turn) = self.make_change(caller, &approved, watch, run).await?;
            return Ok(Done { outcome: Outcome::Changed(changed), why_nothing: None, turn });
        }
        let (Executed { rows, .. }, turn) = self.execute(&approved, run).await?;
        let (mut turn, mut why_nothing) = (Some(turn), None);
        if let (Wish::Question { .. }, Proposal::Query { plan, .. }) = (&ask.wish, &proposal)
            && nothing::is_nothing(&rows)
        {
            // The counts that tell why need turns of their own.
            turn = None;
            why_nothing = self.why_nothing(caller, ask, plan).await;
        }
        Ok(Done { outcome: Outcome::Rows(rows), why_nothing, turn })
    }

    /// Plan: from a wish to a proposal.
    pub(crate) async fn propose(
        self: &Arc<Self>,
        caller: &Caller,
        ask: &Ask,
        watch: &Watch,
        run: &mut Run,
    ) -> Result<Proposal, Stop> {
        let proposal = match &ask.wish {
            Wish::Proposal(proposal) | Wish::Step { proposal, .. } => proposal.clone(),
            Wish::Question { .. } | Wish::Instruction { .. } => {
                let (start, mut cost) = (Instant::now(), Some(0.0));
                let planned = match &ask.wish {
                    Wish::Instruction { text, hints } => {
                        let instructed = self.instruct(caller, text, hints).await?;
                        watch.note_route(instructed.routed);
                        if let Some(spent) = instructed.spent {
                            cost = spent.cost_usd;
                        }
                        instructed.planned
                    }
                    Wish::Question { text, history } => {
                        self.plan_question(caller, ask.door, &ask.source, text, history).await
                    }
                    Wish::Proposal(_) | Wish::Step { .. } => Err(Fault::internal("path.wish")),
                };
                run.timings.plan_ms = milliseconds(start);
                run.planner = Some(self.planning.name().to_owned());
                run.cost_usd = cost;
                match planned? {
                    Planned::Proposal { proposal, reading } => {
                        run.reading = reading;
                        proposal
                    }
                    Planned::Clarify(clarification) => return Err(Stop::Clarify(clarification)),
                }
            }
        };
        // An instruction does not say where; its plan does.
        proposal.source().clone_into(&mut run.dataset_id);
        run.query_mode = Some(proposal.mode());
        run.proposal_hash = Some(proposal.hash());
        match &proposal {
            Proposal::Query { plan, .. } => run.plan_json = serde_json::to_value(plan).ok(),
            Proposal::Sql { text, .. } => run.sql_text = Some(text.clone()),
            Proposal::Scan { scan, .. } => run.plan_json = serde_json::to_value(scan).ok(),
            Proposal::Script { script, .. } => run.plan_json = serde_json::to_value(script).ok(),
            Proposal::Change { plan, .. } => run.plan_json = serde_json::to_value(plan).ok(),
        }
        Ok(proposal)
    }

    /// Check: from a proposal to what policy has approved.
    pub(crate) async fn check(&self, caller: &Caller, proposal: &Proposal, run: &mut Run) -> Result<Approved, Fault> {
        self.check_by(Author::Caller, caller, proposal, run).await
    }

    async fn check_by(
        &self,
        author: Author<'_>,
        caller: &Caller,
        proposal: &Proposal,
        run: &mut Run,
    ) -> Result<Approved, Fault> {
        let (dataset, _) = match proposal {
            Proposal::Change { source, .. } => self.source(caller, source).await?,
            _ => self.dataset(caller, proposal.source()).await?,
        };
        let schema = self.schema(dataset).await?;
        self.check_over_by(author, caller, (&dataset.source, &schema), proposal, run).await
    }

    /// The same over a source that is known already.
    pub(crate) async fn check_over(
        &self,
        caller: &Caller,
        over: (&Source, &SourceSchema),
        proposal: &Proposal,
        run: &mut Run,
    ) -> Result<Approved, Fault> {
        self.check_over_by(Author::Caller, caller, over, proposal, run).await
    }

    async fn check_over_by(
        &self,
        author: Author<'_>,
        caller: &Caller,
        (source, schema): (&Source, &SourceSchema),
        proposal: &Proposal,
        run: &mut Run,
    ) -> Result<Approved, Fault> {
        let start = Instant::now();
        let policy = self.policy();
        run.policy_fingerprint = policy.fingerprint().to_owned();
        let limits = self.limits(run);
        let approved = match proposal {
            Proposal::Sql { text, .. } if text.len() > LIGHT_BYTES => {
                let (caller, schema, proposal) = (caller.clone(), schema.clone(), proposal.clone());
                let (is_models, words) = match author {
                    Author::Caller => (false, None),
                    Author::Model { words } => (true, words.map(str::to_owned)),
                };
                aside(move || {
                    let author = if is_models { Author::Model { words: words.as_deref() } } else { Author::Caller };
                    policy.check_by(author, &caller, &schema, &proposal, &limits)
                })
                .await?
            }
            _ => policy.check_by(author, caller, schema, proposal, &limits),
        };
        run.timings.check_ms = milliseconds(start);
        let approved = approved?;
        if approved.change().is_some() && !source.is_writable() {
            let message = format!("the source of `{}` is only read", run.dataset_id);
            return Err(Fault::new(Kind::Forbidden, "source.read_only", message)
                .hint("whoever runs this server may mark it as `writable`"));
        }
        let (text, params) = approved.account();
        (run.compiled_sql, run.params) = (Some(text), params);
        run.contracts = approved.contracts().to_vec();
        run.filtered_by = approved.filtered_by().to_vec();
        Ok(approved)
    }

    /// The planner knows as many values as it wants, however few rows people are shown.
    fn limits(&self, run: &Run) -> Limits {
        let limits = self.config.limits;
        match run.purpose {
            _ if run.door == Door::Scan => self.config.scan.limits,
            Purpose::Index => Limits { rows: limits.rows.max(MOST_VALUES), ..limits },
            Purpose::Answer | Purpose::Step | Purpose::Describe | Purpose::Estimate => limits,
        }
    }

    /// Run: the only line of the house that gives a statement to an engine.
    async fn execute(&self, approved: &Approved, run: &mut Run) -> Result<(Executed, Turn), Fault> {
        let dataset = self.datasets.source(approved.source()).ok_or_else(|| Fault::internal("path.source"))?;
        self.note_sandbox(&dataset.source, run);
        let turn = self.turns.wait(&run.actor).await?;
        let start = Instant::now();
        let executed = self.engines.run(&dataset.source, approved, turn).await;
        run.timings.run_ms = milliseconds(start);
        let (executed, turn) = executed.inspect_err(|fault| self.note_change(dataset, fault))?;
        run.exec_time_ms = Some(executed.exec_ms);
        let version = versions::of_run(approved, executed.data_version.clone(), &executed.rows.ipc);
        run.dataset_version_hash = Some(version);
        Ok((executed, turn))
    }

    /// What holds the statement: nothing of ours, where it runs on another machine.
    pub(crate) fn note_sandbox(&self, source: &Source, run: &mut Run) {
        if !source.is_remote() {
            let sandbox = self.engines.sandbox();
            run.sandbox_tier = Some(sandbox.tier.to_string());
            run.unenforced.clone_from(&sandbox.unenforced);
        }
    }

    /// Record: required before the reply. A run that cannot be recorded did not happen for the caller.
    pub(crate) async fn record(&self, run: &Run) -> Result<(), Fault> {
        self.metrics.ran(run);
        self.audit_lines.recorded(run);
        if run.purpose == Purpose::Answer {
            log(run);
        }
        self.ledger.record(run).await.map_err(|error| {
            tracing::error!(%error, run_id = %run.run_id, "run cannot be recorded");
            Fault::from(error)
        })
    }
}

/// The author of what a wish proposes: a model, or the caller with whatever planner of ours.
fn author(wish: &Wish) -> Author<'_> {
    match wish {
        Wish::Step { words, .. } => Author::Model { words: words.as_deref() },
        Wish::Question { .. } | Wish::Instruction { .. } | Wish::Proposal(_) => Author::Caller,
    }
}

/// Whether the house failed, as opposed to saying no.
pub(crate) fn is_ours(fault: &Fault) -> bool {
    fault.kind.http_status() >= 500
}

pub(crate) fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
