//! Typed binding: each noun to one column, each number, moment and value to the column it is about.

mod filters;
mod links;
mod nouns;
mod relation;
mod time;

use super::Index;
use super::catalog::{Catalog, ColumnId, ColumnKind, Edge, TableId};
use super::draft::{Asked, By, Draft, Filter, Key, Left, Noun, Thing};
use super::query::{BoundBy, BoundFilter, BoundKey, BoundOrder, Item, Pick, Query, RelatedRows, Side, Test, Trouble};
use domain::plan::AggregateFn;
use jiff::civil::Date;
use std::cell::RefCell;

pub(crate) struct Binder<'a> {
    index: &'a Index,
    draft: &'a Draft,
    today: Date,
    /// What a clarification has settled.
    choices: &'a [Pick],
    in_play: Vec<TableId>,
    notes: Vec<String>,
    /// The choice between columns that was closest so far.
    rival: RefCell<Option<(String, Thing, f32)>>,
}

/// Ties a draft to the schema.
pub(crate) fn bind(index: &Index, draft: &Draft, today: Date, choices: &[Pick]) -> Result<Query, Trouble> {
    let in_play = nouns::in_play(index, draft);
    Binder { index, draft, today, choices, in_play, notes: Vec::new(), rival: RefCell::default() }.query()
}

impl Binder<'_> {
    fn catalog(&self) -> &Catalog {
        &self.index.catalog
    }

    fn query(mut self) -> Result<Query, Trouble> {
        let mut query = Query {
            subject: self.draft.subject,
            limit: self.draft.limit,
            offset: self.draft.offset.filter(|n| *n > 0),
            distinct: self.draft.distinct,
            range: self.draft.range,
            both: self.draft.both,
            each: self.draft.each,
            ..Query::default()
        };
        for key in &self.draft.keys {
            let key = self.key(key)?;
            query.keys.push(key);
        }
        for asked in &self.draft.asked {
            self.asked(asked, &mut query)?;
        }
        for order in &self.draft.orders {
            let by = self.by(&order.by, &query)?;
            query.orders.push(BoundOrder { by, direction: order.direction, shown: order.shown });
        }
        if let Some(direction) = self.draft.ranked {
            let settled = |p: &Pick| if let Pick::Ranking(by) = p { Some(by.clone()) } else { None };
            let by = self.choices.iter().find_map(settled).ok_or_else(|| self.ranked_by_what(&query))?;
            query.orders.push(BoundOrder { by, direction, shown: true });
        }
        for (at, filter) in self.draft.filters.iter().enumerate() {
            let mut filter = self.filter(filter, &query)?;
            if self.draft.except.is_some_and(|from| at >= from) {
                filter.side = Side::Except;
            }
            if self.draft.part.is_some_and(|from| at >= from) && !matches!(filter.test, Test::Time(_)) {
                filter.side = Side::Share;
            }
            query.filters.push(filter);
        }
        query.filters.sort_by_key(|f| f.side == Side::Share);
        self.leave_out_implied(&mut query);
        self.relation(&mut query)?;
        self.leave_out_nobody(&mut query);
        self.count_links(&mut query);
        self.buckets(&mut query)?;
        query.notes = self.notes;
        query.rival = self.rival.into_inner();
        Ok(query)
    }

    /// "students in the History department": whoever is in History is in a department. Said once more, it would be the
    /// department of whatever else has one.
    fn leave_out_implied(&self, query: &mut Query) {
        let catalog = self.catalog();
        let points = |column: ColumnId, table: TableId| {
            let info = catalog.column(column);
            let key = |e: &Edge| matches!(e.on.as_slice(), [(name, _)] if *name == info.name);
            catalog.edges.iter().any(|e| e.many == info.table && e.one == table && key(e))
        };
        let told = |f: &BoundFilter| match f.test {
            Test::In { negated, .. } => f.column.map(|column| (column, negated)),
            _ => None,
        };
        let told: Vec<(ColumnId, bool)> = query.filters.iter().filter_map(told).collect();
        // "patients who are not on X as medication" need not be on any.
        let of = |column: ColumnId, negated: bool, table: TableId| {
            points(column, table) || negated && catalog.column(column).table == table
        };
        let implied = |filter: &BoundFilter| match &filter.test {
            Test::Related(RelatedRows { table, negated: false, count: None, inner }) => {
                inner.is_empty() && told.iter().any(|(column, negated)| of(*column, *negated, *table))
            }
            _ => false,
        };
        query.filters.retain(|filter| !implied(filter));
    }

    fn ranked_by_what(&self, query: &Query) -> Trouble {
        match (self.draft.subject, query.items.as_slice()) {
            (None, [Item::Column(column)]) => Trouble::GroupsByWhat(self.catalog().column(*column).table),
            (subject, _) => Trouble::RankedByWhat(subject),
        }
    }

    /// In a ranking of what a column may lack, nothing is not one of them.
    fn leave_out_nobody(&self, query: &mut Query) {
        let grouped = |o: &BoundOrder| match &o.by {
            BoundBy::Rows(_) | BoundBy::Aggregate(..) | BoundBy::Occurrences => true,
            BoundBy::Thing(thing) => thing.is_additive(self.catalog()),
            BoundBy::Shown | BoundBy::Figure | BoundBy::Change(_) => false,
        };
        let [Item::Column(column)] = query.items.as_slice() else { return };
        let info = self.catalog().column(*column);
        if query.limit.is_some() && query.orders.iter().any(grouped) && info.nullable && info.kind == ColumnKind::Text {
            let test = Test::Missing { present: true };
            query.filters.push(BoundFilter::of(self.catalog(), *column, test));
        }
    }

    fn asked(&mut self, asked: &Asked, query: &mut Query) -> Result<(), Trouble> {
        let item = match asked {
            Asked::Period(unit) => {
                query.keys.push(BoundKey::Bucket(*unit, None));
                return Ok(());
            }
            Asked::Entity { table, brief } => Item::Entity(*table, *brief),
            Asked::Whole(table) => Item::Whole(*table),
            Asked::CountRows(table) => Item::Count(*table),
            Asked::CountThem => Item::Count(self.counted_rows(query)?),
            Asked::CountDistinct(noun) => {
                let thing = self.thing(noun, |_, _| true)?;
                Item::CountDistinct(thing.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?)
            }
            Asked::Aggregate(function, noun) => Item::Aggregate(*function, self.summed(*function, noun)?),
            Asked::Column(noun) => {
                let thing = self.thing(noun, |_, _| true)?;
                let item = self.plain(noun, thing)?;
                if query.items.contains(&item) { self.another(noun, query)? } else { item }
            }
        };
        query.items.push(item);
        Ok(())
    }

    /// Two things that are asked for are not one and the same: the second is what else its noun names.
    fn another(&self, noun: &Noun, query: &Query) -> Result<Item, Trouble> {
        let said = |a: &Asked| matches!(a, Asked::Column(n) if n.text == noun.text);
        if self.draft.asked.iter().filter(|a| said(a)).count() > 1 {
            let thing = self.thing(noun, |_, _| true)?;
            return thing.column().map(Item::Column).ok_or_else(|| Trouble::Unbound(noun.text.clone()));
        }
        let new = |_: &Catalog, t: Thing| t.column().is_some_and(|c| !query.items.contains(&Item::Column(c)));
        let column = self.thing(noun, new)?.column();
        column.map(Item::Column).ok_or_else(|| Trouble::Unbound(noun.text.clone()))
    }

    /// What an aggregate is of: moments have ends, no sum and no average.
    fn summed(&self, function: AggregateFn, noun: &Noun) -> Result<Thing, Trouble> {
        let ends = matches!(function, AggregateFn::Min | AggregateFn::Max);
        self.thing(noun, |catalog, t| ends || t.is_measure(catalog))
    }

    /// What "them" are in "and the number of them": rows of the subject, or those that hold what is asked for.
    fn counted_rows(&self, query: &Query) -> Result<TableId, Trouble> {
        let catalog = self.catalog();
        let holder = query.items.iter().find_map(|item| match item {
            Item::Column(column) => Some(catalog.column(*column).table),
            _ => None,
        });
        let ranked = self.draft.orders.iter().find_map(|o| if let By::Rows(table) = o.by { Some(table) } else { None });
        ranked.or(self.draft.subject).or(holder).ok_or_else(|| Trouble::Unbound("how many".to_owned()))
    }

    /// A measure that is asked for per something, or as a product, is added up where that makes sense.
    fn plain(&mut self, noun: &Noun, thing: Thing) -> Result<Item, Trouble> {
        let catalog = self.catalog();
        let per_other = self.draft.keys.iter().any(|k| match k {
            Key::Entity(table) => *table != thing.table(catalog),
            Key::Column(_) | Key::Bucket(_) => true,
        });
        let ranked = !self.draft.orders.is_empty();
        let alone = self.draft.asked.len() == 1 && !ranked;
        let Thing::Column(column) = thing else { return Ok(Item::Aggregate(AggregateFn::Sum, thing)) };
        if !thing.is_measure(catalog) {
            return Ok(Item::Column(column));
        }
        if self.draft.figure {
            let text = catalog.column(column).words.join(" ");
            let function = self.settled_function(&text).ok_or(Trouble::WhichAggregate(text, thing))?;
            return Ok(Item::Aggregate(function, thing));
        }
        if let (Some(table), true) = (noun.table(), self.draft.filters.iter().any(is_money)) {
            return Ok(Item::Entity(table, false));
        }
        if per_other || (alone && self.asks_for_total(noun, column)) {
            if thing.is_additive(catalog) {
                return Ok(Item::Aggregate(AggregateFn::Sum, thing));
            }
            if let Some(function) = self.settled_function(&noun.text) {
                return Ok(Item::Aggregate(function, thing));
            }
            if per_other && !self.draft.has_aggregate() {
                return Err(Trouble::WhichAggregate(noun.text.clone(), thing));
            }
        }
        Ok(Item::Column(column))
    }

    /// The function that was chosen for a phrase.
    fn settled_function(&self, phrase: &str) -> Option<AggregateFn> {
        let of = |p: &Pick| if let Pick::Function(text, f) = p { (text == phrase).then_some(*f) } else { None };
        self.choices.iter().find_map(of)
    }

    /// "the total amount", "revenue in 2024": one figure, not a list of them.
    fn asks_for_total(&self, noun: &Noun, column: ColumnId) -> bool {
        let total = noun.text.split(' ').next().is_some_and(|w| w == "total");
        let listed = self.draft.subject.is_some() && noun.owner.is_some();
        self.catalog().column(column).is_additive() && (total || !listed)
    }

    fn key(&mut self, key: &Key) -> Result<BoundKey, Trouble> {
        Ok(match key {
            Key::Entity(table) => BoundKey::Entity(*table),
            Key::Bucket(unit) => BoundKey::Bucket(*unit, None),
            Key::Column(noun) => {
                // A number that is grouped by is a number of something, like a class or a floor.
                let thing = self.thing(noun, |catalog, t| !t.is_measure(catalog)).or_else(|trouble| match trouble {
                    Trouble::Unbound(_) => self.thing(noun, |catalog, t| !t.is_additive(catalog)),
                    other => Err(other),
                })?;
                let column = thing.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?;
                BoundKey::Column(column)
            }
        })
    }

    fn by(&mut self, by: &By, query: &Query) -> Result<BoundBy, Trouble> {
        Ok(match by {
            By::Column(noun) => BoundBy::Thing(self.thing(noun, |_, _| true)?),
            By::Aggregate(function, noun) => BoundBy::Aggregate(*function, self.summed(*function, noun)?),
            By::Rows(table) => BoundBy::Rows(*table),
            By::Change(percent) => {
                let settled = |p: &Pick| if let Pick::InPercent(percent) = p { Some(*percent) } else { None };
                let percent = percent.or_else(|| self.choices.iter().find_map(settled));
                BoundBy::Change(percent.ok_or(Trouble::ChangeInWhat)?)
            }
            By::Occurrences => self.occurrences(query)?,
            By::Measured(measures) => self.measured(measures, query)?,
            By::Time => {
                let near = query.measured(self.catalog()).or(self.draft.subject);
                BoundBy::Thing(Thing::Column(self.time_column(near, None, "date", false)?))
            }
            By::Shown => BoundBy::Shown,
            By::Figure => BoundBy::Figure,
        })
    }

    /// "the most common colour of products" counts products; what is unique in its table can't be common.
    fn occurrences(&self, query: &Query) -> Result<BoundBy, Trouble> {
        let catalog = self.catalog();
        let related = self.draft.filters.iter().find_map(|f| match f {
            Filter::Related { table, negated: false, count: None, .. } => Some(*table),
            _ => None,
        });
        if let Some(table) = related {
            return Ok(BoundBy::Rows(table));
        }
        let unique = |item: &Item| match item {
            Item::Column(c) => {
                let table = catalog.table(catalog.column(*c).table);
                table.key == Some(*c) || table.display.contains(c) || table.columns.len() <= 2
            }
            Item::Count(_) => false,
            _ => true,
        };
        let settled = |p: &Pick| if let Pick::Ranking(by) = p { Some(by.clone()) } else { None };
        if let Some(by) = self.choices.iter().find_map(settled) {
            return Ok(by);
        }
        if let [Item::Entity(table, _)] = query.items.as_slice() {
            return Err(Trouble::PopularByWhat(*table));
        }
        if query.items.iter().any(unique) {
            return Err(Trouble::Unbound("most common".to_owned()));
        }
        Ok(BoundBy::Occurrences)
    }

    /// The subject's column for "cheapest" and the like; for ages also a date of birth.
    fn measured(&mut self, measures: &[&str], query: &Query) -> Result<BoundBy, Trouble> {
        let subject = self.draft.subject.or_else(|| query.measured(self.catalog()));
        let Some(table) = subject else { return Err(Trouble::Unbound(measures.join(" or "))) };
        let column = self.measure_column(table, measures);
        column.map(|c| BoundBy::Thing(Thing::Column(c))).ok_or_else(|| Trouble::Unbound(measures.join(" or ")))
    }

    fn measure_column(&self, table: TableId, measures: &[&str]) -> Option<ColumnId> {
        let catalog = self.catalog();
        let named = |c: &&ColumnId| catalog.column(**c).words.iter().any(|w| measures.contains(&w.as_str()));
        let mut found = catalog.table(table).columns.iter().filter(|c| catalog.column(**c).is_measure()).filter(named);
        let only = found.next()?;
        found.next().is_none().then_some(*only)
    }
}

/// "over $1,000" is said of single rows.
fn is_money(filter: &Filter) -> bool {
    matches!(filter, Filter::Compare { left: Left::Money, .. })
}
