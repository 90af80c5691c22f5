//! Typed binding: each noun to one column, each number, moment and value to the column it is about.

use super::Index;
use super::catalog::{Catalog, ColumnId, ColumnKind, TableId};
use super::draft::{Asked, Bound, By, Draft, Filter, Key, Left, Noun, Thing};
use super::joins::distance;
use super::query::{BoundBy, BoundFilter, BoundKey, BoundOrder, Item, Pick, Query, RelatedRows, Test, Trouble};
use super::time::{Range, When};
use super::values::Owned;
use domain::plan::{AggregateFn, DateUnit, Operator};
use jiff::civil::Date;

/// Candidates nearer than this are a tie.
const MARGIN: f32 = 0.04;

pub(crate) struct Binder<'a> {
    index: &'a Index,
    draft: &'a Draft,
    today: Date,
    /// What a clarification has settled.
    choices: &'a [Pick],
    in_play: Vec<TableId>,
    notes: Vec<String>,
}

/// Ties a draft to the schema.
pub(crate) fn bind(index: &Index, draft: &Draft, today: Date, choices: &[Pick]) -> Result<Query, Trouble> {
    let in_play = in_play(index, draft);
    Binder { index, draft, today, choices, in_play, notes: Vec::new() }.query()
}

/// Tables that take part for certain, which is what unclear nouns are read in the light of.
fn in_play(index: &Index, draft: &Draft) -> Vec<TableId> {
    let catalog = &index.catalog;
    let mut tables: Vec<TableId> = draft.subject.into_iter().collect();
    let mut nouns: Vec<&Noun> = Vec::new();
    for asked in &draft.asked {
        match asked {
            Asked::Entity { table, .. } | Asked::CountRows(table) => tables.push(*table),
            Asked::Column(noun) | Asked::CountDistinct(noun) | Asked::Aggregate(_, noun) => nouns.push(noun),
        }
    }
    for key in &draft.keys {
        match key {
            Key::Entity(table) => tables.push(*table),
            Key::Column(noun) => nouns.push(noun),
            Key::Bucket(_) => {}
        }
    }
    for filter in &draft.filters {
        match filter {
            Filter::Related { table, .. } => tables.push(*table),
            Filter::Values { options, column: None, .. } => {
                let owners = |o: &Vec<Owned>| o.iter().map(|o| catalog.column(o.column).table).collect::<Vec<_>>();
                tables.extend(options.first().map(owners).filter(|o| o.len() == 1).unwrap_or_default());
            }
            _ => {}
        }
    }
    tables.extend(nouns.iter().filter_map(|n| n.owner));
    let certain = |n: &&Noun| matches!(n.things.as_slice(), [(_, w)] if *w >= 0.8);
    tables.extend(nouns.into_iter().filter(certain).flat_map(|n| n.things.iter().map(|(t, _)| t.table(catalog))));
    tables.sort();
    tables.dedup();
    tables
}

impl Binder<'_> {
    fn catalog(&self) -> &Catalog {
        &self.index.catalog
    }

    fn query(mut self) -> Result<Query, Trouble> {
        let mut query = Query { subject: self.draft.subject, limit: self.draft.limit, distinct: self.draft.distinct, ..Query::default() };
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
            let by = self.choices.iter().find_map(settled).ok_or(Trouble::RankedByWhat(self.draft.subject))?;
            query.orders.push(BoundOrder { by, direction, shown: true });
        }
        for filter in &self.draft.filters {
            let filter = self.filter(filter, &query)?;
            query.filters.push(filter);
        }
        self.buckets(&mut query)?;
        query.notes = self.notes;
        Ok(query)
    }

    fn asked(&mut self, asked: &Asked, query: &mut Query) -> Result<(), Trouble> {
        let item = match asked {
            Asked::Entity { table, brief } => Item::Entity(*table, *brief),
            Asked::CountRows(table) => Item::Count(*table),
            Asked::CountDistinct(noun) => {
                let thing = self.thing(noun, |_, _| true)?;
                Item::CountDistinct(thing.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?)
            }
            Asked::Aggregate(function, noun) => Item::Aggregate(*function, self.thing(noun, |_, _| true)?),
            Asked::Column(noun) => {
                let thing = self.thing(noun, |_, _| true)?;
                self.plain(noun, thing)?
            }
        };
        query.items.push(item);
        Ok(())
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
        if per_other || (alone && noun.tables.is_empty() && self.asks_for_total(noun, column)) {
            if thing.is_additive(catalog) {
                return Ok(Item::Aggregate(AggregateFn::Sum, thing));
            }
            let settled = |p: &Pick| if let Pick::Function(text, f) = p { (*text == noun.text).then_some(*f) } else { None };
            if let Some(function) = self.choices.iter().find_map(settled) {
                return Ok(Item::Aggregate(function, thing));
            }
            if per_other && !self.draft.has_aggregate() {
                return Err(Trouble::WhichAggregate(noun.text.clone(), thing));
            }
        }
        Ok(Item::Column(column))
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
                let thing = self.thing(noun, |catalog, t| !t.is_measure(catalog))?;
                let column = thing.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?;
                BoundKey::Column(column)
            }
        })
    }

    /// Buckets of time take the time of what is measured.
    fn buckets(&mut self, query: &mut Query) -> Result<(), Trouble> {
        let near = query.measured(self.catalog()).or(query.subject);
        for key in &mut query.keys {
            if let BoundKey::Bucket(unit, column @ None) = key {
                let found = self.time_column(near, None, &unit_name(*unit))?;
                if self.catalog().column(found).is_year && *unit == DateUnit::Year {
                    *key = BoundKey::Column(found);
                } else if self.catalog().column(found).is_year {
                    return Err(Trouble::Unbound(unit_name(*unit)));
                } else {
                    *column = Some(found);
                }
            }
        }
        Ok(())
    }

    fn by(&mut self, by: &By, query: &Query) -> Result<BoundBy, Trouble> {
        Ok(match by {
            By::Column(noun) => BoundBy::Thing(self.thing(noun, |_, _| true)?),
            By::Aggregate(function, noun) => BoundBy::Aggregate(*function, self.thing(noun, |_, _| true)?),
            By::Rows(table) => BoundBy::Rows(*table),
            By::Occurrences => self.occurrences(query)?,
            By::Measured(measures) => self.measured(measures, query)?,
            By::Time => {
                let near = query.measured(self.catalog()).or(self.draft.subject);
                BoundBy::Thing(Thing::Column(self.time_column(near, None, "date")?))
            }
            By::Shown => BoundBy::Shown,
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
            _ => true,
        };
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

    fn filter(&mut self, filter: &Filter, query: &Query) -> Result<BoundFilter, Trouble> {
        let catalog = self.catalog();
        Ok(match filter {
            Filter::Compare { left, op, bound, text } => self.compare(left, *op, bound, text, query)?,
            Filter::Values { options, column, negated, text, near } => {
                self.values(options, column.as_ref(), *negated, text, *near)?
            }
            Filter::Text { column, pattern, like, negated } => {
                let thing = self.thing(column, |_, _| true)?;
                let column = thing.column().ok_or_else(|| Trouble::Unbound(pattern.clone()))?;
                BoundFilter::of(self.catalog(), column, Test::Text { pattern: pattern.clone(), like: *like, negated: *negated })
            }
            Filter::Time { when, column, near } => {
                let column = match column {
                    Some(noun) => self.thing(noun, |_, _| true)?.column(),
                    None => None,
                };
                let measured = query.measured(catalog);
                let near = near.filter(|t| !self.catalog().time_columns(*t).is_empty()).or(measured).or(self.draft.subject);
                let column = self.time_column(near, column, "date")?;
                let range = self.range(when, column)?;
                BoundFilter::of(self.catalog(), column, Test::Time(range))
            }
            Filter::Flag { column, value } => {
                let flag = |catalog: &Catalog, t: Thing| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Flag);
                let thing = self.thing(column, flag)?;
                let column = thing.column().ok_or_else(|| Trouble::Unbound(column.text.clone()))?;
                BoundFilter::of(self.catalog(), column, Test::Flag(*value))
            }
            Filter::Missing { column, present } => {
                let thing = self.thing(column, |_, _| true)?;
                let column = thing.column().ok_or_else(|| Trouble::Unbound(column.text.clone()))?;
                BoundFilter::of(self.catalog(), column, Test::Missing { present: *present })
            }
            Filter::Related { table, negated, count, inner } => {
                let mut bound = Vec::new();
                for filter in inner {
                    bound.push(self.filter(filter, query)?);
                }
                let related = RelatedRows { table: *table, negated: *negated, count: *count, inner: bound };
                BoundFilter { table: *table, test: Test::Related(related), column: None }
            }
        })
    }

    fn compare(&mut self, left: &Left, op: Operator, bound: &Bound, text: &str, query: &Query) -> Result<BoundFilter, Trouble> {
        let (function, thing) = match left {
            Left::Column(noun) => (None, self.thing(noun, |_, _| true)?),
            Left::Aggregate(function, noun) => (Some(*function), self.thing(noun, |_, _| true)?),
            Left::Measured(measures) => match self.measured(measures, query)? {
                BoundBy::Thing(thing) => (None, thing),
                _ => return Err(Trouble::Unbound(text.to_owned())),
            },
            Left::Money => {
                let near = self.draft.subject.or_else(|| query.measured(self.catalog()));
                let Some(table) = near else { return Err(Trouble::Unbound(text.to_owned())) };
                let money = ["amount", "price", "total", "cost", "revenue", "value", "fee", "salary"];
                let column = self.measure_column(table, &money);
                (None, Thing::Column(column.ok_or_else(|| Trouble::Unbound(text.to_owned()))?))
            }
        };
        let table = thing.table(self.catalog());
        let test = match (function, bound) {
            (None, Bound::Number(number)) => Test::Compare(thing, op, vec![number.to_value()]),
            (None, Bound::Range(low, high)) => Test::Compare(thing, op, vec![low.to_value(), high.to_value()]),
            (None, Bound::Aggregate(function)) => Test::Against(thing, op, *function),
            (Some(function), Bound::Number(number)) => Test::Having(function, thing, op, number.to_value()),
            (Some(_), _) => return Err(Trouble::Unbound(text.to_owned())),
        };
        Ok(BoundFilter { table, test, column: thing.column() })
    }

    /// All options must be values of one column: the one named, else the one nearest to the subject.
    fn values(&mut self, options: &[Vec<Owned>], column: Option<&Noun>, negated: bool, text: &str, near: Option<TableId>) -> Result<BoundFilter, Trouble> {
        let catalog = self.catalog();
        let owners = options.iter().flatten().map(|o| o.column);
        let common = |c: &ColumnId| options.iter().all(|any| any.iter().any(|o| o.column == *c));
        let mut candidates: Vec<(Thing, f32)> = Vec::new();
        for owner in owners.filter(common) {
            let thing = Thing::Column(owner);
            let named = column.and_then(|n| n.things.iter().find(|(t, _)| *t == thing)).map(|(_, w)| *w);
            if candidates.iter().any(|(t, _)| *t == thing) || (column.is_some() && named.is_none()) {
                continue;
            }
            let beside = if near == Some(catalog.column(owner).table) { 0.2 } else { 0.0 };
            candidates.push((thing, named.unwrap_or(1.0) + beside));
        }
        let noun = Noun { text: text.to_owned(), tables: Vec::new(), things: candidates, owner: column.and_then(|n| n.owner) };
        let thing = self.thing(&noun, |_, _| true)?;
        let column = thing.column().ok_or_else(|| Trouble::Unbound(text.to_owned()))?;
        let pick = |any: &Vec<Owned>| any.iter().filter(|o| o.column == column).map(|o| o.value.clone()).collect::<Vec<_>>();
        let values: Vec<String> = options.iter().flat_map(pick).collect();
        Ok(BoundFilter::of(self.catalog(), column, Test::In { values, negated }))
    }

    /// The moment column that a period is about: the one named, else the table's only one.
    fn time_column(&mut self, near: Option<TableId>, named: Option<ColumnId>, text: &str) -> Result<ColumnId, Trouble> {
        if let Some(column) = named {
            return Ok(column);
        }
        let catalog = self.catalog();
        let mut tables: Vec<TableId> = near.into_iter().collect();
        let mut others: Vec<(usize, TableId)> = catalog
            .tables()
            .filter_map(|t| Some((near.map_or(Some(0), |n| distance(catalog, n, t))?, t)))
            .filter(|(_, t)| !catalog.time_columns(*t).is_empty() && !tables.contains(t))
            .collect();
        others.sort();
        tables.extend(others.into_iter().filter(|(d, t)| *d <= 1 || self.in_play.contains(t)).map(|(_, t)| t));
        let Some(columns) = tables.into_iter().map(|t| catalog.time_columns(t)).find(|c| !c.is_empty()) else {
            return Err(Trouble::Unbound(text.to_owned()));
        };
        let noun = Noun {
            text: text.to_owned(),
            things: columns.iter().map(|c| (Thing::Column(*c), 1.0 + event_weight(catalog, *c))).collect(),
            ..Noun::default()
        };
        let thing = self.thing(&noun, |_, _| true)?;
        thing.column().ok_or_else(|| Trouble::Unbound(text.to_owned()))
    }

    /// The days meant. Where the data ends before them, "now" is the day after its last day.
    fn range(&mut self, when: &When, column: ColumnId) -> Result<Range, Trouble> {
        let outside = || Trouble::Unbound("the period".to_owned());
        let range = when.range(self.today).ok_or_else(outside)?;
        let latest = self.catalog().column(column).latest;
        let (Some(latest), Some(from)) = (latest, range.from) else { return Ok(range) };
        if !when.is_relative() || latest >= from {
            return Ok(range);
        }
        let now = latest.tomorrow().map_err(|_| outside())?;
        self.notes.push(format!("the data ends on {latest}, so that is taken as today"));
        when.range(now).ok_or_else(outside)
    }

    /// The one thing that a noun stands for here.
    fn thing(&self, noun: &Noun, fits: impl Fn(&Catalog, Thing) -> bool) -> Result<Thing, Trouble> {
        let settled = |p: &Pick| if let Pick::Thing(text, thing) = p { (*text == noun.text).then_some(*thing) } else { None };
        if let Some(thing) = self.choices.iter().find_map(settled) {
            return Ok(thing);
        }
        let mut scored: Vec<(Thing, f32)> =
            noun.things.iter().filter(|(t, _)| fits(self.catalog(), *t)).map(|(t, w)| (*t, self.score(noun, *t, *w))).collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        match scored.as_slice() {
            [] => Err(Trouble::Unbound(noun.text.clone())),
            [(only, _)] => Ok(*only),
            [(best, high), (next, low), ..] if high - low < MARGIN && !self.same(*best, *next) => {
                let close = scored.iter().filter(|(_, s)| high - s < MARGIN).map(|(t, _)| *t).take(3).collect();
                Err(Trouble::Ambiguous(noun.text.clone(), close))
            }
            [(best, _), ..] => Ok(*best),
        }
    }

    fn score(&self, noun: &Noun, thing: Thing, weight: f32) -> f32 {
        let catalog = self.catalog();
        let table = thing.table(catalog);
        let owner = if noun.owner == Some(table) { 0.6 } else { 0.0 };
        let subject = if self.draft.subject == Some(table) { 0.2 } else { 0.0 };
        let near = self.in_play.iter().filter_map(|t| distance(catalog, *t, table)).min();
        let distance = match near {
            Some(steps) => 0.08 * steps as f32,
            None if self.in_play.is_empty() => 0.0,
            None => 1.0,
        };
        weight + owner + subject - distance
    }

    /// Two columns that a key ties together hold the same values.
    fn same(&self, a: Thing, b: Thing) -> bool {
        let (Some(a), Some(b)) = (a.column(), b.column()) else { return false };
        let (a, b) = (self.catalog().column(a), self.catalog().column(b));
        self.catalog().edges.iter().any(|e| {
            let pair = |m: &str, o: &str| e.on.iter().any(|(x, y)| x == m && y == o);
            (e.many == a.table && e.one == b.table && pair(&a.name, &b.name))
                || (e.many == b.table && e.one == a.table && pair(&b.name, &a.name))
        })
    }
}

/// The moment that a row is about is more likely than the moment that something else happened to it.
fn event_weight(catalog: &Catalog, column: ColumnId) -> f32 {
    let info = catalog.column(column);
    let own = &catalog.table(info.table).words;
    let about = |w: &String| {
        matches!(w.as_str(), "date" | "time" | "timestamp" | "at" | "on" | "day" | "year" | "created" | "ts")
            || own.iter().any(|o| super::catalog::singular(o) == *w)
    };
    if info.words.iter().all(about) { 0.1 } else { 0.0 }
}

fn unit_name(unit: DateUnit) -> String {
    format!("{unit:?}").to_lowercase()
}
