//! From a question to a proposal, by the planner in use.
//!
//! The offline planner needs to know the values that stand in the data. They are read through the
//! path like anything else, under the caller's own policy, and kept by what the caller may see and
//! the state of the data: two callers share an index only if they would read the same values.

mod cli;
mod hands;
mod instructions;
mod masks;
mod minds;
mod model;
mod recall;
mod shelf;
mod surfaces;
mod thoughts;
mod values;

use crate::config::Config;
use crate::house::{CannotOpen, House};
use domain::{Caller, Clarification, Door, Fault, Proposal, SourceSchema, Turn, sha256_hex};
use instructions::Instructions;
use planner::offline::{self, ColumnValues, Context, Explain, Index};
use shelf::Shelf;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use values::{Read, Rest};

pub use minds::Mind;
pub use recall::Recall;
pub use thoughts::Thought;
pub use values::MOST_VALUES;

/// Indexes kept at a time. Beyond it all are dropped, and those in use are built again.
const MOST_INDEXES: usize = 64;

pub struct Planning {
    mind: Mind,
    /// Why the planner that configuration asks for cannot be had.
    problem: Option<String>,
    indexes: Mutex<HashMap<String, Arc<Indexed>>>,
    instructions: Instructions,
}

/// An index, and what it still lacks.
struct Indexed {
    index: Arc<Index>,
    values: Vec<ColumnValues>,
    rest: Rest,
}

pub enum Planned {
    Proposal { proposal: Proposal, reading: Option<String> },
    Clarify(Clarification),
}

impl Planning {
    pub fn new(config: &Config) -> Self {
        let (mind, problem) = match Mind::of(config) {
            Ok(mind) => (mind, None),
            Err(problem) => (Mind::Offline, Some(problem)),
        };
        Self { mind, problem, indexes: Mutex::default(), instructions: Instructions::new(config) }
    }

    /// Whoever serves questions must have the planner that was asked for. Other commands need none.
    pub fn check(&self) -> Result<(), CannotOpen> {
        match &self.problem {
            Some(problem) => Err(CannotOpen(vec![problem.clone()])),
            None => Ok(()),
        }
    }

    pub fn mind(&self) -> &Mind {
        &self.mind
    }

    /// The planner in use, as runs record it.
    pub fn name(&self) -> &'static str {
        self.mind.name()
    }
}

impl House {
    pub async fn plan_question(
        self: &Arc<Self>,
        caller: &Caller,
        door: Door,
        dataset: &str,
        question: &str,
        history: &[Turn],
    ) -> Result<Planned, Fault> {
        let (_, view) = self.dataset(caller, dataset).await?;
        let index = self.index(caller, door, &view).await?;
        let question = question.to_owned();
        let history = history.to_vec();
        // Planning is pure computation: milliseconds, but not for the threads that serve everybody.
        let planned = tokio::task::spawn_blocking(move || {
            let context = Context { history: &history, today: jiff::Zoned::now().date() };
            offline::plan(&index, &question, &context)
        })
        .await
        .map_err(|_| Fault::internal("planner.panic"))?;
        let source = dataset.to_owned();
        match planned {
            offline::Planned::Plan { plan, reading, .. } => {
                Ok(Planned::Proposal { proposal: Proposal::Query { source, plan }, reading: Some(reading) })
            }
            offline::Planned::Sql { text } => {
                Ok(Planned::Proposal { proposal: Proposal::Sql { source, text }, reading: None })
            }
            offline::Planned::Clarify(clarification) => Ok(Planned::Clarify(clarification)),
            offline::Planned::Refuse(fault) => Err(fault),
        }
    }

    /// Why the offline planner reads a question as it does.
    pub async fn explain_question(
        self: &Arc<Self>,
        caller: &Caller,
        door: Door,
        dataset: &str,
        question: &str,
    ) -> Result<Explain, Fault> {
        let (_, view) = self.dataset(caller, dataset).await?;
        let index = self.index(caller, door, &view).await?;
        let context = Context { history: &[], today: jiff::Zoned::now().date() };
        Ok(offline::explain(&index, question, &context))
    }

    /// The index over what this caller sees, built on first use.
    async fn index(self: &Arc<Self>, caller: &Caller, door: Door, view: &SourceSchema) -> Result<Arc<Index>, Fault> {
        let key = index_key(caller, view, self.policy().fingerprint());
        let known = self.planning.lock().get(&key).cloned();
        let known = match known {
            Some(known) if known.rest != Rest::Later => return Ok(known.index.clone()),
            Some(unfinished) => unfinished.values.clone(),
            None => Vec::new(),
        };
        // What one actor sees of filtered rows is not written down.
        let shelf = (!is_filtered(view)).then(|| Shelf::new(&self.config.data));
        let Read { values, rest } = match shelf.as_ref().and_then(|shelf| shelf.take(&key)) {
            Some(values) => Read { values, rest: Rest::Nothing },
            None => {
                let read = self.read_values(caller, door, view, known).await?;
                if let Some(shelf) = shelf.filter(|_| read.rest == Rest::Nothing) {
                    shelf.put(&key, &read.values);
                }
                read
            }
        };
        let index = Index::new(view, &values);
        let index = Arc::new(if rest == Rest::Nothing { index } else { index.cut_short() });
        let mut indexes = self.planning.lock();
        if indexes.len() >= MOST_INDEXES {
            indexes.clear();
        }
        // Values are needed again only to go on from.
        let values = if rest == Rest::Later { values } else { Vec::new() };
        indexes.insert(key, Arc::new(Indexed { index: index.clone(), values, rest }));
        Ok(index)
    }

    /// Reads everything that the offline planner wants to know of a dataset, however long it takes: whoever measures answers
    /// must not measure how busy the machine is.
    pub async fn read_all_values(self: &Arc<Self>, caller: &Caller, door: Door, dataset: &str) -> Result<(), Fault> {
        let (_, view) = self.dataset(caller, dataset).await?;
        let key = index_key(caller, &view, self.policy().fingerprint());
        loop {
            self.index(caller, door, &view).await?;
            if self.planning.lock().get(&key).is_none_or(|known| known.rest != Rest::Later) {
                return Ok(());
            }
        }
    }
}

impl Planning {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Indexed>>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What decides which values are seen: policy, the visible schema, the data, and, where rows are
/// filtered, who it is that sees them.
fn index_key(caller: &Caller, view: &SourceSchema, policy: &str) -> String {
    let mut seen = format!("{policy}\0{}", serde_json::to_string(view).unwrap_or_default());
    if is_filtered(view) {
        seen.push_str(&format!("\0{}\0{}\0{:?}", caller.actor, caller.role, caller.claims));
    }
    sha256_hex(seen.as_bytes())
}

/// Whether another caller might see other rows.
fn is_filtered(view: &SourceSchema) -> bool {
    view.dialect.varies_by_caller() || view.tables.iter().any(|table| table.filtered)
}
