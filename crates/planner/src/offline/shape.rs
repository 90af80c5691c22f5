//! The shape of an answer: a list, one figure, or a figure for each group.

use super::catalog::{Catalog, ColumnId, ColumnKind, TableId};
use super::joins;
use super::query::{BoundBy, BoundKey, Item, Query, Test, Trouble};
use domain::plan::AggregateFn;

/// What is shown, and whether rows are summed up for it.
#[derive(Debug)]
pub(crate) struct Shape {
    pub items: Vec<Item>,
    pub keys: Vec<BoundKey>,
    pub grouped: bool,
    pub measured: Option<TableId>,
}

/// Decides what is shown and what it is grouped by.
pub(crate) fn shape(catalog: &Catalog, query: &Query) -> Result<Shape, Trouble> {
    let mut items = query.items.clone();
    let mut keys = query.keys.clone();
    let measured = measured(catalog, query);
    let ranked = query.orders.iter().any(|o| is_grouped_order(catalog, query, &o.by));
    // "which month had the most orders": the keys are all that is asked for.
    let keys_asked = items.is_empty() && ranked;
    if !items.iter().any(Item::is_aggregate) && !keys.is_empty() && !keys_asked && !query.listed {
        listing_per_key(catalog, &mut items, &mut keys)?;
    }
    let each_alone = |k: &BoundKey| matches!(k, BoundKey::Entity(t) if Some(*t) == measured);
    // "average units per order line, by tier": of a row on its own, an average is what the row holds.
    let settles = |i: &Item| matches!(i, Item::Aggregate(AggregateFn::Avg | AggregateFn::Median, _));
    if keys.len() > 1 && items.iter().all(settles) {
        keys.retain(|k| !each_alone(k));
    }
    if keys.iter().any(each_alone) {
        return Err(Trouble::Unsupported("summing up each row on its own"));
    }
    let both_ends =
        query.orders.iter().any(|o| query.orders.iter().any(|p| o.by == p.by && o.direction != p.direction));
    if both_ends {
        return Err(Trouble::Unsupported("both ends of one order"));
    }
    let having = query.filters.iter().any(|f| f.test.is_of_groups());
    let aggregates = items.iter().any(Item::is_aggregate);
    let plain = items.iter().any(|i| !i.is_aggregate());
    if !ranked && !aggregates {
        ranks_what_is_asked(catalog, query)?;
    }
    let grouped = !keys.is_empty() && (aggregates || keys_asked) || (plain && (aggregates || ranked || having));
    let counted = items.iter().find_map(|i| if let Item::Count(t) = i { Some(*t) } else { None });
    let measured = measured.or(counted);
    Ok(Shape { items, keys, grouped, measured: measured.filter(|_| grouped || aggregates) })
}

/// Writes back what the shape has settled, so that the reading says what the plan does.
pub(crate) fn settle(catalog: &Catalog, query: &mut Query, shape: &Shape) {
    query.items = shape.items.clone();
    query.keys = shape.keys.clone();
    for order in &mut query.orders {
        if let (BoundBy::Thing(thing), true) = (&order.by, shape.grouped)
            && thing.is_additive(catalog)
            && !query.items.iter().any(|i| matches!(i, Item::Aggregate(_, t) if t == thing))
        {
            order.by = BoundBy::Aggregate(AggregateFn::Sum, *thing);
        }
    }
}

/// "stores in the district with the most people": the district is ranked, not the stores.
fn ranks_what_is_asked(catalog: &Catalog, query: &Query) -> Result<(), Trouble> {
    let own = |table: TableId| {
        query.items.iter().any(|item| match item {
            Item::Column(c) => catalog.column(*c).table == table,
            Item::Entity(t, _) | Item::Whole(t) => *t == table,
            _ => true,
        })
    };
    // "the gymnast with the lowest age", whose age stands in another table that nobody named.
    let of_subject = |table: TableId| {
        let named = query.filters.iter().any(|f| f.table == table && matches!(f.test, Test::Related(_)));
        let steps = query.subject.map(|s| joins::tree(catalog, s, &[table], &[]));
        !named && matches!(steps, Some(Ok(steps)) if !steps.iter().any(joins::Step::fans_out))
    };
    let ranked =
        query.orders.iter().filter_map(|o| if let BoundBy::Thing(t) = &o.by { Some(t.table(catalog)) } else { None });
    let ranked = ranked.filter(|t| !of_subject(*t));
    match query.limit {
        Some(_) if ranked.into_iter().any(|table| !own(table) && query.subject != Some(table)) => {
            Err(Trouble::Unsupported("picking by a rank among something else"))
        }
        _ => Ok(()),
    }
}

/// "the name of each customer" lists; "orders by month" counts.
fn listing_per_key(catalog: &Catalog, items: &mut Vec<Item>, keys: &mut Vec<BoundKey>) -> Result<(), Trouble> {
    match (items.as_slice(), keys.as_slice()) {
        ([], _) => Err(Trouble::NothingAsked),
        ([Item::Entity(table, _)], _) => {
            *items = vec![Item::Count(*table)];
            Ok(())
        }
        (_, [BoundKey::Entity(table)]) => {
            let own = |i: &Item| matches!(i, Item::Column(c) if catalog.column(*c).table == *table);
            if !items.iter().any(own) {
                return Err(Trouble::Unsupported("listing the rows of each group"));
            }
            keys.clear();
            Ok(())
        }
        _ => Err(Trouble::Unsupported("listing the rows of each group")),
    }
}

fn measured(catalog: &Catalog, query: &Query) -> Option<TableId> {
    query.measured(catalog).or_else(|| {
        query.orders.iter().find_map(|o| match &o.by {
            BoundBy::Thing(thing) if is_grouped_order(catalog, query, &o.by) => Some(thing.table(catalog)),
            _ => None,
        })
    })
}

/// Whether an order needs groups: counts and aggregates do, and sums of what is asked for.
fn is_grouped_order(catalog: &Catalog, query: &Query, by: &BoundBy) -> bool {
    match by {
        BoundBy::Rows(_) | BoundBy::Aggregate(..) | BoundBy::Occurrences | BoundBy::Change(_) => true,
        BoundBy::Shown | BoundBy::Figure => false,
        BoundBy::Thing(thing) => {
            let table = thing.table(catalog);
            let per_row = |item: &Item| match item {
                Item::Entity(t, _) | Item::Whole(t) => *t == table,
                Item::Column(c) => {
                    catalog.column(*c).table == table && (query.subject == Some(table) || !is_category(catalog, *c))
                }
                _ => true,
            };
            let keys_asked = query.items.is_empty() && !query.keys.is_empty();
            query.limit.is_some() && thing.is_additive(catalog) && (keys_asked || !query.items.iter().all(per_row))
        }
    }
}

/// A column whose values are shared by many rows.
fn is_category(catalog: &Catalog, column: ColumnId) -> bool {
    let info = catalog.column(column);
    info.kind == ColumnKind::Text && !info.is_key && !catalog.table(info.table).display.contains(&column)
}
