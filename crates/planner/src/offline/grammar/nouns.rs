//! Nouns: what is asked for, what it belongs to, what else takes part.

use super::{Parser, Zone};
use crate::offline::catalog::{self, Catalog, ColumnKind, TableId};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, Filter, Noun, Thing};
use crate::offline::spans::{Meaning, Span};

impl Parser<'_> {
    /// The noun at a place and where it ends. "customer name" is one noun: a name that belongs to
    /// customers.
    pub(super) fn noun_at(&self, at: usize) -> Option<(Noun, usize)> {
        let span = self.span(at).filter(|s| s.is_noun())?;
        let noun = noun(self.catalog(), span);
        let dated = self.span(self.skip(at + 1, &[Cue::In, Cue::Is])).is_some_and(|s| s.time().is_some());
        let noun = if dated { noun } else { as_event(self.catalog(), noun) };
        // "orders created this month": a plural is what is asked for, not the owner of what follows.
        let singular = catalog::singular(&noun.text) == noun.text;
        if let (Some(owner), Some(next), true) = (noun.table(), self.span(at + 1), singular) {
            let mut owned = self::noun(self.catalog(), next);
            owned.things.retain(|(thing, _)| thing.table(self.catalog()) == owner);
            owned.tables.clear();
            if !owned.things.is_empty() && next.cue().is_none() {
                owned.owner = Some(owner);
                owned.text = format!("{} {}", noun.text, owned.text);
                return Some((owned, at + 2));
            }
        }
        Some((noun, at + 1))
    }

    /// The table that is named at a place, behind filler.
    pub(super) fn table_at(&self, from: usize) -> Option<(TableId, usize)> {
        let at = self.skip(from, &[Cue::Distinct, Cue::Is]);
        let (noun, next) = self.noun_at(at)?;
        Some((noun.table()?, next))
    }

    /// A table or a column that no stricter rule has used.
    pub(super) fn noun(&mut self) -> bool {
        let Some((noun, next)) = self.noun_at(self.at) else { return false };
        let preceded = self.at.checked_sub(1).and_then(|at| self.cue(at));
        match noun.table() {
            Some(table) => self.table_noun(table, &noun, preceded),
            None => {
                if !self.column_noun(noun, next) {
                    return false;
                }
            }
        }
        self.at = next;
        true
    }

    fn table_noun(&mut self, table: TableId, noun: &Noun, preceded: Option<Cue>) {
        let owns = matches!(preceded, Some(Cue::Of | Cue::In | Cue::From | Cue::Each)) || !self.draft.asked.is_empty();
        self.near = Some(table);
        if self.draft.asked.is_empty() && self.zone == Zone::Head {
            self.draft.asked.push(Asked::Entity { table, brief: self.which });
            self.draft.subject = Some(table);
        } else if self.draft.subject.is_none() && owns {
            self.draft.subject = Some(table);
            self.own_asked(table);
        } else if self.draft.subject != Some(table) {
            let joined = matches!(preceded, Some(Cue::And | Cue::Comma)) && self.zone == Zone::Head;
            if joined && !self.draft.has_aggregate() {
                self.draft.asked.push(Asked::Entity { table, brief: true });
            } else {
                self.own_asked(table);
                self.push_filter(Filter::Related { table, negated: false, count: None, inner: Vec::new() });
            }
        }
        // "sales by region" means the measure that goes by that name; "show sales" means rows.
        if let [Asked::Entity { .. }] = self.draft.asked.as_slice()
            && !self.shown()
            && noun.any(|t| t.is_measure(self.catalog()))
        {
            self.draft.asked = vec![Asked::Column(Noun { owner: None, ..noun.clone() })];
            self.draft.subject = None;
        }
    }

    fn shown(&self) -> bool {
        (0..self.at).any(|at| self.cue(at) == Some(Cue::Show))
    }

    /// "name and price of products": columns asked for before belong to the table named now.
    fn own_asked(&mut self, table: TableId) {
        let catalog = self.catalog();
        for asked in &mut self.draft.asked {
            if let Asked::Column(noun) | Asked::Aggregate(_, noun) | Asked::CountDistinct(noun) = asked
                && noun.owner.is_none()
            {
                if noun.belongs_to(table, catalog) {
                    noun.owner = Some(table);
                } else if matches!(noun.text.as_str(), "name" | "names")
                    && let [display] = catalog.table(table).display.as_slice()
                    && catalog.column(*display).kind == ColumnKind::Text
                {
                    // What it has instead of a name: a title, a label.
                    noun.things = vec![(Thing::Column(*display), 1.0)];
                    noun.owner = Some(table);
                }
            }
        }
    }

    fn column_noun(&mut self, noun: Noun, next: usize) -> bool {
        let catalog = self.catalog();
        let flag = noun.any(|t| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Flag));
        let said_of = self.zone == Zone::Body || !self.joins_request(self.at);
        if flag && (said_of || self.table_at(next).is_some()) {
            self.push_filter(Filter::Flag { column: noun, value: true });
            return true;
        }
        if self.zone == Zone::Body {
            return false;
        }
        // "tickets created per month" says which moment the months are of.
        let moment = |t: Thing| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Time);
        if !self.joins_request(self.at) && noun.any(moment) && self.draft.moment.is_none() {
            self.draft.moment = Some(noun);
            return true;
        }
        if !self.joins_request(self.at) {
            // "customer Ann Miller's email": the table only says whose. Otherwise no rule knows what
            // a second noun does here: "total enrollment of all schools".
            let owner = match self.draft.asked.as_slice() {
                [Asked::Entity { table, .. }] => Some(*table),
                _ => None,
            };
            match owner.filter(|table| noun.belongs_to(*table, self.catalog())) {
                Some(_) => self.draft.asked.clear(),
                None => return false,
            }
        }
        if let (Some(owner), None) = (noun.owner, self.draft.subject) {
            self.draft.subject = Some(owner);
            self.near = Some(owner);
        }
        self.draft.asked.push(Asked::Column(noun));
        true
    }
}

fn noun(catalog: &Catalog, span: &Span) -> Noun {
    let things = span.meanings.iter().filter_map(|m| match m {
        Meaning::Column(column, weight) => Some((Thing::Column(*column), *weight)),
        Meaning::Product(quantity, price, weight) => Some((Thing::Product(*quantity, *price), *weight)),
        _ => None,
    });
    let tables: Vec<(TableId, f32)> = span.tables().collect();
    // A word that is a table's whole name is meant for a column only if it is that column's too, or
    // if the column is the measure that goes by that name.
    let whole = tables.iter().any(|(_, w)| *w >= 0.95);
    let meant = |(thing, w): &(Thing, f32)| !whole || *w >= 0.95 || (*w >= 0.7 && thing.is_measure(catalog));
    Noun { text: span.text.to_lowercase(), things: things.filter(meant).collect(), tables, owner: None }
}

/// "customers who ordered": where no period follows, the verb of a moment stands for what happened then.
fn as_event(catalog: &Catalog, mut noun: Noun) -> Noun {
    let of_table = |(thing, _): &(Thing, f32)| {
        let moment = thing.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Time);
        moment && noun.tables.iter().any(|(t, _)| *t == thing.table(catalog))
    };
    if noun.is_column() && noun.things.iter().all(of_table) {
        noun.things.clear();
    }
    noun
}
