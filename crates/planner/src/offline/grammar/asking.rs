//! What is asked for where no noun says so: "which month", "who", "where", "when".

use super::{Parser, Zone};
use crate::offline::catalog::{ColumnId, ColumnKind, TableId};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, By, Filter, Key, Noun, Thing};
use crate::offline::spans::Span;
use crate::offline::values::Owned;

/// Words for places, as columns have them.
const PLACES: &[&str] = &["location", "address", "place", "venue", "city", "office", "country", "region"];

impl Parser<'_> {
    /// "which month", "on which day", "top 3 months": the period itself is asked for.
    pub(super) fn period_asked(&mut self) -> bool {
        let Some(span) = self.span(self.at) else { return false };
        let Some(unit) = span.unit().filter(|_| span.columns().all(|(_, w)| w < 1.0)) else { return false };
        let before = (0..self.at).rev().filter_map(|at| self.span(at)).find(|s| !s.is_stop());
        // "top 3 months by revenue".
        let opened = before.and_then(Span::cue) == Some(Cue::Which) || self.ranked.is_some();
        if !self.draft.asked.is_empty() || !opened {
            return false;
        }
        self.draft.asked.push(Asked::Period(unit));
        self.at += 1;
        true
    }

    /// "where are sales strongest": a place, ranked by a measure that stands before its end.
    pub(super) fn strongest_place(&mut self) -> bool {
        if self.at != 0 || !self.span(0).is_some_and(|s| s.text.eq_ignore_ascii_case("where")) {
            return false;
        }
        let Some((measure, next)) = self.measure_at(self.skip(1, &[Cue::Is])) else { return false };
        let end = self.skip(next, &[Cue::Is]);
        let Some(Cue::Extreme(direction, _)) = self.cue(end) else { return false };
        let catalog = self.catalog();
        let place = |c: &ColumnId| {
            let info = catalog.column(*c);
            info.kind == ColumnKind::Text && info.words.iter().any(|w| PLACES.contains(&w.as_str()))
        };
        let things: Vec<(Thing, f32)> = catalog.columns().filter(place).map(|c| (Thing::Column(c), 1.0)).collect();
        if things.is_empty() {
            return false;
        }
        self.draft.asked.push(Asked::Column(Noun { text: "where".to_owned(), things, ..Noun::default() }));
        self.ranked_by(By::Column(measure), direction, end + 1, false);
        true
    }

    /// "cities where students live", "which cities do students live in": the rows only tell which there are.
    pub(super) fn is_told_by_rows(&self) -> bool {
        let article = |s: &Span| ["the", "all", "any", "a", "an", "some"].contains(&s.text.as_str());
        let before = (0..self.at).rev().filter_map(|at| self.span(at)).find(|s| !article(s));
        let tells = ["where", "do", "does", "did", "with", "that", "which", "have", "has"];
        before.is_some_and(|s| tells.contains(&s.text.to_lowercase().as_str()))
    }

    /// Whether somebody is asked for.
    pub(super) fn is_who(&self) -> bool {
        let Some(at) = self.spans.iter().position(|s| s.text.eq_ignore_ascii_case("who")) else { return false };
        at.checked_sub(1).is_none_or(|before| self.cue(before) == Some(Cue::Comma))
    }

    pub(super) fn finish_asking(&mut self) {
        self.finish_where_and_when();
        self.hold_where_and_when();
        if self.draft.figure {
            self.finish_how_long();
        }
        if self.draft.asked.is_empty() {
            let word = self.spans.iter().find(|s| matches!(s.cue(), Some(Cue::Which | Cue::Clause | Cue::Show)));
            match word.map(|s| s.text.to_lowercase()).unwrap_or_default().as_str() {
                "who" => self.finish_who(),
                "where" => self.finish_where(),
                "when" => self.finish_when(),
                _ => self.finish_valued(),
            }
        }
    }

    /// "where is …", "when was …": its place, its moment; not its name.
    fn finish_where_and_when(&mut self) {
        let Some(word) = self.span(0).map(|s| s.text.to_lowercase()) else { return };
        let opens = matches!(self.spans.get(1), Some(next) if next.is_stop() || next.cue() == Some(Cue::Is));
        let [Asked::Entity { table, .. }] = self.draft.asked.as_slice() else { return };
        let (catalog, table) = (self.catalog(), *table);
        let columns: Vec<ColumnId> = match word.as_str() {
            "where" if opens => {
                let places = ["location", "address", "place", "venue", "city"];
                let named = |c: &&ColumnId| catalog.column(**c).words.iter().any(|w| places.contains(&w.as_str()));
                catalog.table(table).columns.iter().filter(named).copied().collect()
            }
            "when" if opens => catalog.time_columns(table),
            _ => return,
        };
        if columns.is_empty() {
            self.draft.unexplained.push(word);
            return;
        }
        let things = columns.into_iter().map(|c| (Thing::Column(c), 1.0)).collect();
        self.draft.asked = vec![Asked::Column(Noun { text: word, things, owner: Some(table), ..Noun::default() })];
    }

    /// "where does she live, and what is her email": whoever asks for a place or a moment is not served by
    /// something else alone.
    fn hold_where_and_when(&mut self) {
        let Some(word) = self.span(0).map(|s| s.text.to_lowercase()) else { return };
        let opens = matches!(self.spans.get(1), Some(next) if next.is_stop() || next.cue() == Some(Cue::Is));
        if !opens || !["where", "when"].contains(&word.as_str()) || self.draft.asked.is_empty() {
            return;
        }
        let catalog = self.catalog();
        let answers = |c: ColumnId| {
            let info = catalog.column(c);
            let place = info.words.iter().any(|w| PLACES.contains(&w.as_str()));
            if word == "where" { place } else { info.kind == ColumnKind::Time || info.is_year }
        };
        let served = |a: &Asked| match a {
            Asked::Period(_) => word == "when",
            Asked::Column(noun) | Asked::Aggregate(_, noun) => noun.any(|t| t.column().is_some_and(answers)),
            _ => false,
        };
        if !self.draft.asked.iter().any(served) {
            self.draft.unexplained.push(word);
        }
    }

    /// "how long do urgent tickets take": a duration that they have.
    fn finish_how_long(&mut self) {
        let catalog = self.catalog();
        let times = ["duration", "length", "time", "seconds", "minutes", "hours", "days"];
        let named = |c: &&ColumnId| {
            let info = catalog.column(**c);
            info.is_measure() && info.words.iter().any(|w| times.contains(&w.as_str()))
        };
        if let [Asked::Entity { table, .. }] = *self.draft.asked.as_slice() {
            let columns = catalog.table(table).columns.iter().filter(named);
            let things: Vec<(Thing, f32)> = columns.map(|c| (Thing::Column(*c), 1.0)).collect();
            if !things.is_empty() {
                let noun = Noun { text: "how long".to_owned(), things, owner: Some(table), ..Noun::default() };
                self.draft.asked = vec![Asked::Column(noun)];
                return;
            }
        }
        self.draft.unexplained.push("how long".to_owned());
    }

    /// "who was hired before 2020", "who has the most tickets": those whom the conditions or the
    /// ranking are about.
    fn finish_who(&mut self) {
        let ranked = self.draft.orders.iter().find_map(|o| match &o.by {
            By::Rows(table) => Some(*table),
            By::Column(noun) | By::Aggregate(_, noun) => self.only_table(noun),
            _ => None,
        });
        let told = self.draft.filters.iter().find_map(|f| match f {
            Filter::Time { column: Some(noun), .. } | Filter::Text { column: noun, .. } => self.only_table(noun),
            _ => None,
        });
        let found = match ranked {
            Some(table) => self.whose(table),
            None => told.filter(|t| self.has_name(*t)),
        };
        if let Some(table) = found {
            self.ask_for(table);
        }
    }

    /// Rows are somebody's: their own, if they have names, or those of the one table that they point at.
    fn whose(&self, table: TableId) -> Option<TableId> {
        let catalog = self.catalog();
        if self.has_name(table) && !catalog.edges.iter().any(|e| e.many == table) {
            return Some(table);
        }
        let mut owners = catalog.edges.iter().filter(|e| e.many == table && self.has_name(e.one)).map(|e| e.one);
        let keyed = |t: TableId| {
            let of = |k: &Key| matches!(k, Key::Column(n) if self.only_table(n) == Some(t));
            self.draft.keys.iter().any(of)
        };
        let first = owners.next()?;
        match owners.next() {
            None => Some(first),
            Some(second) => std::iter::once(first).chain([second]).chain(owners).find(|t| keyed(*t)),
        }
    }

    fn has_name(&self, table: TableId) -> bool {
        let catalog = self.catalog();
        let info = catalog.table(table);
        info.display.iter().all(|c| catalog.column(*c).kind == ColumnKind::Text && info.key != Some(*c))
    }

    /// The one table that the best readings of a noun belong to.
    fn only_table(&self, noun: &Noun) -> Option<TableId> {
        let best = noun.things.iter().map(|(_, w)| *w).fold(0.0_f32, f32::max);
        let mut tables = noun.things.iter().filter(|(_, w)| *w >= best).map(|(t, _)| t.table(self.catalog()));
        let first = tables.next()?;
        tables.all(|t| t == first).then_some(first)
    }

    pub(super) fn ask_for(&mut self, table: TableId) {
        self.draft.asked.push(Asked::Entity { table, brief: true });
        self.draft.subject = Some(table);
        self.enter(Zone::Body);
    }

    /// The table that a value which was named is what rows are called by.
    fn called_table(&self, names_only: bool) -> Option<TableId> {
        let catalog = self.catalog();
        let Some(Filter::Values { options, negated: false, .. }) = self.draft.filters.first() else { return None };
        let called =
            |o: &&Owned| !names_only || catalog.table(catalog.column(o.column).table).display.contains(&o.column);
        let mut tables = options.iter().flatten().filter(called).map(|o| catalog.column(o.column).table);
        let first = tables.next()?;
        tables.all(|t| t == first).then_some(first)
    }

    /// "where does Ann Miller work": the place of whoever goes by that name.
    fn finish_where(&mut self) {
        let Some(table) = self.called_table(true) else { return };
        let catalog = self.catalog();
        let place = |c: &&ColumnId| catalog.column(**c).words.iter().any(|w| PLACES.contains(&w.as_str()));
        let places: Vec<(Thing, f32)> =
            catalog.table(table).columns.iter().filter(place).map(|c| (Thing::Column(*c), 1.0)).collect();
        if !places.is_empty() {
            let noun = Noun { text: "where".to_owned(), things: places, owner: Some(table), ..Noun::default() };
            self.draft.asked.push(Asked::Column(noun));
            self.draft.subject = Some(table);
        }
    }

    /// "when was it coldest": the moment of the row at the end of a measure that only one table has.
    fn finish_when(&mut self) {
        let catalog = self.catalog();
        let Some(By::Measured(measures)) = self.draft.orders.first().map(|o| o.by.clone()) else { return };
        let named = |c: &ColumnId| {
            let info = catalog.column(*c);
            info.is_measure() && info.words.iter().any(|w| measures.contains(&w.as_str()))
        };
        let mut found = catalog.columns().filter(named);
        let (Some(only), None) = (found.next(), found.next()) else { return };
        let table = catalog.column(only).table;
        let things: Vec<(Thing, f32)> =
            catalog.time_columns(table).into_iter().map(|c| (Thing::Column(c), 1.0)).collect();
        if !things.is_empty() {
            let noun = Noun { text: "when".to_owned(), things, owner: Some(table), ..Noun::default() };
            self.draft.asked.push(Asked::Column(noun));
            self.draft.subject = Some(table);
        }
    }

    /// "list the displays", where displays are a category: the rows of that category.
    fn finish_valued(&mut self) {
        let opens = (0..self.spans.len()).find(|at| matches!(self.cue(*at), Some(Cue::Show | Cue::Which)));
        let head = opens.and_then(|at| self.span(self.skip(at + 1, &[Cue::Is])));
        let valued = head.is_some_and(|s| s.values().next().is_some());
        if let Some(table) = self.called_table(false).filter(|t| valued && self.has_name(*t)) {
            self.ask_for(table);
        }
    }
}
