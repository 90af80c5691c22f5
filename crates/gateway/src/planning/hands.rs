//! The hands of a model: the tools of its door, bound to one caller and one question.

use super::masks::Masks;
use crate::active::{Stage, Watch};
use crate::house::House;
use crate::tools::{self, Bound, Called};
use domain::{Ask, Caller, Door, Fault, Kind, Purpose, Run, RunId, Status};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use planner::{Restorer, Tool, Tools};
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
}

impl<'a> Hands<'a> {
    pub fn new(house: &'a Arc<House>, caller: &'a Caller, ask: &'a Ask, watch: &'a Watch) -> Self {
        let bound = Bound { house, caller, door: ask.door, purpose: Purpose::Step, session: ask.session, thread: None };
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
        let (input, restored) = self.work().masks.unmask(input);
        self.watch.enter(Stage::Executing);
        let called = match self.bound.door {
            Door::Analyst => tools::call_sqlite(&self.bound, self.dataset, name, input).await,
            _ => tools::call(&self.bound, name, input).await,
        };
        let told = called.and_then(|called| self.told(called, restored));
        // What was put in the place of a placeholder must not come back in a message.
        told.map_err(|fault| if restored { untold(fault) } else { unlisted(fault) })
    }

    /// What the model is told of a call. Where personal values went in or may have come out, they are masked.
    fn told(&self, called: Called, restored: bool) -> Result<String, Fault> {
        let mask = match &called {
            Called::Ran(reply) => {
                self.note(&reply.run, reply.personal || restored);
                reply.personal || restored
            }
            // A record of before may hold what is masked today.
            Called::Recorded(_) => {
                self.work().personal = true;
                true
            }
            Called::Value(_) => false,
        };
        let text = called.brief(MOST_BYTES)?;
        match mask {
            true => self.work().masks.mask(text.get()),
            false => Ok(text.get().to_owned()),
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

/// That it failed, and by which rule, without the words of the statement.
fn untold(fault: Fault) -> Fault {
    let message = "the statement was refused; why is not told in its own words, since they hold personal values";
    Fault::new(fault.kind, fault.code, message)
        .hint("write placeholders as values in quotes only, and correct the rest")
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
