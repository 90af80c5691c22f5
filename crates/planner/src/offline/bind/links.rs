//! Counting over a table that only ties two others together.
//!
//! How many documents a location has is how many rows tie documents to it: neither the documents
//! nor a count of different ones is needed.

use super::Binder;
use crate::offline::catalog::{Catalog, TableId};
use crate::offline::query::{BoundBy, BoundFilter, BoundKey, Item, Query, Test};

impl Binder<'_> {
    /// Counts the rows of a link in place of what they point at, where nothing else of that is asked.
    pub(super) fn count_links(&self, query: &mut Query) {
        let catalog = self.catalog();
        let Some(counted) = counted(query) else { return };
        let Some(link) = link(catalog, query, counted) else { return };
        for item in &mut query.items {
            if *item == Item::Count(counted) {
                *item = Item::Count(link);
            }
        }
        for order in &mut query.orders {
            if order.by == BoundBy::Rows(counted) {
                order.by = BoundBy::Rows(link);
            }
        }
        for filter in &mut query.filters {
            if filter.table == counted {
                filter.table = link;
                if let Test::Related(related) = &mut filter.test {
                    related.table = link;
                }
            }
        }
        if query.subject == Some(counted) {
            query.subject = Some(link);
        }
    }
}

/// The one table whose rows are counted for each of something.
fn counted(query: &Query) -> Option<TableId> {
    let items = query.items.iter().filter_map(|i| if let Item::Count(t) = i { Some(*t) } else { None });
    let orders = query.orders.iter().filter_map(|o| if let BoundBy::Rows(t) = o.by { Some(t) } else { None });
    let filters = query.filters.iter().filter(|f| is_count(f)).map(|f| f.table);
    let mut all = items.chain(orders).chain(filters);
    let first = all.next()?;
    all.all(|t| t == first).then_some(first)
}

fn is_count(filter: &BoundFilter) -> bool {
    match &filter.test {
        Test::HavingRows(..) => true,
        Test::Related(related) => related.count.is_some() && related.inner.is_empty(),
        _ => false,
    }
}

/// The table without a key of its own that alone ties the counted rows to what they are counted for.
fn link(catalog: &Catalog, query: &Query, counted: TableId) -> Option<TableId> {
    let mut others: Vec<TableId> = Vec::new();
    for item in &query.items {
        match item {
            Item::Column(c) => others.push(catalog.column(*c).table),
            Item::Entity(t, _) | Item::Whole(t) => others.push(*t),
            Item::Count(t) if *t == counted => {}
            _ => return None,
        }
    }
    for key in &query.keys {
        match key {
            BoundKey::Column(c) => others.push(catalog.column(*c).table),
            BoundKey::Entity(t) => others.push(*t),
            BoundKey::Bucket(..) => return None,
        }
    }
    others.sort();
    others.dedup();
    let [other] = others.as_slice() else { return None };
    let conditions = query.filters.iter().any(|f| f.table == counted && !is_count(f));
    if *other == counted || conditions {
        return None;
    }
    let points = |many: TableId, one: TableId| catalog.edges.iter().filter(|e| e.many == many && e.one == one).count();
    if points(counted, *other) + points(*other, counted) > 0 {
        return None;
    }
    let ties = |t: &TableId| catalog.table(*t).key.is_none() && points(*t, counted) == 1 && points(*t, *other) == 1;
    let mut links = catalog.tables().filter(ties);
    links.next().filter(|_| links.next().is_none())
}
