//! The best of each group: "the cheapest product in each category", "who sold most in each region".
//!
//! The plan is first written as if there were one group, with its order and limit. Then the order
//! becomes a condition: the measure is the best one among the rows (or groups) with the same keys.

use super::catalog::Catalog;
use super::compile::{Compiler, aggregate, and};
use super::query::{BoundBy, BoundKey, Item, Query, Trouble};
use domain::QueryPlan;
use domain::plan::{
    Aggregate, AggregateFn, Arithmetic, Case, CaseWhen, Condition, DateTrunc, Direction, Expr, Extract, Operand,
    Operator, OrderItem, SelectItem, Test,
};

/// Whether one row is asked for of each group.
pub(crate) fn is_asked(catalog: &Catalog, query: &Query) -> bool {
    query.limit == Some(1) && is_of_each(catalog, query)
}

/// Whether a ranking is asked for within each group.
pub(crate) fn is_of_each(catalog: &Catalog, query: &Query) -> bool {
    // "the most common status of each city": a city has only one.
    let of_key = |item: &Item| match item {
        Item::Column(c) => query.keys.contains(&BoundKey::Entity(catalog.column(*c).table)),
        Item::Entity(t, _) | Item::Whole(t) => query.keys.contains(&BoundKey::Entity(*t)),
        _ => false,
    };
    if !query.each || query.items.iter().any(of_key) {
        return false;
    }
    let ranked = matches!(query.orders.as_slice(), [only] if !matches!(only.by, BoundBy::Shown | BoundBy::Figure));
    let listed = !query.items.is_empty() && !query.items.iter().any(Item::is_aggregate);
    ranked && listed && !query.keys.is_empty() && query.offset.is_none()
}

pub(crate) fn plan(compiler: &Compiler<'_>, query: &mut Query) -> Result<QueryPlan, Trouble> {
    let mut flat = query.clone();
    let mut items = Vec::new();
    for key in std::mem::take(&mut flat.keys) {
        items.push(match key {
            BoundKey::Column(column) => Item::Column(column),
            BoundKey::Entity(table) => Item::Entity(table, true),
            BoundKey::Bucket(..) => return Err(Trouble::Unsupported("the best of each period")),
        });
    }
    let keys = items.len();
    let own = flat.items.iter().filter(|i| !items.contains(i)).cloned().collect::<Vec<_>>();
    items.extend(own);
    flat.items = items;
    flat.orders.iter_mut().for_each(|o| o.shown = false);
    let mut plan = compiler.single(&mut flat)?;
    query.notes = flat.notes;
    let Some(OrderItem { expr: measure, dir }) = plan.order_by.first().cloned() else {
        return Err(Trouble::NothingAsked);
    };
    let keys: Vec<Expr> = plan.select.iter().take(keys).map(|s| s.expr.clone()).collect();
    plan.limit = None;
    plan.order_by = keys.iter().map(|key| OrderItem { expr: key.clone(), dir: Direction::Asc }).collect();
    limit_to_best(&mut plan, &keys, &measure, dir)?;
    Ok(plan)
}

/// Adds the condition that the measure is the best of those with the same keys.
fn limit_to_best(plan: &mut QueryPlan, keys: &[Expr], measure: &Expr, dir: Direction) -> Result<(), Trouble> {
    let grouped = !plan.group_by.is_empty();
    let mut inner = plan.clone();
    let outer = qualified(plan);
    inner.distinct = false;
    inner.order_by = Vec::new();
    inner.select = vec![SelectItem { expr: measure.clone(), alias: Some("best".to_owned()) }];
    if grouped {
        inner.order_by = vec![OrderItem { expr: Expr::field("best"), dir }];
        inner.limit = Some(1);
    } else {
        let end = if dir == Direction::Desc { AggregateFn::Max } else { AggregateFn::Min };
        inner.select = vec![SelectItem { expr: aggregate(end, Some(measure.clone())), alias: Some("best".to_owned()) }];
    }
    let names: Vec<(String, String)> = keys
        .iter()
        .map(|key| match outer(key) {
            Expr::Field(name) => name.split_once('.').map(|(t, c)| (t.to_owned(), c.to_owned())),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()
        .ok_or(Trouble::Unsupported("the best of each group of this kind"))?;
    tell_apart(&mut inner, &names);
    let right = Operand::Plan(Box::new(inner));
    let test = Condition::Test(Test { left: measure.clone(), op: Operator::Equal, right });
    let place = if grouped { &mut plan.having } else { &mut plan.filter };
    *place = and(place.take().into_iter().chain([test]).collect());
    Ok(())
}

/// How an expression of a plan is written with the names of its tables.
fn qualified(plan: &QueryPlan) -> impl Fn(&Expr) -> Expr + use<> {
    let root = plan.joins.is_empty().then(|| plan.from.name().to_owned());
    move |e: &Expr| match &root {
        Some(root) => renamed(e, &|name| format!("{root}.{name}")),
        None => e.clone(),
    }
}

/// Gives the tables of an inner plan names of their own, and ties the given columns to those of the
/// same tables in the plan around it.
pub(crate) fn tell_apart(plan: &mut QueryPlan, keys: &[(String, String)]) {
    const OTHER: &str = "other_";
    let alone = plan.joins.is_empty();
    let root = plan.from.name().to_owned();
    let rename = |name: &str| if alone { format!("{OTHER}{root}.{name}") } else { format!("{OTHER}{name}") };
    let alias = |name: &str| Some(format!("{OTHER}{name}"));
    plan.from.alias = alias(plan.from.name());
    for join in &mut plan.joins {
        join.alias = alias(join.name());
        for on in &mut join.on {
            (on.left, on.right) = (format!("{OTHER}{}", on.left), format!("{OTHER}{}", on.right));
        }
    }
    let own = plan.select.iter().filter_map(|s| s.alias.clone()).collect::<Vec<_>>();
    for item in &mut plan.select {
        item.expr = renamed(&item.expr, &rename);
    }
    plan.group_by = plan.group_by.iter().map(|e| renamed(e, &rename)).collect();
    for order in &mut plan.order_by {
        let named = matches!(&order.expr, Expr::Field(name) if own.contains(name));
        if !named {
            order.expr = renamed(&order.expr, &rename);
        }
    }
    plan.having = plan.having.as_ref().map(|c| renamed_condition(c, &rename));
    let mut all: Vec<Condition> = plan.filter.iter().map(|c| renamed_condition(c, &rename)).collect();
    all.extend(keys.iter().map(|(table, column)| {
        let left = Expr::Field(format!("{OTHER}{table}.{column}"));
        Condition::Test(Test { left, op: Operator::Equal, right: Operand::Field(format!("{table}.{column}")) })
    }));
    plan.filter = and(all);
}

type Rename<'a> = &'a dyn Fn(&str) -> String;

/// An expression with other names for its fields. Plans in it speak of tables of their own.
fn renamed(expr: &Expr, rename: Rename<'_>) -> Expr {
    let boxed = |e: &Expr| Box::new(renamed(e, rename));
    match expr {
        Expr::Field(name) => Expr::Field(rename(name)),
        Expr::Value(_) | Expr::Plan(_) => expr.clone(),
        Expr::Aggregate(a) => Expr::Aggregate(Aggregate { function: a.function, of: a.of.as_deref().map(boxed) }),
        Expr::Arithmetic(a) => Expr::Arithmetic(Arithmetic { op: a.op, left: boxed(&a.left), right: boxed(&a.right) }),
        Expr::Number(of) => Expr::Number(boxed(of)),
        Expr::Moment(of) => Expr::Moment(boxed(of)),
        Expr::DateTrunc(t) => Expr::DateTrunc(DateTrunc { unit: t.unit, of: boxed(&t.of) }),
        Expr::Extract(e) => Expr::Extract(Extract { part: e.part, of: boxed(&e.of) }),
        Expr::Case(case) => {
            let when = |w: &CaseWhen| CaseWhen {
                condition: renamed_condition(&w.condition, rename),
                then: renamed(&w.then, rename),
            };
            let when = case.when.iter().map(when).collect();
            Expr::Case(Case { when, otherwise: case.otherwise.as_deref().map(boxed) })
        }
    }
}

fn renamed_condition(condition: &Condition, rename: Rename<'_>) -> Condition {
    let all = |of: &Vec<Condition>| of.iter().map(|c| renamed_condition(c, rename)).collect();
    match condition {
        Condition::And(of) => Condition::And(all(of)),
        Condition::Or(of) => Condition::Or(all(of)),
        Condition::Not(of) => Condition::Not(Box::new(renamed_condition(of, rename))),
        Condition::IsNull(e) => Condition::IsNull(renamed(e, rename)),
        Condition::IsNotNull(e) => Condition::IsNotNull(renamed(e, rename)),
        Condition::Exists(_) => condition.clone(),
        Condition::Test(test) => {
            let right = match &test.right {
                Operand::Field(name) => Operand::Field(rename(name)),
                Operand::Expr(e) => Operand::Expr(Box::new(renamed(e, rename))),
                other => other.clone(),
            };
            Condition::Test(Test { left: renamed(&test.left, rename), op: test.op, right })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_plan_gets_names_of_its_own_and_is_tied_to_the_outer_one() {
        let mut plan = QueryPlan::over("products");
        plan.select = vec![SelectItem { expr: Expr::field("price"), alias: None }];
        tell_apart(&mut plan, &[("products".to_owned(), "category".to_owned())]);
        assert_eq!(plan.from.name(), "other_products");
        assert_eq!(plan.select[0].expr, Expr::field("other_products.price"));
        let Some(Condition::Test(Test { left, right, .. })) = plan.filter else { panic!("no condition") };
        assert_eq!(left, Expr::field("other_products.category"));
        assert_eq!(right, Operand::Field("products.category".to_owned()));
    }
}
