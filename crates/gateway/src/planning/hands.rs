//! The hands of a model: the tools of its door, bound to one caller and one question.

use super::masks::Masks;
use crate::active::{Stage, Watch};
use crate::house::House;
use crate::path::Reply;
use crate::tools::{self, Bound, Called};
use domain::{Ask, Caller, Door, Fault, Kind, Purpose, Run, RunId, Status};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use planner::{Restorer, Shown, Tool, Tools};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a model is shown of one result, in whole rows: placeholders make it longer, and no caps of its own cut it then.
const MOST_BYTES: usize = 24 * 1024;

pub struct Hands<'a> {
    bound: Bound<'a>,
    dataset: &'a str,
    watch: &'a Watch,
    work: Mutex<Work>,
}

/// What the tools have done so far.
#[derive(Default)]
struct Work {
    masks: Masks,
    steps: Vec<RunId>,
    /// The last statement that gave rows.
    last: Option<Run>,
    filtered_by: BTreeSet<String>,
    personal: bool,
    /// Of the steps, those without personal fields.
    clear: BTreeSet<RunId>,
}

impl<'a> Hands<'a> {
    /// `words` are all that the user wrote.
    pub fn new(house: &'a Arc<House>, caller: &'a Caller, ask: &'a Ask, words: &'a str, watch: &'a Watch) -> Self {
        let (door, session, words) = (ask.door, ask.session, Some(words));
        let bound = Bound { house, caller, door, purpose: Purpose::Step, session, thread: None, words };
        Self { bound, dataset: &ask.source, watch, work: Mutex::default() }
    }

    /// The runs of the statements, and whether any of them may have read personal fields.
    pub fn steps(&self) -> (Vec<RunId>, bool) {
        let work = self.work();
        (work.steps.clone(), work.personal)
    }

    /// A text of the model's with the personal values that this caller may read.
    pub fn restore(&self, text: &str) -> String {
        self.work().masks.placeholders.restore(text)
    }

    pub fn restore_piece(&self, restorer: &mut Restorer, piece: &str) -> String {
        restorer.push(&self.work().masks.placeholders, piece)
    }

    pub fn restore_end(&self, restorer: Restorer) -> String {
        restorer.finish(&self.work().masks.placeholders)
    }

    /// The values that a text of the model's shows.
    pub fn shown_in(&self, text: &str) -> Vec<Shown> {
        self.work().masks.placeholders.named_in(text)
    }

    /// A text that the caller was shown before, as a model may read it.
    pub fn hide(&self, text: &str, shown: &[Shown]) -> String {
        self.work().masks.placeholders.hide(text, shown)
    }

    /// Makes the last result the one that the answer shows.
    pub fn show_last(&self, run: &mut Run) {
        let work = self.work();
        run.filtered_by = work.filtered_by.iter().cloned().collect();
        if let Some(last) = &work.last {
            show(run, last);
        }
    }

    /// Takes over statements that ran in another process.
    pub fn adopt(&self, runs: Vec<Run>) {
        runs.into_iter().for_each(|run| self.note(&run, false));
    }

    async fn call_tool(&self, name: &str, input: Value) -> Result<String, Fault> {
        if !self.work().masks.placeholders.named_in(&input.to_string()).is_empty() {
            return Err(self.bound.refuse(placeholder()).await);
        }
        self.watch.enter(Stage::Executing);
        let called = match self.bound.door {
            Door::Analyst => tools::call_sqlite(&self.bound, self.dataset, name, input).await,
            _ => tools::call(&self.bound, name, input).await,
        };
        called.and_then(|called| self.told(called)).map_err(unlisted)
    }

    /// What the model is told of a call. Of a statement that reads personal fields these are placeholders, or one and the
    /// same error; of a run that is none of this question's own, only how it ended.
    fn told(&self, called: Called) -> Result<String, Fault> {
        match &called {
            Called::Ran(reply) => {
                self.note(&reply.run, reply.seen.personal);
                if reply.seen.personal {
                    return self.told_personal(reply);
                }
            }
            Called::Recorded(run) if !self.work().clear.contains(&run.run_id) => return Ok(Called::status(run)),
            Called::Recorded(_) | Called::Value(_) => {}
        }
        called.brief(MOST_BYTES).map(|text| text.get().to_owned())
    }

    fn told_personal(&self, reply: &Reply) -> Result<String, Fault> {
        match &reply.run.error_json {
            Some(fault) if fault.kind.model_can_fix() => Err(failed(fault.kind)),
            Some(fault) => Err(fault.clone()),
            None if reply.run.status == Status::Succeeded => {
                self.work().masks.mask(&reply.run, &reply.seen.labels, MOST_BYTES)
            }
            None => Err(failed(Kind::Unavailable)),
        }
    }

    /// Writes down a statement that was sent down the path.
    fn note(&self, run: &Run, personal: bool) {
        let mut work = self.work();
        work.steps.push(run.run_id);
        if run.status == Status::Succeeded {
            work.last = Some(run.clone());
            work.filtered_by.extend(run.filtered_by.iter().cloned());
        }
        work.personal |= personal;
        if !personal {
            work.clear.insert(run.run_id);
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for Hands<'_> {
    fn list(&self) -> Vec<Tool> {
        let tools = match self.bound.door {
            Door::Analyst => tools::sqlite(),
            _ => tools::chat(),
        };
        let told = |tool: tools::Tool| Tool {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: tool.input_schema,
        };
        tools.into_iter().map(told).collect()
    }

    fn call<'c>(&'c self, name: &'c str, input: Value) -> BoxFuture<'c, Result<String, Fault>> {
        self.call_tool(name, input).boxed()
    }

    /// To the Analyst's clients a query that takes too long is an error of its own (spec 000 §4).
    fn ends_run(&self, fault: &Fault) -> bool {
        !fault.kind.model_can_fix() || self.bound.door == Door::Analyst && fault.kind == Kind::Timeout
    }
}

/// The columns that might have been meant may be personal ones.
fn unlisted(fault: Fault) -> Fault {
    if fault.code.ends_with(".unknown_column") { fault.hint("use the columns of the schema") } else { fault }
}

/// A statement that reads personal fields has failed. Why could tell something of their values.
fn failed(kind: Kind) -> Fault {
    let kind = if kind.model_can_fix() { Kind::Invalid } else { kind };
    let message = "the statement reads personal fields and could not be run; why is not told";
    Fault::new(kind, "model.personal_failed", message)
        .hint("leave the personal fields out, or write a simpler statement")
}

fn placeholder() -> Fault {
    let message = "a placeholder stands for a value in your answer, and may not stand in what you ask for";
    Fault::new(Kind::Invalid, "model.placeholder", message).hint(
        "read all that you need of a row in one statement; compare personal fields with values that the user wrote",
    )
}

/// Shows one run's result in another.
fn show(run: &mut Run, last: &Run) {
    run.dataset_id.clone_from(&last.dataset_id);
    run.dataset_version_hash.clone_from(&last.dataset_version_hash);
    run.query_mode = last.query_mode;
    run.plan_json.clone_from(&last.plan_json);
    run.sql_text.clone_from(&last.sql_text);
    run.compiled_sql.clone_from(&last.compiled_sql);
    run.params.clone_from(&last.params);
    run.proposal_hash.clone_from(&last.proposal_hash);
    run.contracts.clone_from(&last.contracts);
    run.result_json.clone_from(&last.result_json);
    run.exec_time_ms = last.exec_time_ms;
    run.timings.check_ms = last.timings.check_ms;
    run.timings.run_ms = last.timings.run_ms;
    run.sandbox_tier.clone_from(&last.sandbox_tier);
    run.unenforced.clone_from(&last.unenforced);
}
