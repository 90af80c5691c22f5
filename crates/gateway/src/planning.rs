//! From a question to a proposal, by the planner in use.
//!
//! The offline planner needs to know the values that stand in the data. They are read through the
//! path like anything else, under the caller's own policy, and kept by what the caller may see and
//! the state of the data: two callers share an index only if they would read the same values.

mod cli;
mod hands;
mod masks;
mod minds;
mod model;
mod shelf;
mod values;

use crate::config::Config;
use crate::house::{CannotOpen, House};
use domain::{Caller, Clarification, Door, Fault, Proposal, SourceSchema, Turn, sha256_hex};
use planner::offline::{self, Context, Explain, Index};
use shelf::Shelf;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use values::Read;

pub use minds::Mind;
pub use values::MOST_VALUES;

/// Indexes kept at a time. Beyond it all are dropped, and those in use are built again.
const MOST_INDEXES: usize = 64;

pub struct Planning {
    mind: Mind,
    /// Why the planner that configuration asks for cannot be had.
    problem: Option<String>,
    indexes: Mutex<HashMap<String, Arc<Index>>>,
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
        Self { mind, problem, indexes: Mutex::default() }
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
        if let Some(index) = self.planning.lock().get(&key) {
            return Ok(index.clone());
        }
        // What one actor sees of filtered rows is not written down.
        let shelf = (!is_filtered(view)).then(|| Shelf::new(&self.config.data));
        let values = match shelf.as_ref().and_then(|shelf| shelf.take(&key)) {
            Some(values) => values,
            None => {
                let Read { values, whole } = self.read_values(caller, door, view).await?;
                if let Some(shelf) = shelf.filter(|_| whole) {
                    shelf.put(&key, &values);
                }
                values
            }
        };
        let index = Arc::new(Index::new(view, &values));
        let mut indexes = self.planning.lock();
        if indexes.len() >= MOST_INDEXES {
            indexes.clear();
        }
        indexes.insert(key, index.clone());
        Ok(index)
    }
}

impl Planning {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Index>>> {
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
