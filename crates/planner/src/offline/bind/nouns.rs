//! The one column that a noun stands for, in the light of everything else that is named.

use super::Binder;
use crate::offline::Index;
use crate::offline::catalog::{Catalog, ColumnInfo, Edge, TableId};
use crate::offline::draft::{Asked, By, Draft, Filter, Key, Noun, Thing};
use crate::offline::joins::distance;
use crate::offline::query::{Pick, Trouble};
use crate::offline::values::Owned;

/// Candidates nearer than this are a tie.
const MARGIN: f32 = 0.04;

/// Tables that take part for certain, which is what unclear nouns are read in the light of.
pub(super) fn in_play(index: &Index, draft: &Draft) -> Vec<TableId> {
    let catalog = &index.catalog;
    let mut tables: Vec<TableId> = draft.subject.into_iter().collect();
    let mut nouns: Vec<&Noun> = Vec::new();
    for asked in &draft.asked {
        match asked {
            Asked::Entity { table, .. } | Asked::Whole(table) | Asked::CountRows(table) => tables.push(*table),
            Asked::CountThem | Asked::Period(_) => {}
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
            Filter::Related { table, .. } | Filter::Rows { table: Some(table), .. } => tables.push(*table),
            Filter::Values { options, column: None, .. } => {
                let owners = |o: &Vec<Owned>| o.iter().map(|o| catalog.column(o.column).table).collect::<Vec<_>>();
                tables.extend(options.first().map(owners).filter(|o| o.len() == 1).unwrap_or_default());
            }
            _ => {}
        }
    }
    tables.extend(draft.orders.iter().filter_map(|o| if let By::Rows(table) = o.by { Some(table) } else { None }));
    tables.extend(nouns.iter().filter_map(|n| n.owner));
    let certain = |n: &&Noun| matches!(n.things.as_slice(), [(_, w)] if *w >= 0.8);
    tables.extend(nouns.into_iter().filter(certain).flat_map(|n| n.things.iter().map(|(t, _)| t.table(catalog))));
    tables.sort();
    tables.dedup();
    tables
}

impl Binder<'_> {
    /// The one thing that a noun stands for here.
    pub(super) fn thing(&self, noun: &Noun, fits: impl Fn(&Catalog, Thing) -> bool) -> Result<Thing, Trouble> {
        let settled =
            |p: &Pick| if let Pick::Thing(text, thing) = p { (*text == noun.text).then_some(*thing) } else { None };
        if let Some(thing) = self.choices.iter().find_map(settled) {
            return Ok(thing);
        }
        let mut scored: Vec<(Thing, f32)> = noun
            .things
            .iter()
            .filter(|(t, _)| fits(self.catalog(), *t))
            .map(|(t, w)| (*t, self.score(noun, *t, *w)))
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        match scored.as_slice() {
            [] => Err(Trouble::Unbound(noun.text.clone())),
            [(only, _)] => Ok(*only),
            [(best, high), (next, low), ..] if high - low < MARGIN && !self.same(*best, *next) => {
                let close = scored.iter().filter(|(_, s)| high - s < MARGIN).map(|(t, _)| *t).take(3).collect();
                Err(Trouble::Ambiguous(noun.text.clone(), close))
            }
            [(best, _), (next, _), ..] if self.owned_by_value_only(noun, *best, *next) => {
                Err(Trouble::Ambiguous(noun.text.clone(), vec![*best, *next]))
            }
            [(best, high), (next, low), ..] => {
                self.keep_rival(&noun.text, *next, high - low);
                Ok(*best)
            }
        }
    }

    /// "the average price of a backpack": of the catalogue, or of what was sold? Both are called alike, and all that speaks
    /// for the one is that a value of its table was named.
    fn owned_by_value_only(&self, noun: &Noun, best: Thing, next: Thing) -> bool {
        let catalog = self.catalog();
        let weight = |thing: Thing| noun.things.iter().find(|(t, _)| *t == thing).map_or(0.0, |(_, w)| *w);
        let (table, other) = (best.table(catalog), next.table(catalog));
        let asked = self.draft.asked.iter().any(|a| matches!(a, Asked::Aggregate(_, n) if n == noun));
        let named = self.draft.subject.is_some() || noun.owner.is_some() || !self.draft.keys.is_empty();
        let tied = catalog.edges.iter().any(|e| e.many == other && e.one == table);
        asked && !named && tied && table != other && (weight(best) - weight(next)).abs() < MARGIN
    }

    /// Remembers the closest choice, for whoever wants to know what else the question may have meant.
    fn keep_rival(&self, text: &str, other: Thing, margin: f32) {
        let mut rival = self.rival.borrow_mut();
        if rival.as_ref().is_none_or(|(_, _, known)| margin < *known) {
            *rival = Some((text.to_owned(), other, margin));
        }
    }

    fn score(&self, noun: &Noun, thing: Thing, weight: f32) -> f32 {
        let catalog = self.catalog();
        let table = thing.table(catalog);
        let owner = if noun.owner == Some(table) { 0.6 } else { 0.0 };
        let keyed = |k: &Key| matches!(k, Key::Entity(t) if *t == table);
        let keyed = if self.draft.keys.iter().any(keyed) { 0.25 } else { 0.0 };
        let subject = if self.draft.subject == Some(table) { 0.2 } else { 0.0 };
        let near = self.in_play.iter().filter_map(|t| distance(catalog, *t, table)).min();
        let distance = match near {
            Some(steps) => 0.08 * steps as f32,
            None if self.in_play.is_empty() => 0.0,
            None => 1.0,
        };
        weight + owner + subject + keyed + self.own_id(noun, thing) + self.said_before(noun, thing) - distance
    }

    /// "the name and id of albums", "type codes and type names": the key of what else is asked for.
    fn own_id(&self, noun: &Noun, thing: Thing) -> f32 {
        let catalog = self.catalog();
        let table = thing.table(catalog);
        let of_table = |n: &Noun| best(n).any(|t| t.table(catalog) == table);
        let beside = |a: &Asked| matches!(a, Asked::Column(n) if n.text != noun.text && of_table(n));
        let key = thing.column().is_some() && thing.column() == catalog.table(table).key;
        if key && self.draft.asked.iter().any(beside) { 0.3 } else { 0.0 }
    }

    /// "card types and the number of cards in each type": what is grouped by is what was asked for.
    fn said_before(&self, noun: &Noun, thing: Thing) -> f32 {
        let keyed = self.draft.keys.iter().any(|k| matches!(k, Key::Column(n) if n == noun));
        let asked = |a: &Asked| matches!(a, Asked::Column(n) if n.text != noun.text && best(n).any(|t| t == thing));
        if keyed && self.draft.asked.iter().any(asked) { 0.3 } else { 0.0 }
    }

    /// Two columns that a key ties together hold the same values.
    fn same(&self, a: Thing, b: Thing) -> bool {
        let (Some(a), Some(b)) = (a.column(), b.column()) else { return false };
        let (a, b) = (self.catalog().column(a), self.catalog().column(b));
        let target = |c: &ColumnInfo| {
            let points = |e: &&Edge| e.many == c.table && matches!(e.on.as_slice(), [(m, _)] if *m == c.name);
            self.catalog().edges.iter().find(points).map(|e| (e.one, e.on.clone()))
        };
        if let (Some((one, on)), Some((other, on_other))) = (target(a), target(b))
            && one == other
            && on.iter().map(|(_, o)| o).eq(on_other.iter().map(|(_, o)| o))
        {
            return true;
        }
        self.catalog().edges.iter().any(|e| {
            let pair = |m: &str, o: &str| e.on.iter().any(|(x, y)| x == m && y == o);
            (e.many == a.table && e.one == b.table && pair(&a.name, &b.name))
                || (e.many == b.table && e.one == a.table && pair(&b.name, &a.name))
        })
    }
}

/// What a noun most likely stands for, by its words alone.
fn best(noun: &Noun) -> impl Iterator<Item = Thing> {
    let most = noun.things.iter().map(|(_, w)| *w).fold(0.0_f32, f32::max);
    noun.things.iter().filter(move |(_, w)| *w >= most).map(|(t, _)| *t)
}
