//! Conditions that no single row can meet: "in both 2009 and 2010", "over 1,500 and under 500",
//! "in 2009 but not in 2010".
//!
//! Where the conditions are of rows that belong to what is asked for, each becomes a set of its own
//! (see [`nest`](super::nest)). Where they are of the rows themselves, the plan is combined of one
//! plan for each side.

use super::catalog::{ColumnId, TableId};
use super::compile::Compiler;
use super::joins;
use super::query::{BoundFilter, BoundOrder, Item, Query, Side, Test, Trouble};
use super::shape::Shape;
use domain::QueryPlan;
use domain::Value;
use domain::plan::{Operator, SetOp, SetOperation};

/// One side of a combined plan and how it is combined with those before it.
pub(crate) struct Part {
    op: SetOp,
    query: Query,
}

/// Gives every condition its side; `Some` where the sides must be plans of their own.
pub(crate) fn split(
    compiler: &Compiler<'_>,
    query: &mut Query,
    shape: &Shape,
    root: TableId,
) -> Result<Option<Vec<Part>>, Trouble> {
    if query.filters.iter().any(|f| f.side == Side::Share) {
        // "the share of chat and phone": of either.
        for filter in &mut query.filters {
            if let Test::In { all, .. } = &mut filter.test {
                *all = false;
            }
        }
        return Ok(None);
    }
    let mut filters = Vec::new();
    let unique = shape.items.iter().all(|item| is_one_row(compiler, item, query));
    for filter in &query.filters {
        let behind = is_behind(compiler, root, filter.table)?;
        match &filter.test {
            // "in Germany and France" of what has one country: either.
            Test::In { all: true, .. } if unique && !behind => {
                let mut filter = filter.clone();
                if let Test::In { all, .. } = &mut filter.test {
                    *all = false;
                }
                filters.push(filter);
            }
            Test::In { all: true, values, .. } => {
                for (at, value) in values.iter().enumerate() {
                    let test = Test::In { values: vec![value.clone()], negated: false, all: false };
                    filters.push(BoundFilter { test, side: Side::Part(at), ..filter.clone() });
                }
            }
            _ => filters.push(filter.clone()),
        }
    }
    mark(&mut filters);
    query.filters = filters;
    let sided: Vec<&BoundFilter> = query.filters.iter().filter(|f| f.side != Side::Common).collect();
    if sided.is_empty() {
        if query.both {
            return Err(Trouble::Unsupported("this use of \"both\""));
        }
        return Ok(None);
    }
    let all_behind = sided.iter().map(|f| is_behind(compiler, root, f.table)).collect::<Result<Vec<_>, _>>()?;
    if unique && all_behind.iter().all(|b| *b) {
        return Ok(None);
    }
    let of_answer = |o: &BoundOrder| matches!(o.by, super::query::BoundBy::Shown);
    let plain = shape.items.iter().all(|i| matches!(i, Item::Column(_))) && !shape.grouped;
    let only_except = sided.iter().all(|f| f.side == Side::Except);
    if !plain || unique && !only_except || query.limit.is_some() || !query.orders.iter().all(of_answer) {
        return Err(Trouble::Unsupported("conditions that no single row can meet"));
    }
    Ok(Some(parts(query)))
}

/// The plan of all sides.
pub(crate) fn combine(compiler: &Compiler<'_>, parts: Vec<Part>) -> Result<QueryPlan, Trouble> {
    let mut combined: Option<(SetOp, QueryPlan)> = None;
    for mut part in parts.into_iter().rev() {
        let mut plan = compiler.single(&mut part.query)?;
        plan.distinct = false;
        if let Some((op, behind)) = combined.take() {
            plan.set = Some(Box::new(SetOperation { op, all: false, plan: behind }));
        }
        combined = Some((part.op, plan));
    }
    combined.map(|(_, plan)| plan).ok_or(Trouble::NothingAsked)
}

fn parts(query: &Query) -> Vec<Part> {
    let mut sides: Vec<Side> = Vec::new();
    for filter in &query.filters {
        if filter.side != Side::Common && !sides.contains(&filter.side) {
            sides.push(filter.side);
        }
    }
    if sides.iter().all(|s| *s == Side::Except) {
        sides.insert(0, Side::Common);
    }
    let part = |side: &Side| {
        let mut query = query.clone();
        query.filters.retain(|f| f.side == *side || f.side == Side::Common);
        // What is left out is left out of everything, not only of what else fits.
        if *side == Side::Except {
            query.filters.retain(|f| f.side == Side::Except);
        }
        query.filters.iter_mut().for_each(|f| f.side = Side::Common);
        Part { op: if *side == Side::Except { SetOp::Except } else { SetOp::Intersect }, query }
    };
    sides.iter().map(part).collect()
}

/// Where a condition rules out one before it, the two are about different rows: what stands before
/// both is common, what stands behind each belongs to it.
fn mark(filters: &mut [BoundFilter]) {
    if filters.iter().any(|f| f.side != Side::Common) {
        return;
    }
    let clash = (0..filters.len())
        .find_map(|later| (0..later).find(|at| rule_out(filters.get(*at), filters.get(later))).map(|at| (at, later)));
    if let Some((first, second)) = clash {
        for (at, filter) in filters.iter_mut().enumerate().skip(first) {
            filter.side = Side::Part(usize::from(at >= second));
        }
    }
}

/// Whether two conditions can't both hold of one row.
fn rule_out(a: Option<&BoundFilter>, b: Option<&BoundFilter>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    if a.column.is_none() || a.column != b.column {
        return false;
    }
    match (&a.test, &b.test) {
        (Test::In { values: x, negated: false, .. }, Test::In { values: y, negated: false, .. }) => {
            !x.iter().any(|v| y.contains(v))
        }
        (Test::Time(x), Test::Time(y)) => {
            let ends_before = |x: &super::time::Range, y: &super::time::Range| matches!((x.to, y.from), (Some(to), Some(from)) if to <= from);
            ends_before(x, y) || ends_before(y, x)
        }
        (Test::Compare(_, x, low), Test::Compare(_, y, high)) => {
            apart((*x, low), (*y, high)) || apart((*y, high), (*x, low))
        }
        _ => false,
    }
}

/// "over 1,500" and "under 500", in this order.
fn apart((above, low): (Operator, &[Value]), (below, high): (Operator, &[Value])) -> bool {
    let number = |values: &[Value]| match values {
        [Value::Int(n)] => Some(*n as f64),
        [Value::Float(n)] => Some(*n),
        _ => None,
    };
    let upward = matches!(above, Operator::Greater | Operator::GreaterOrEqual);
    let downward = matches!(below, Operator::Less | Operator::LessOrEqual);
    let equal = above == Operator::Equal && below == Operator::Equal;
    match (number(low), number(high)) {
        (Some(low), Some(high)) => (upward && downward && low >= high) || (equal && low != high),
        _ => false,
    }
}

/// Whether an item tells one row of the answer from all others.
fn is_one_row(compiler: &Compiler<'_>, item: &Item, query: &Query) -> bool {
    let catalog = compiler.catalog;
    match item {
        Item::Column(column) => {
            let info = catalog.column(*column);
            let table = catalog.table(info.table);
            let names = |c: &ColumnId| table.key == Some(*c) || table.display.contains(c);
            let beside = |i: &Item| matches!(i, Item::Column(c) if catalog.column(*c).table == info.table && names(c));
            names(column) || query.items.iter().any(beside) || query.subject == Some(info.table) && info.is_measure()
        }
        _ => true,
    }
}

/// Whether rows of a table are met several times from the root.
fn is_behind(compiler: &Compiler<'_>, root: TableId, table: TableId) -> Result<bool, Trouble> {
    let steps = joins::tree(compiler.catalog, root, &[table], compiler.hints)?;
    Ok(steps.iter().any(joins::Step::fans_out))
}
