//! Bound filters to conditions of a plan.

use super::best;
use super::catalog::{ColumnId, ColumnKind};
use super::compile::{Compiler, Joined, aggregate, and};
use super::draft::Thing;
use super::output::{Names, expr};
use super::query::{BoundFilter, Test, Trouble};
use super::time::Range;
use domain::plan::{AggregateFn, Condition, DatePart, Expr, Extract, Operand, Operator, SelectItem};
use domain::{QueryPlan, Value};
use jiff::civil::Date;

pub(crate) fn test(left: Expr, op: Operator, value: Value) -> Condition {
    Condition::Test(domain::plan::Test { left, op, right: Operand::Value(value) })
}

/// The condition of one filter over a table of this plan.
pub(crate) fn condition(
    compiler: &Compiler<'_>,
    filter: &BoundFilter,
    names: &Names<'_>,
) -> Result<Condition, Trouble> {
    let column = filter.column.ok_or(Trouble::Unsupported("this condition here"));
    Ok(match &filter.test {
        Test::Compare(thing, op, values) => compare(expr(names, *thing), *op, values)?,
        Test::Against(thing, op, function) => against(compiler, expr(names, *thing), *thing, *op, *function),
        Test::AgainstOwn(thing, op, function, column) => {
            let left = expr(names, *thing);
            let mut test = domain::plan::Test {
                left,
                op: *op,
                right: Operand::Plan(Box::new(scalar(compiler, *thing, *function))),
            };
            if let Operand::Plan(plan) = &mut test.right {
                best::tell_apart(
                    plan,
                    &[(
                        compiler.catalog.table(filter.table).name.clone(),
                        compiler.catalog.column(*column).name.clone(),
                    )],
                );
            }
            Condition::Test(test)
        }
        Test::In { values, negated, .. } => one_of(names.field(column?), values, *negated),
        Test::Text { pattern, like, negated } => {
            let op = if *like { Operator::ILike } else { Operator::Equal };
            let test = test(names.field(column?), op, Value::Text(pattern.clone()));
            if *negated { Condition::Not(Box::new(test)) } else { test }
        }
        Test::Time(range) => within(names, column?, *range)?,
        Test::Weekday(days) => weekday(names, column?, days),
        Test::Flag(value) => test(names.field(column?), Operator::Equal, Value::Bool(*value)),
        Test::Missing { present: true } => Condition::IsNotNull(names.field(column?)),
        Test::Missing { present: false } => Condition::IsNull(names.field(column?)),
        Test::Either(any) => {
            let any = any.iter().map(|f| condition(compiler, f, names)).collect::<Result<Vec<_>, _>>()?;
            Condition::Or(any)
        }
        Test::Having(..) | Test::HavingAgainst(..) | Test::HavingRows(..) | Test::Related(_) => {
            return Err(Trouble::Unsupported("this condition here"));
        }
    })
}

fn compare(left: Expr, op: Operator, values: &[Value]) -> Result<Condition, Trouble> {
    match values {
        [only] => Ok(test(left, op, only.clone())),
        [_, _] => {
            let right = Operand::List(values.to_vec());
            Ok(Condition::Test(domain::plan::Test { left, op: Operator::Between, right }))
        }
        _ => Err(Trouble::Unsupported("a comparison without a value")),
    }
}

/// "above average": a scalar subplan over all rows of the measure's table.
pub(crate) fn against(
    compiler: &Compiler<'_>,
    left: Expr,
    thing: Thing,
    op: Operator,
    function: AggregateFn,
) -> Condition {
    let right = Operand::Plan(Box::new(scalar(compiler, thing, function)));
    Condition::Test(domain::plan::Test { left, op, right })
}

/// An aggregate over all rows of the measure's table.
fn scalar(compiler: &Compiler<'_>, thing: Thing, function: AggregateFn) -> QueryPlan {
    let table = thing.table(compiler.catalog);
    let alone = Joined { root: table, steps: Vec::new() };
    let mut plan = compiler.from(&alone);
    let inner = Names::new(compiler.catalog, &alone);
    plan.select = vec![SelectItem { expr: aggregate(function, Some(expr(&inner, thing))), alias: None }];
    plan
}

fn one_of(left: Expr, values: &[String], negated: bool) -> Condition {
    match values {
        [only] => test(left, if negated { Operator::NotEqual } else { Operator::Equal }, Value::Text(only.clone())),
        many => {
            let list = many.iter().map(|v| Value::Text(v.clone())).collect();
            let op = if negated { Operator::NotIn } else { Operator::In };
            Condition::Test(domain::plan::Test { left, op, right: Operand::List(list) })
        }
    }
}

fn weekday(names: &Names<'_>, column: ColumnId, days: &[i64]) -> Condition {
    let part = Extract { part: DatePart::Weekday, of: Box::new(super::output::moment(names, column)) };
    let days = days.iter().map(|d| Value::Int(*d)).collect();
    let left = Expr::Extract(part);
    Condition::Test(domain::plan::Test { left, op: Operator::In, right: Operand::List(days) })
}

/// From the first day up to but without the day after the last: right for dates and timestamps alike.
pub(crate) fn within(names: &Names<'_>, column: ColumnId, range: Range) -> Result<Condition, Trouble> {
    let info = names.catalog.column(column);
    let bound = |date: Date| match (info.is_year, info.kind) {
        (true, ColumnKind::Number) => Value::Int(date.year().into()),
        (true, _) => Value::Text(date.year().to_string()),
        _ => Value::Text(date.to_string()),
    };
    let whole_years = |d: Option<Date>| d.is_none_or(|d| d.month() == 1 && d.day() == 1);
    if info.is_year && !(whole_years(range.from) && whole_years(range.to)) {
        return Err(Trouble::Unbound(format!("a day or month of `{}`", info.name)));
    }
    if let (true, Some(from), Some(to)) = (info.is_year, range.from, range.to)
        && to.year() == from.year() + 1
    {
        return Ok(test(names.field(column), Operator::Equal, bound(from)));
    }
    let from = range.from.map(|d| test(names.field(column), Operator::GreaterOrEqual, bound(d)));
    let to = range.to.map(|d| test(names.field(column), Operator::Less, bound(d)));
    and(from.into_iter().chain(to).collect()).ok_or(Trouble::Unsupported("a period without a bound"))
}
