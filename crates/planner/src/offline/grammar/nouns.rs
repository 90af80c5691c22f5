//! Nouns: what is asked for, what it belongs to, what else takes part.

use super::{Parser, Zone};
use crate::offline::catalog::{self, Catalog, ColumnKind, TableId};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, Bound, Filter, Key, Left, Noun, Thing};
use crate::offline::spans::{Meaning, Span};
use crate::offline::text::stem;
use domain::plan::Operator;

/// Names of tables nearer than this are a tie.
const TIE: f32 = 0.03;

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
            if owned.things.is_empty()
                && matches!(next.text.as_str(), "name" | "names")
                && let [display] = self.catalog().table(owner).display.as_slice()
                && self.catalog().column(*display).kind == ColumnKind::Text
            {
                owned.things = vec![(Thing::Column(*display), 0.95)];
            }
            if !owned.things.is_empty() && next.cue().is_none() && self.deed_at(at + 1).is_none() {
                owned.owner = Some(owner);
                owned.text = format!("{} {}", noun.text, owned.text);
                return Some((owned, at + 2));
            }
        }
        let next = if self.is_label(&noun, at + 1) { at + 2 } else { at + 1 };
        Some((noun, next))
    }

    /// The table that is named at a place, behind filler.
    pub(super) fn table_at(&self, from: usize) -> Option<(TableId, usize)> {
        let at = self.skip(from, &[Cue::Distinct, Cue::Is]);
        let (noun, next) = self.noun_at(at)?;
        Some((noun.table()?, next))
    }

    /// A table or a column that no stricter rule has used.
    pub(super) fn noun(&mut self) -> bool {
        if let Some(of) = self.labelled(self.at).filter(|_| self.joins_request(self.at)) {
            self.at = of;
        }
        let Some((noun, next)) = self.noun_at(self.at) else { return false };
        if self.is_modifier(&noun, next) || self.is_done_by_pronoun(self.at) {
            return false;
        }
        let preceded = self.at.checked_sub(1).and_then(|at| self.cue(at));
        match noun.table() {
            // "allergies and their types": one more thing that is asked for, not the table once more.
            Some(table) if self.draft.subject == Some(table) && self.is_further(preceded) => {
                let column = Noun { tables: Vec::new(), owner: Some(table), ..noun };
                if !column.belongs_to(table, self.catalog()) {
                    return false;
                }
                self.draft.asked.push(Asked::Column(column));
            }
            Some(table) => {
                self.table_noun(table, &noun, preceded);
                if let Some(number) = self.key_behind(table, &noun, next) {
                    self.push_filter(number);
                    self.at = next + 1;
                    return true;
                }
            }
            None => {
                if !self.column_noun(noun, next) {
                    return false;
                }
            }
        }
        self.at = next;
        true
    }

    /// "ticket 25000": the row of that number.
    fn key_behind(&self, table: TableId, noun: &Noun, at: usize) -> Option<Filter> {
        let catalog = self.catalog();
        let key = catalog.table(table).key.filter(|c| catalog.column(*c).kind == ColumnKind::Number)?;
        let number = self.number(at).filter(|n| n.value.fract() == 0.0 && !n.money && !n.percent && !n.short)?;
        let one = catalog::singular(&noun.text) == noun.text && self.noun_at(at + 1).is_none() && !self.is_compared(at);
        let things = vec![(Thing::Column(key), 1.0)];
        let column = Noun { text: catalog.column(key).words.join(" "), things, owner: Some(table), ..Noun::default() };
        let text = format!("{} {}", noun.text, number.value);
        one.then_some(Filter::Compare {
            left: Left::Column(column),
            op: Operator::Equal,
            bound: Bound::Number(number),
            text,
        })
    }

    /// "music artists": a word that is only part of a table's name, before the name of another.
    fn is_modifier(&self, noun: &Noun, next: usize) -> bool {
        let partly = noun.tables.iter().all(|(_, w)| *w < 0.75) && noun.table().is_some();
        let other = self.span(next).is_some_and(|s| s.tables().any(|(t, w)| w >= 0.9 && noun.table() != Some(t)));
        partly && other
    }

    fn is_further(&self, before: Option<Cue>) -> bool {
        let joined = matches!(before, Some(Cue::And | Cue::Comma)) || self.joins_request(self.at);
        joined && self.zone == Zone::Head && !self.draft.asked.is_empty()
    }

    fn table_noun(&mut self, table: TableId, noun: &Noun, preceded: Option<Cue>) {
        let owns = matches!(preceded, Some(Cue::Of | Cue::In | Cue::From | Cue::Each)) || !self.draft.asked.is_empty();
        // "name and address of the customers", "the id, genre and artist": one more thing asked for.
        let listed = matches!(preceded, Some(Cue::And | Cue::Comma)) && self.zone == Zone::Head;
        if listed && !self.draft.asked.is_empty() && !self.draft.has_aggregate() && self.draft.keys.is_empty() {
            let columns: Vec<(Thing, f32)> = noun.things.iter().copied().filter(|(_, w)| *w >= 0.8).collect();
            let column = Noun { things: columns, tables: Vec::new(), ..noun.clone() };
            self.draft.asked.push(if column.things.is_empty() {
                Asked::Entity { table, brief: true }
            } else {
                Asked::Column(column)
            });
            return;
        }
        self.near = Some(table);
        if self.draft.asked.is_empty() && self.zone == Zone::Head {
            self.draft.asked.push(Asked::Entity { table, brief: self.is_brief(table) });
            self.draft.subject = Some(table);
        } else if self.draft.subject.is_none() && owns {
            self.draft.subject = Some(table);
            self.draft.range = self.is_told_by_rows();
            self.own_asked(table);
        } else {
            self.own_asked(table);
            if self.draft.subject != Some(table) {
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

    /// "which customers", "list the customers", "customers in Oslo": by their names, where they have names.
    pub(super) fn is_brief(&self, table: TableId) -> bool {
        let catalog = self.catalog();
        let info = catalog.table(table);
        let named = info.display.iter().all(|c| catalog.column(*c).kind == ColumnKind::Text && info.key != Some(*c));
        self.which || named
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

    /// A word that is equally the noun of several tables' names ("regular orders", "actual orders"), unless another word names one of them.
    pub(super) fn which_table(&self) -> Option<(String, Vec<TableId>)> {
        let tied = |span: &Span| {
            let best = span.tables().map(|(_, w)| w).fold(0.0_f32, f32::max);
            let column = span.columns().map(|(_, w)| w).fold(0.0_f32, f32::max);
            let mut tables: Vec<TableId> = span.tables().filter(|(_, w)| best - w < TIE).map(|(t, _)| t).collect();
            // A bridge has the names of what it ties together in its own: that is no ambiguity.
            let all = tables.clone();
            tables.retain(|t| !all.iter().any(|one| points_at(self.catalog(), *t, *one)));
            if best >= column.max(0.8) && span.cue().is_none() { tables } else { Vec::new() }
        };
        let named: Vec<Vec<TableId>> = self.spans.iter().map(tied).collect();
        let sure = |t: &TableId| named.iter().any(|n| n.as_slice() == [*t]);
        let open = |tables: &&Vec<TableId>| tables.len() > 1 && !tables.iter().any(sure);
        let (at, tables) = named.iter().enumerate().find(|(_, tables)| open(tables))?;
        let first = tables.first()?;
        let used = self.draft.subject == Some(*first) || self.names_table(*first);
        let text = self.span(at)?.text.to_lowercase();
        used.then(|| (text, tables.clone()))
    }

    fn names_table(&self, table: TableId) -> bool {
        let asked = |a: &Asked| matches!(a, Asked::Entity { table: t, .. } | Asked::CountRows(t) | Asked::Whole(t) if *t == table);
        let related = |f: &Filter| matches!(f, Filter::Related { table: t, .. } if *t == table);
        self.draft.asked.iter().any(asked) || self.draft.filters.iter().any(related)
    }

    /// "all information about customers", "customer information"; elsewhere the word says nothing.
    pub(super) fn whole(&mut self) -> bool {
        let at = self.skip(self.at + 1, &[Cue::Of, Cue::In, Cue::From, Cue::Clause, Cue::Each]);
        match (self.draft.asked.as_slice(), self.table_at(at)) {
            ([], Some((table, next))) => {
                self.draft.asked.push(Asked::Whole(table));
                self.draft.subject = Some(table);
                self.near = Some(table);
                self.at = next;
            }
            ([Asked::Entity { table, .. }], _) => {
                self.draft.asked = vec![Asked::Whole(*table)];
                self.at += 1;
            }
            ([_, ..], _) if self.joins_request(self.at) => return false,
            _ => self.at += 1,
        }
        true
    }

    /// "for each country, … of that country": a column that is asked for, or grouped by, once more.
    fn is_said_already(&self, noun: &Noun) -> bool {
        let best = |n: &Noun| n.things.iter().map(|(_, w)| *w).fold(0.0_f32, f32::max);
        // Two words that merely mean something alike are not one thing said twice: "gross margin".
        let catalog = self.catalog();
        let spelt = |t: Thing| {
            let words = t.column().map(|c| catalog.column(c).words.as_slice()).unwrap_or_default();
            words.iter().any(|w| {
                let alike =
                    |said: &str| stem(said) == stem(w) || strsim::osa_distance(&catalog::singular(said), w) == 1;
                noun.text.split(' ').any(alike)
            })
        };
        let behind = self.at.checked_sub(1).and_then(|at| self.span(at)).is_some_and(Span::is_noun);
        if behind && best(noun) < 0.8 && !noun.things.iter().any(|(t, _)| spelt(*t)) {
            return false;
        }
        let same = |known: &Noun| {
            let top = best(known);
            known.things.iter().any(|(t, w)| *w >= top && noun.things.iter().any(|(o, x)| o == t && *x >= best(noun)))
        };
        let keys = self.draft.keys.iter().filter_map(|k| if let Key::Column(n) = k { Some(n) } else { None });
        let asked = self.draft.asked.iter().filter_map(|a| if let Asked::Column(n) = a { Some(n) } else { None });
        keys.chain(asked).any(same)
    }

    fn is_done_with(&self, noun: &Noun, next: usize) -> bool {
        let at = self.skip(next, &[Cue::Clause, Cue::By, Cue::In, Cue::From]);
        let owns = |column| noun.things.iter().any(|(t, _)| t.column() == Some(column));
        noun.text.ends_with("ed") && self.span(at).is_some_and(|s| s.values().any(|(o, _)| owns(o.column)))
    }

    fn column_noun(&mut self, noun: Noun, next: usize) -> bool {
        let catalog = self.catalog();
        let flag = noun.any(|t| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Flag));
        let said_of = self.zone == Zone::Body || !self.joins_request(self.at);
        if flag && (said_of || self.table_at(next).is_some()) {
            self.push_filter(Filter::Flag { column: noun, value: true });
            return true;
        }
        if said_of && self.is_said_already(&noun) {
            return true;
        }
        let period = self.draft.asked.iter().any(|a| matches!(a, Asked::Period(_)));
        if self.zone == Zone::Body && !period {
            return false;
        }
        // "tickets created per month" says which moment the months are of.
        let moment = |t: Thing| {
            let info = t.column().map(|c| catalog.column(c));
            info.is_some_and(|c| c.kind == ColumnKind::Time || period && c.is_year)
        };
        // "who placed the most orders": the verb of a moment is not asked for.
        let who = self.draft.asked.is_empty() && self.is_who();
        if (who || !self.joins_request(self.at)) && noun.any(moment) && self.draft.moment.is_none() {
            self.draft.moment = Some(noun);
            return true;
        }
        // "sites that are heated with gas": the value that follows says how.
        if !self.joins_request(self.at) && self.is_done_with(&noun, next) {
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

pub(super) fn noun(catalog: &Catalog, span: &Span) -> Noun {
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

fn points_at(catalog: &Catalog, many: TableId, one: TableId) -> bool {
    many != one && catalog.edges.iter().any(|e| e.many == many && e.one == one)
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
