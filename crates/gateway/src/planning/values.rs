//! The values that stand in the data, read as any other rows are: through the path, as the caller.

use crate::house::House;
use domain::plan::{Aggregate, AggregateFn, Direction, Expr, OrderItem, SelectItem};
use domain::{Ask, Caller, Door, Fault, Kind, Proposal, Purpose, QueryPlan, SessionId, SourceSchema, Wish};
use planner::offline::{self, ColumnValues, What};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Distinct values of one column that are worth knowing; a column with more is free text or a key.
pub const MOST_VALUES: u64 = 2_000;
/// A question waits no longer than this for values, and they take no more memory than this: what is left out is found by
/// its column's name only.
const MOST_TIME: Duration = Duration::from_secs(15);
const MOST_BYTES: usize = 16 << 20;

/// A column of which the planner wants to know something.
struct Wanted {
    table: String,
    column: String,
    what: What,
}

/// What could be read.
pub struct Read {
    pub values: Vec<ColumnValues>,
    /// Whether that is all: time and memory were enough.
    pub whole: bool,
}

impl House {
    pub async fn read_values(
        self: &Arc<Self>,
        caller: &Caller,
        door: Door,
        view: &SourceSchema,
    ) -> Result<Read, Fault> {
        let (start, session) = (Instant::now(), SessionId::new());
        let (mut values, mut bytes) = (Vec::new(), 0);
        for (table, column, what) in offline::wanted_values(view) {
            if start.elapsed() > MOST_TIME || bytes > MOST_BYTES {
                tracing::warn!(source = view.source, table, column, "values are left out of the planner's index");
                return Ok(Read { values, whole: false });
            }
            let wanted = Wanted { table, column, what };
            // A column that cannot be read as text or compared is one that questions cannot name values of.
            if let Some(found) = self.read_column(caller, door, view, &wanted, session).await? {
                bytes += found.values.iter().map(String::len).sum::<usize>();
                values.push(found);
            }
        }
        Ok(Read { values, whole: true })
    }

    async fn read_column(
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
