//! Figures that say how others relate: a share, a change between periods, so much per unit.
//!
//! Each is an aggregate of the rows that meet a condition against another aggregate of the same
//! rows, so that one pass over them gives both.

use super::compile::{Compiler, aggregate, and};
use super::conditions::within;
use super::draft::Thing;
use super::output::{Output, expr};
use super::query::{BoundKey, BoundRelation, Query, Side, Trouble};
use domain::plan::{Aggregate, AggregateFn, Arithmetic, ArithmeticOp, Case, CaseWhen, Condition, Expr, SelectItem};
use domain::{QueryPlan, Value};

/// Puts the relation in the place of the figure that is selected.
pub(crate) fn apply(
    compiler: &Compiler<'_>,
    query: &Query,
    relation: &BoundRelation,
    plan: &QueryPlan,
    output: &mut Output<'_>,
) -> Result<(), Trouble> {
    let figures = output.select.iter().filter(|s| matches!(s.expr, Expr::Aggregate(_))).count();
    let Some(at) = output.select.iter().position(|s| matches!(s.expr, Expr::Aggregate(_))).filter(|_| figures == 1)
    else {
        return Err(Trouble::Unsupported("setting several figures in relation at once"));
    };
    let Some(SelectItem { expr: Expr::Aggregate(whole), alias }) = output.select.get(at).cloned() else {
        return Err(Trouble::NothingAsked);
    };
    let (expr, ending) = match relation {
        BoundRelation::Share => (share(compiler, query, &whole, plan, output)?, "percent"),
        // Rows that merely must have some in the period are not of one period or the other.
        BoundRelation::Change { column, .. } if !output.reads(output.names.catalog.column(*column).table) => {
            return Err(Trouble::Unsupported("a change between periods that other rows are in"));
        }
        BoundRelation::Change { column, from, to, percent } => {
            let before = only(&whole, within(output.names, *column, *from)?);
            let after = only(&whole, within(output.names, *column, *to)?);
            let change = arithmetic(ArithmeticOp::Subtract, after, before.clone());
            if *percent { (percent_of(change, before), "change_percent") } else { (change, "change") }
        }
        BoundRelation::Per(thing) => (per(query, *thing, whole, output)?, "per_unit"),
        // What changes from row to row is written when the rows are.
        BoundRelation::Steps(_) => return Ok(()),
    };
    if let Some(item) = output.select.get_mut(at) {
        *item = SelectItem { expr, alias: alias.map(|name| format!("{name}_{ending}")) };
    }
    Ok(())
}

/// What the conditions of the part leave, or each group, in percent of everything.
fn share(
    compiler: &Compiler<'_>,
    query: &Query,
    whole: &Aggregate,
    plan: &QueryPlan,
    output: &Output<'_>,
) -> Result<Expr, Trouble> {
    if !matches!(whole.function, AggregateFn::Sum | AggregateFn::Count | AggregateFn::CountDistinct) {
        return Err(Trouble::Unsupported("a share of what does not add up"));
    }
    let part = query.filters.iter().filter(|f| f.side == Side::Share);
    let part = part.map(|f| compiler.condition(f, output.names)).collect::<Result<Vec<_>, _>>()?;
    if let Some(part) = and(part) {
        return Ok(percent_of(only(whole, part), Expr::Aggregate(whole.clone())));
    }
    if query.keys.is_empty() {
        return Err(Trouble::Unsupported("a share without a part"));
    }
    let total = QueryPlan {
        select: vec![SelectItem { expr: Expr::Aggregate(whole.clone()), alias: Some("total".to_owned()) }],
        group_by: Vec::new(),
        ..plan.clone()
    };
    Ok(percent_of(Expr::Aggregate(whole.clone()), Expr::Plan(Box::new(total))))
}

/// Each group must be of one row of the other table, or else its measure would be counted again and again.
fn per(query: &Query, unit: Thing, whole: Aggregate, output: &Output<'_>) -> Result<Expr, Trouble> {
    let table = unit.table(output.names.catalog);
    let divisor = if output.is_root(table) {
        output.aggregate(AggregateFn::Sum, unit)?
    } else if query.keys.contains(&BoundKey::Entity(table)) {
        aggregate(AggregateFn::Max, Some(expr(output.names, unit)))
    } else {
        return Err(Trouble::Unsupported("a measure per unit of rows that take part more than once"));
    };
    Ok(arithmetic(ArithmeticOp::Divide, Expr::Aggregate(whole), divisor))
}

/// The aggregate over the rows that meet a condition.
fn only(whole: &Aggregate, condition: Condition) -> Expr {
    let (function, then, otherwise) = match (whole.function, &whole.of) {
        (AggregateFn::Count, None) => (AggregateFn::Sum, Expr::value(Value::Int(1)), Some(Value::Int(0))),
        (AggregateFn::Sum, Some(of)) => (AggregateFn::Sum, (**of).clone(), Some(Value::Int(0))),
        (function, of) => (function, of.as_deref().cloned().unwrap_or(Expr::value(Value::Int(1))), None),
    };
    let otherwise = otherwise.map(|value| Box::new(Expr::Value(value)));
    aggregate(function, Some(Expr::Case(Case { when: vec![CaseWhen { condition, then }], otherwise })))
}

fn percent_of(part: Expr, whole: Expr) -> Expr {
    let share = arithmetic(ArithmeticOp::Divide, part, whole);
    arithmetic(ArithmeticOp::Multiply, Expr::Value(Value::Float(100.0)), share)
}

fn arithmetic(op: ArithmeticOp, left: Expr, right: Expr) -> Expr {
    Expr::Arithmetic(Arithmetic { op, left: Box::new(left), right: Box::new(right) })
}
