//! The first few of each group, and the first of each period: "the top 3 products in each category",
//! "the best-selling product of each month".
//!
//! Rows are listed with their keys and with what ranks them; the plan then keeps the first places of
//! each group. Rows that are equal share a place.

use super::best;
use super::catalog::{Catalog, ColumnId};
use super::compile::Compiler;
use super::draft::Thing;
use super::query::{BoundBy, BoundKey, Item, Query, Trouble};
use super::shape::shape;
use domain::QueryPlan;
use domain::plan::{Expr, LimitPer, SelectItem};

/// Whether several rows are asked for of each group, or any of each period.
pub(crate) fn is_asked(catalog: &Catalog, query: &Query) -> bool {
    let periods = query.keys.iter().any(|k| matches!(k, BoundKey::Bucket(..)));
    best::is_of_each(catalog, query) && query.limit.is_some_and(|k| k > 1 || periods)
}

pub(crate) fn plan(compiler: &Compiler<'_>, query: &mut Query) -> Result<QueryPlan, Trouble> {
    let k = query.limit.ok_or(Trouble::NothingAsked)?;
    query.listed = true;
    let mut flat = query.clone();
    flat.keys = told_apart(compiler.catalog, &flat.keys);
    flat.orders.iter_mut().for_each(|order| order.shown = true);
    show_measure(compiler.catalog, &mut flat)?;
    let keys = flat.keys.clone();
    let mut plan = compiler.single(&mut flat)?;
    plan.limit = None;
    // Rows that are equal share a place: nothing breaks ties.
    plan.order_by.truncate(flat.orders.len());
    // The reading says what the plan does.
    (query.orders, query.notes) = (flat.orders, flat.notes);
    let by = names(compiler.catalog, &plan, &keys).ok_or(Trouble::Unsupported("the first of groups of this kind"))?;
    let shown = |expr: &Expr| {
        let named = |s: &SelectItem| s.alias.as_deref().is_some_and(|alias| *expr == Expr::field(alias));
        plan.select.iter().any(|s| s.expr == *expr || named(s))
    };
    if plan.order_by.is_empty() || !plan.order_by.iter().all(|o| shown(&o.expr)) {
        return Err(Trouble::Unsupported("ranking within groups by something that is not shown"));
    }
    plan.limit_per = Some(LimitPer { by, k });
    Ok(plan)
}

/// What ranks single rows is shown beside them; what ranks groups is shown anyway.
fn show_measure(catalog: &Catalog, query: &mut Query) -> Result<(), Trouble> {
    if shape(catalog, query)?.grouped {
        return Ok(());
    }
    for order in &query.orders {
        match order.by {
            BoundBy::Thing(Thing::Column(column)) if !query.items.contains(&Item::Column(column)) => {
                query.items.push(Item::Column(column));
            }
            BoundBy::Thing(Thing::Product(..)) => {
                return Err(Trouble::Unsupported("ranking single rows by a product"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The keys, with what tells rows of one name apart shown before it.
pub(crate) fn told_apart(catalog: &Catalog, keys: &[BoundKey]) -> Vec<BoundKey> {
    let mut apart = Vec::new();
    for key in keys {
        if let BoundKey::Entity(table) = key {
            let info = catalog.table(*table);
            let own = info.key.filter(|key| !info.display.contains(key)).map(BoundKey::Column);
            apart.extend(own.filter(|own| !keys.contains(own)));
        }
        apart.push(key.clone());
    }
    apart
}

/// The names that the columns of keys have in an answer.
pub(crate) fn names(catalog: &Catalog, plan: &QueryPlan, keys: &[BoundKey]) -> Option<Vec<String>> {
    let named = |test: &dyn Fn(&Expr) -> bool| plan.select.iter().find(|s| test(&s.expr))?.alias.clone();
    let column = |c: &ColumnId| {
        let info = catalog.column(*c);
        let qualified = format!("{}.{}", catalog.table(info.table).name, info.name);
        named(&|e| matches!(e, Expr::Field(name) if *name == info.name || *name == qualified))
    };
    let mut found = Vec::new();
    for key in keys {
        match key {
            BoundKey::Column(c) => found.push(column(c)?),
            BoundKey::Entity(t) => {
                for c in &catalog.table(*t).display {
                    found.push(column(c)?);
                }
            }
            BoundKey::Bucket(unit, _) => {
                found.push(named(&|e| matches!(e, Expr::DateTrunc(trunc) if trunc.unit == *unit))?);
            }
        }
    }
    found.dedup();
    Some(found)
}
