//! The values that stand in the data, read as any other rows are: through the path, as the caller.

use crate::house::House;
use domain::plan::{Aggregate, AggregateFn, Direction, Expr, OrderItem, SelectItem};
use domain::{Ask, Caller, Door, Fault, Kind, Proposal, Purpose, QueryPlan, SessionId, SourceSchema, Wish};
use planner::offline::{self, ColumnValues, What};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Distinct values of one column that are worth knowing; a column with more is free text or a key.
pub const MOST_VALUES: u64 = 2_000;
/// A question waits no longer than this for values; the next one goes on where it stopped.
const MOST_TIME: Duration = Duration::from_secs(15);
/// They take no more memory than this: what is left out is found by its column's name only.
const MOST_BYTES: usize = 16 << 20;

/// One statement's worth of what the planner wants to know.
#[derive(Clone)]
struct Wanted {
    table: String,
    /// Several only for ranges, which one pass over a table gives.
    columns: Vec<String>,
    what: What,
}

/// What could be read.
pub struct Read {
    pub values: Vec<ColumnValues>,
    pub rest: Rest,
}

/// What could not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    Nothing,
    /// Time was up: there is more to read.
    Later,
    /// Memory was full: there is more, and it is left out.
    Never,
}

impl House {
    /// Reads what is not among the known values.
    pub async fn read_values(
        self: &Arc<Self>,
        caller: &Caller,
        door: Door,
        view: &SourceSchema,
        known: Vec<ColumnValues>,
    ) -> Result<Read, Fault> {
        let (start, session) = (Instant::now(), SessionId::new());
        let size = |values: &[ColumnValues]| values.iter().flat_map(|v| &v.values).map(String::len).sum::<usize>();
        let left = statements(view, &known);
        let mut values = known;
        for wanted in left {
            let full = size(&values) > MOST_BYTES;
            if full || start.elapsed() > MOST_TIME {
                tracing::warn!(
                    source = view.source,
                    table = wanted.table,
                    "values are left out of the planner's index"
                );
                return Ok(Read { values, rest: if full { Rest::Never } else { Rest::Later } });
            }
            values.extend(self.read_columns(caller, door, view, &wanted, session).await?);
        }
        Ok(Read { values, rest: Rest::Nothing })
    }

    /// What a statement gives. Where one column spoils it for the others, each is read by itself; a column that cannot be read
    /// as text or compared is one that questions cannot name values of.
    async fn read_columns(
        self: &Arc<Self>,
        caller: &Caller,
        door: Door,
        view: &SourceSchema,
        wanted: &Wanted,
        session: SessionId,
    ) -> Result<Vec<ColumnValues>, Fault> {
        if let Some(found) = self.read_statement(caller, door, view, wanted, session).await? {
            return Ok(found);
        }
        let mut all = Vec::new();
        for column in wanted.columns.iter().filter(|_| wanted.columns.len() > 1) {
            let alone = Wanted { columns: vec![column.clone()], ..wanted.clone() };
            all.extend(self.read_statement(caller, door, view, &alone, session).await?.unwrap_or_default());
        }
        Ok(all)
    }

    async fn read_statement(
        self: &Arc<Self>,
        caller: &Caller,
        door: Door,
        view: &SourceSchema,
        wanted: &Wanted,
        session: SessionId,
    ) -> Result<Option<Vec<ColumnValues>>, Fault> {
        let plan = match wanted.what {
            What::Distinct => distinct(wanted),
            What::Range => ranges(wanted),
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
        Ok(Some(found(wanted, &cells, rows.truncated)))
    }
}

/// As few statements as give everything that is wanted and not known yet.
fn statements(view: &SourceSchema, known: &[ColumnValues]) -> Vec<Wanted> {
    let mut all: Vec<Wanted> = Vec::new();
    for (table, column, what) in offline::wanted_values(view) {
        if known.iter().any(|v| v.table == table && v.column == column) {
            continue;
        }
        match all.iter_mut().find(|w| w.what == What::Range && what == What::Range && w.table == table) {
            Some(wanted) => wanted.columns.push(column),
            None => all.push(Wanted { table, columns: vec![column], what }),
        }
    }
    all
}

fn distinct(wanted: &Wanted) -> QueryPlan {
    let mut plan = QueryPlan::over(&wanted.table);
    plan.distinct = true;
    for column in &wanted.columns {
        plan.select.push(SelectItem { expr: Expr::field(column), alias: Some("value".into()) });
        plan.order_by.push(OrderItem { expr: Expr::field("value"), dir: Direction::Asc });
    }
    plan.limit = Some(MOST_VALUES);
    plan
}

/// The two ends of each column, side by side.
fn ranges(wanted: &Wanted) -> QueryPlan {
    let mut plan = QueryPlan::over(&wanted.table);
    for (at, column) in wanted.columns.iter().enumerate() {
        for (function, name) in [(AggregateFn::Min, "least"), (AggregateFn::Max, "greatest")] {
            let of = Some(Box::new(Expr::field(column)));
            let alias = Some(format!("{name}_{at}"));
            plan.select.push(SelectItem { expr: Expr::Aggregate(Aggregate { function, of }), alias });
        }
    }
    plan
}

fn found(wanted: &Wanted, cells: &[Vec<serde_json::Value>], truncated: bool) -> Vec<ColumnValues> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let of = |(at, column): (usize, &String)| {
        let end = |place: usize| cells.first().and_then(|row| text(row.get(2 * at + place)?));
        let bare = ColumnValues { table: wanted.table.clone(), column: column.clone(), ..ColumnValues::default() };
        match wanted.what {
            What::Distinct => ColumnValues {
                complete: !truncated && (cells.len() as u64) < MOST_VALUES,
                values: cells.iter().filter_map(|row| text(row.first()?)).collect(),
                ..bare
            },
            What::Range => ColumnValues { min: end(0), max: end(1), ..bare },
        }
    };
    wanted.columns.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Column, Dialect, FieldType, Table};
    use serde_json::json;

    fn view() -> SourceSchema {
        let columns = [("name", FieldType::String), ("opened_on", FieldType::Date), ("closed_on", FieldType::Date)];
        let columns = columns.map(|(name, kind)| Column::new(name, kind)).to_vec();
        let tables = vec![Table { name: "cases".into(), columns, ..Table::default() }];
        SourceSchema { source: "crm".into(), dialect: Dialect::Sqlite, tables, data_version: "1".into() }
    }

    #[test]
    fn ranges_of_a_table_are_read_in_one_pass() {
        let columns = |known: &[ColumnValues]| -> Vec<Vec<String>> {
            statements(&view(), known).into_iter().map(|w| w.columns).collect()
        };
        assert_eq!(columns(&[]), [vec!["name"], vec!["opened_on", "closed_on"]]);
        let known = ColumnValues { table: "cases".into(), column: "name".into(), ..ColumnValues::default() };
        assert_eq!(columns(&[known]), [vec!["opened_on", "closed_on"]], "what is known is not read again");
    }

    #[test]
    fn each_column_gets_its_own_cells() {
        let wanted =
            Wanted { table: "cases".into(), columns: vec!["opened_on".into(), "closed_on".into()], what: What::Range };
        let cells = [vec![json!("2024-01-01"), json!("2024-02-01"), json!(null), json!("2024-03-01")]];
        let ends: Vec<_> = found(&wanted, &cells, false).into_iter().map(|v| (v.min, v.max)).collect();
        let day = |text: &str| Some(text.to_owned());
        assert_eq!(ends, [(day("2024-01-01"), day("2024-02-01")), (None, day("2024-03-01"))]);
    }
}
