//! Types that Arrow has no word for.
//!
//! DuckDB hands them out as something that cannot hold them: a UHUGEINT as a decimal that turns negative, a time with its
//! zone without the zone. Their values are sent as text instead, and so is a list or struct that has one inside.

use super::{bound, quoted};
use crate::protocol::Query;
use duckdb::core::{LogicalTypeHandle, LogicalTypeId};
use duckdb::{Connection, Statement, params_from_iter};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which columns are of such a type, if any is.
pub fn odd(statement: &Statement<'_>) -> Option<Vec<bool>> {
    // The crate panics where DuckDB does not know the type of a column yet.
    let is_odd = |i| catch_unwind(AssertUnwindSafe(|| holds_odd(&statement.column_logical_type(i)))).unwrap_or(false);
    let odd: Vec<bool> = (0..statement.column_count()).map(is_odd).collect();
    odd.contains(&true).then_some(odd)
}

fn holds_odd(kind: &LogicalTypeHandle) -> bool {
    matches!(kind.id(), LogicalTypeId::UHugeint | LogicalTypeId::TimeTZ)
        || (0..kind.num_children()).any(|i| holds_odd(&kind.child(i)))
}

/// The statement with those columns as text.
pub fn as_text(connection: &Connection, query: &Query, odd: &[bool]) -> duckdb::Result<String> {
    let mut nothing = connection.prepare(&format!("FROM ({}) LIMIT 0", query.sql))?;
    let schema = nothing.stream_arrow(params_from_iter(query.params.iter().map(bound)))?.get_schema();
    let (mut told, mut places) = (Vec::new(), Vec::new());
    for (i, (field, odd)) in schema.fields().iter().zip(odd).enumerate() {
        let name = quoted(field.name());
        told.push(if *odd { format!("CAST(c{i} AS VARCHAR) AS {name}") } else { format!("c{i} AS {name}") });
        places.push(format!("c{i}"));
    }
    Ok(format!("SELECT {} FROM ({}) AS r ({})", told.join(", "), query.sql, places.join(", ")))
}
