//! From a question to a proposal, by the planner in use.
//!
//! The offline planner needs to know the values that stand in the data. They are read through the
//! path like anything else, under the caller's own policy, and kept by what the caller may see and
//! the state of the data: two callers share an index only if they would read the same values.

use crate::config::PlannerChoice;
use crate::house::House;
use domain::plan::{Aggregate, AggregateFn, Direction, Expr, OrderItem, SelectItem};
use domain::{
    Ask, Caller, Clarification, Door, Fault, Kind, Proposal, Purpose, QueryPlan, SessionId, SourceSchema, Turn, Wish,
    sha256_hex,
};
use planner::offline::{self, ColumnValues, Context, Index, What};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Distinct values of one column that are worth knowing; a column with more is free text or a key.
pub const MOST_VALUES: u64 = 2_000;
/// Indexes kept at a time. Beyond it all are dropped, and those in use are built again.
const MOST_INDEXES: usize = 64;

pub struct Planning {
    name: &'static str,
    indexes: Mutex<HashMap<String, Arc<Index>>>,
}

/// A column of which the planner wants to know something.
struct Wanted {
    table: String,
    column: String,
    what: What,
}

pub enum Planned {
    Proposal { proposal: Proposal, reading: Option<String> },
    Clarify(Clarification),
}

impl Planning {
    /// There is one planner so far, so that the best one to be had is that one.
    pub fn new(choice: PlannerChoice) -> Self {
        let name = match choice {
            PlannerChoice::Auto | PlannerChoice::Offline => "offline",
        };
        Self { name, indexes: Mutex::default() }
    }

    /// The planner in use, as runs record it.
    pub fn name(&self) -> &'static str {
        self.name
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

    /// The index over what this caller sees, built on first use.
    async fn index(self: &Arc<Self>, caller: &Caller, door: Door, view: &SourceSchema) -> Result<Arc<Index>, Fault> {
        let key = index_key(caller, view, self.policy().fingerprint());
        if let Some(index) = self.planning.lock().get(&key) {
            return Ok(index.clone());
        }
        let mut values = Vec::new();
        let session = SessionId::new();
        for (table, column, what) in offline::wanted_values(view) {
            let wanted = Wanted { table, column, what };
            // A column that cannot be read as text or compared is one that questions cannot name values of.
            if let Some(found) = self.read_values(caller, door, view, &wanted, session).await? {
                values.push(found);
            }
        }
        let index = Arc::new(Index::new(view, &values));
        let mut indexes = self.planning.lock();
        if indexes.len() >= MOST_INDEXES {
            indexes.clear();
        }
        indexes.insert(key, index.clone());
        Ok(index)
    }

    async fn read_values(
        self: &Arc<Self>,
        caller: &Caller,
        door: Door,
        view: &SourceSchema,
        wanted: &Wanted,
        session: SessionId,
    ) -> Result<Option<ColumnValues>, Fault> {
        let plan = match wanted.what {
            What::Distinct => distinct(wanted),
            What::Range => range(wanted),
        };
        let proposal = Proposal::Query { source: view.source.clone(), plan: Box::new(plan) };
        let ask = Ask {
            door,
            purpose: Purpose::Index,
            source: view.source.clone(),
            wish: Wish::Proposal(proposal),
            session,
            thread: None,
        };
        let reply = self.start(caller.clone(), ask).reply().await?;
        let Some(rows) = &reply.rows else {
            return match &reply.run.error_json {
                Some(fault) if matches!(fault.kind, Kind::Invalid | Kind::Execution) => Ok(None),
                // A moment in which nothing can be read must not be taken for a source without values.
                Some(fault) => Err(fault.clone()),
                None => Err(Fault::internal("planner.values")),
            };
        };
        let cells = crate::rows::head(rows, usize::try_from(MOST_VALUES).unwrap_or(usize::MAX))?;
        Ok(Some(column_values(wanted, cells, rows.truncated)))
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
    if view.tables.iter().any(|t| t.filtered) {
        seen.push_str(&format!("\0{}\0{}\0{:?}", caller.actor, caller.role, caller.claims));
    }
    sha256_hex(seen.as_bytes())
}

fn distinct(wanted: &Wanted) -> QueryPlan {
    let mut plan = QueryPlan::over(&wanted.table);
    plan.distinct = true;
    plan.select.push(SelectItem { expr: Expr::field(&wanted.column), alias: None });
    plan.order_by.push(OrderItem { expr: Expr::field(&wanted.column), dir: Direction::Asc });
    plan.limit = Some(MOST_VALUES);
    plan
}

fn range(wanted: &Wanted) -> QueryPlan {
    let mut plan = QueryPlan::over(&wanted.table);
    for (function, name) in [(AggregateFn::Min, "least"), (AggregateFn::Max, "greatest")] {
        let of = Some(Box::new(Expr::field(&wanted.column)));
        plan.select.push(SelectItem { expr: Expr::Aggregate(Aggregate { function, of }), alias: Some(name.into()) });
    }
    plan
}

fn column_values(wanted: &Wanted, cells: Vec<Vec<serde_json::Value>>, truncated: bool) -> ColumnValues {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let mut found = ColumnValues {
        table: wanted.table.clone(),
        column: wanted.column.clone(),
        values: Vec::new(),
        complete: false,
        min: None,
        max: None,
    };
    match wanted.what {
        What::Distinct => {
            found.complete = !truncated && (cells.len() as u64) < MOST_VALUES;
            found.values = cells.iter().filter_map(|row| text(row.first()?)).collect();
        }
        What::Range => {
            let row = cells.first();
            found.min = row.and_then(|row| text(row.first()?));
            found.max = row.and_then(|row| text(row.get(1)?));
        }
    }
    found
}
