//! "price over 100", "more than 5 orders", "older than 30", "above average".

use super::{Parser, Zone};
use crate::offline::catalog::{ColumnId, ColumnKind, TableId};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, Bound, Filter, Left, Noun, Thing};
use crate::offline::numbers::Number;
use crate::offline::spans::{Meaning, Span};
use domain::plan::{AggregateFn, Direction, Operator};

impl Parser<'_> {
    /// A column, or an aggregate of one, and what is said of it: "price is over 100",
    /// "total amount above 500", "created before 2020", "status is not open".
    pub(super) fn condition(&mut self) -> bool {
        if let Some((functions, nouns, end)) = self.aggregate_at(self.at)
            && let ([function], [noun]) = (functions.as_slice(), nouns.as_slice())
            && let Some((op, bound, next)) = self.bound_at(end)
        {
            let left = Left::Aggregate(*function, noun.clone());
            self.compare(left, op, bound, next);
            return true;
        }
        // "with a count over 1".
        if self.cue(self.at) == Some(Cue::Count)
            && let Some((op, Bound::Number(number), next)) = self.bound_at(self.at + 1)
            && let Some(n) = whole(number.value)
        {
            return self.rows(None, op, n, next);
        }
        // "with a number of tracks over 100".
        if self.cue(self.at) == Some(Cue::Count)
            && let Some((Asked::CountRows(table), end)) = self.counted(self.at + 1)
            && let Some((op, Bound::Number(number), next)) = self.bound_at(end)
            && let (Some(subject), Some(n)) = (self.draft.subject, whole(number.value))
        {
            if subject == table {
                return self.rows(Some(table), op, n, next);
            }
            let count = Some((op, n));
            self.draft.filters.push(Filter::Related { table, negated: false, count, inner: Vec::new() });
            self.at = next;
            return true;
        }
        let Some((mut noun, end)) = self.noun_at(self.at) else { return false };
        if noun.things.is_empty() {
            return false;
        }
        // "the address of the document with id 4": a condition is of what was named last.
        if let (None, Some(near)) = (noun.owner, self.near)
            && noun.belongs_to(near, self.catalog())
        {
            noun.owner = Some(near);
        } else if let (None, Some(near), "name" | "names") = (noun.owner, self.near, noun.text.as_str())
            && let [display] = self.catalog().table(near).display.as_slice()
            && self.catalog().column(*display).kind == ColumnKind::Text
        {
            noun.things = vec![(Thing::Column(*display), 1.0)];
            noun.owner = Some(near);
        }
        self.number_condition(&noun, end) || self.time_condition(&noun, end) || self.text_condition(&noun, end, false)
    }

    fn number_condition(&mut self, noun: &Noun, end: usize) -> bool {
        let catalog = self.catalog();
        // A key is compared only where it is named in full.
        let numeric = |(thing, weight): &(Thing, f32)| {
            thing.column().map(|c| catalog.column(c)).is_none_or(|info| {
                (info.kind == ColumnKind::Number || info.is_year) && (!info.is_key || *weight >= 0.9)
            })
        };
        let named = noun.table();
        let mut noun = noun.clone();
        noun.things.retain(numeric);
        if noun.things.is_empty() {
            return false;
        }
        noun.tables.clear();
        if let Some((op, bound, next)) = self.bound_at(end) {
            let next = self.said_again(&noun, &bound, next);
            if self.is_about_something_else(&noun, &bound, next) {
                return false;
            }
            // "sales over $1,000": the word names the rows as well as their measure.
            if let (Some(table), true) = (named, self.draft.asked.is_empty()) {
                self.draft.asked.push(Asked::Entity { table, brief: self.is_brief(table) });
                self.draft.subject = Some(table);
            }
            let (bound, next) = self.of_own_group(bound, next);
            let next = self.over_everything(&bound, next);
            // "above the average of …": an average over some rows only, which no rule reads.
            if matches!(bound, Bound::Aggregate(_)) && matches!(self.cue(next), Some(Cue::Of | Cue::In | Cue::From)) {
                return false;
            }
            let next = next + usize::from(self.unit_at(next).is_some());
            self.compare(Left::Column(noun), op, bound, next);
            return true;
        }
        // "age 30", "price is 5": a number right behind a column is its value.
        let at = self.skip_be(end);
        match self.number(at) {
            Some(_) if noun.things.iter().all(|(_, w)| *w < 0.75) => false,
            Some(number) if self.zone == Zone::Body || at > end || self.is_tied(self.at) => {
                self.compare(Left::Column(noun), Operator::Equal, Bound::Number(number), at + 1);
                true
            }
            _ => false,
        }
    }

    /// "who built at least 3 bridges" counts bridges, whatever column has "built" in its name; and no
    /// year is 3.
    fn is_about_something_else(&self, noun: &Noun, bound: &Bound, next: usize) -> bool {
        let Bound::Number(number) = bound else { return false };
        let catalog = self.catalog();
        let year = noun.things.iter().all(|(t, _)| t.column().is_some_and(|c| catalog.column(c).is_year));
        let partly = noun.things.iter().all(|(_, w)| *w < 0.9);
        (year && !(1000.0..2200.0).contains(&number.value)) || (partly && self.table_at(next).is_some())
    }

    fn time_condition(&mut self, noun: &Noun, end: usize) -> bool {
        let catalog = self.catalog();
        let moment = |thing: Thing| {
            thing.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Time || catalog.column(c).is_year)
        };
        let at = self.skip(end, &[Cue::Is, Cue::In]);
        let Some(when) = self.span(at).and_then(Span::time) else { return false };
        if !noun.things.iter().any(|(t, w)| *w > 0.5 && moment(*t)) {
            return false;
        }
        let mut column = noun.clone();
        column.things.retain(|(t, _)| moment(*t));
        column.tables.clear();
        self.push_filter(Filter::Time { when: when.clone(), column: Some(column), near: self.near });
        self.at = at + 1;
        true
    }

    /// A comparison that does not name its column first.
    pub(super) fn comparison(&mut self) -> bool {
        if let Some(Meaning::Comparative(measures, op)) = self.meaning(|m| matches!(m, Meaning::Comparative(..))) {
            let at = self.skip(self.at + 1, &[]);
            let bound = match (self.number(at), self.cue(at)) {
                (Some(number), _) => Bound::Number(number),
                (None, Some(Cue::Aggregate(function))) => Bound::Aggregate(function),
                _ => return false,
            };
            let years = self.span(at + 1).is_some_and(|s| ["years", "year", "age"].contains(&s.text.as_str()));
            let end = at + 1 + usize::from(years || self.unit_at(at + 1).is_some());
            let end = if self.span(end).is_some_and(|s| s.text == "old") { end + 1 } else { end };
            let left = self.measured_noun(measures).map_or(Left::Measured(measures), Left::Column);
            let end = if matches!(bound, Bound::Aggregate(_)) { self.over_all(measures, end) } else { end };
            let (bound, end) = self.of_own_group(bound, end);
            // An average over some rows only, which no rule reads.
            if matches!(bound, Bound::Aggregate(_)) && matches!(self.cue(end), Some(Cue::Of | Cue::In | Cue::From)) {
                return false;
            }
            self.compare(left, op, bound, end);
            return true;
        }
        if let Some((noun, op, bound, next)) = self.split_comparison() {
            self.compare(Left::Column(noun), op, bound, next);
            return true;
        }
        let Some((op, bound, next)) = self.bound_at(self.at) else { return self.so_many() };
        if let Some(left) = self.compared_before(next) {
            self.compare(left, op, bound, next);
            return true;
        }
        match bound {
            Bound::Number(number) => self.number_first(op, number, next),
            Bound::Range(low, high) if self.is_money(low) || self.is_money(high) => {
                self.compare(Left::Money, op, bound, next);
                true
            }
            _ => match self.measure_at(next).map(|(noun, end)| (noun, self.over_everything(&bound, end))) {
                // "below the average salary of …": an average over some rows only.
                Some((_, end)) if matches!(self.cue(end), Some(Cue::Of | Cue::In | Cue::From)) => false,
                Some((noun, end)) => {
                    self.compare(Left::Column(noun), op, bound, end);
                    true
                }
                None => false,
            },
        }
    }

    /// "more than 5 orders" counts rows; "over 100 dollars", "at least 3 units" measure.
    fn number_first(&mut self, op: Operator, number: Number, next: usize) -> bool {
        let at = self.skip(next, &[Cue::Distinct, Cue::In, Cue::Of]);
        let (inner, at) = self.modifiers(at);
        let clause = (next..at).any(|at| self.opens_clause(at));
        if let Some((noun, end)) = self.noun_at(at).filter(|_| !clause) {
            if let (Some(table), Some(n)) = (noun.table(), whole(number.value)) {
                if self.draft.subject == Some(table) || self.draft.subject.is_none() {
                    let counted = self.rows(Some(table), op, n, end);
                    self.draft.filters.extend(inner.into_iter().filter(|_| counted));
                    return counted;
                }
                let count = Some((op, n));
                self.draft.filters.push(Filter::Related { table, negated: false, count, inner });
                self.near = Some(table);
                self.at = end;
                return true;
            }
            if let Some((measure, end)) = self.measure_at(at).filter(|_| inner.is_empty()) {
                self.compare(Left::Column(measure), op, Bound::Number(number), end);
                return true;
            }
        }
        if self.is_money(number) {
            self.compare(Left::Money, op, Bound::Number(number), next);
            return true;
        }
        // "larger than 10,000 m2": the unit says what is measured.
        if let Some(measures) = self.unit_at(next) {
            let left = self.measured_noun(measures).map_or(Left::Measured(measures), Left::Column);
            self.compare(left, op, Bound::Number(number), next + 1);
            return true;
        }
        false
    }

    /// "below 600 or above 900": of what was compared just before.
    fn compared_before(&self, next: usize) -> Option<Left> {
        let joined = self.at.checked_sub(1).and_then(|at| self.cue(at));
        let bare = self.measure_at(next).is_none() && self.table_at(next).is_none();
        match self.draft.filters.last() {
            Some(Filter::Compare { left, .. }) if bare && matches!(joined, Some(Cue::Or | Cue::And)) => {
                Some(left.clone())
            }
            _ => None,
        }
    }

    /// "with two beds": so many, neither more nor less.
    fn so_many(&mut self) -> bool {
        let Some(number) = self.number(self.at) else { return false };
        let Some((noun, next)) = self.measure_at(self.at + 1) else { return false };
        let sure = noun.things.iter().any(|(_, w)| *w >= 0.8);
        if self.draft.asked.is_empty() || !sure || number.money || self.is_compared(next) {
            return false;
        }
        self.compare(Left::Column(noun), Operator::Equal, Bound::Number(number), next);
        true
    }

    /// The measure of an adjective, of what was named last or of the subject.
    fn measured_noun(&self, measures: &[&str]) -> Option<Noun> {
        let catalog = self.catalog();
        let of = |table: TableId| {
            let named = |c: &&ColumnId| {
                let info = catalog.column(**c);
                info.is_measure() && info.words.iter().any(|w| measures.contains(&w.as_str()))
            };
            let mut found = catalog.table(table).columns.iter().filter(named);
            let only = found.next().filter(|_| found.next().is_none())?;
            let things = vec![(Thing::Column(*only), 1.0)];
            Some(Noun { text: measures.join(" or "), things, owner: Some(table), ..Noun::default() })
        };
        self.near.and_then(of).or_else(|| self.draft.subject.and_then(of))
    }

    /// "more expensive than the average price across all products": said once more, over all rows.
    fn over_all(&self, measures: &[&str], from: usize) -> usize {
        let again = |n: &Noun| n.text.split(' ').any(|w| measures.contains(&w));
        let end = self.measure_at(from).filter(|(n, _)| again(n)).map_or(from, |(_, end)| end);
        match (self.cue(end), self.table_at(self.skip(end, &[Cue::Of, Cue::In]))) {
            (Some(Cue::Of | Cue::In), Some((table, next))) if Some(table) == self.draft.subject => next,
            _ => end,
        }
    }

    /// "majors with fewer than 3 students": groups of what is asked for, by how many rows they have.
    fn rows(&mut self, table: Option<TableId>, op: Operator, n: u64, next: usize) -> bool {
        let listed = self.draft.asked.iter().any(|a| matches!(a, Asked::Column(_)));
        if !listed {
            return false;
        }
        self.enter(Zone::Body);
        self.push_filter(Filter::Rows { table, op, n });
        self.near = table.or(self.near);
        self.at = next;
        true
    }

    /// "more than once", "at least 3 times", "twice": of the rows just named, or else of those asked for.
    pub(super) fn occurring(&mut self) -> bool {
        let Some((op, n, end)) = self.times_at(self.at) else { return false };
        let at = self.skip(end, &[Cue::In, Cue::From, Cue::Of]);
        // "used more than twice in claims".
        if let Some((table, next)) = self.table_at(at)
            && self.draft.subject.is_some_and(|s| s != table)
        {
            self.draft.filters.push(Filter::Related { table, negated: false, count: Some((op, n)), inner: Vec::new() });
            self.at = next;
            return true;
        }
        if let Some(Filter::Related { count: count @ None, negated: false, .. }) = self.draft.filters.last_mut() {
            *count = Some((op, n));
            self.at = end;
            return true;
        }
        self.rows(None, op, n, end)
    }

    fn times_at(&self, from: usize) -> Option<(Operator, u64, usize)> {
        let word = |at: usize| self.span(at).map(|s| s.text.to_lowercase()).unwrap_or_default();
        let (op, at) = match self.cue(from) {
            Some(Cue::Compare(op)) => (op, from + 1),
            _ => (Operator::Equal, from),
        };
        match word(at).as_str() {
            "once" if at > from => return Some((op, 1, at + 1)),
            "twice" => return Some((op, 2, at + 1)),
            _ => {}
        }
        let n = whole(self.number(at)?.value)?;
        (word(at + 1) == "times").then_some((op, n, at + 2))
    }

    fn compare(&mut self, left: Left, op: Operator, bound: Bound, next: usize) {
        let words = self.spans.get(self.at..next).unwrap_or_default().iter().map(|s| s.text.as_str());
        let text = words.collect::<Vec<_>>().join(" ");
        self.enter(Zone::Body);
        self.push_filter(Filter::Compare { left, op, bound, text });
        self.at = next;
    }

    /// "is over 100", "between 5 and 10", "above the average": operator, bound and end.
    fn bound_at(&self, from: usize) -> Option<(Operator, Bound, usize)> {
        let at = self.skip_be(from);
        if let (Some(number), Some(Cue::OrBeyond(op))) = (self.number(at), self.cue(at + 1)) {
            return Some((op, Bound::Number(number), at + 2));
        }
        match self.cue(at)? {
            // "only one", "just 2".
            Cue::Continue => Some((Operator::Equal, Bound::Number(self.number(at + 1)?), at + 2)),
            Cue::Compare(op) => {
                let mut next = self.skip(at + 1, &[Cue::Of, Cue::In]);
                // "the overall average".
                let overall = self.span(next).is_some_and(|s| s.text.eq_ignore_ascii_case("overall"));
                next += usize::from(overall && matches!(self.cue(next + 1), Some(Cue::Aggregate(_))));
                if let Some(number) = self.number(next) {
                    return Some((op, Bound::Number(number), next + 1));
                }
                match self.cue(next)? {
                    // "less than the largest salary".
                    Cue::Extreme(Direction::Desc, false) => Some((op, Bound::Aggregate(AggregateFn::Max), next + 1)),
                    Cue::Extreme(Direction::Asc, false) => Some((op, Bound::Aggregate(AggregateFn::Min), next + 1)),
                    Cue::Aggregate(function) if op != Operator::Equal => {
                        Some((op, Bound::Aggregate(function), next + 1))
                    }
                    _ => None,
                }
            }
            Cue::Between => {
                let low = self.number(self.skip(at + 1, &[]))?;
                let and = self.skip(at + 1, &[]) + 1;
                let joined = self.cue(and) == Some(Cue::And) || self.span(and).is_some_and(|s| s.text == "to");
                let high = self.number(and + 1).filter(|_| joined)?;
                Some((Operator::Between, Bound::Range(low, high), and + 2))
            }
            _ => None,
        }
    }

    /// "price above the average price": where the measure is said again, it ends there.
    pub(super) fn said_again(&self, noun: &Noun, bound: &Bound, next: usize) -> usize {
        match (bound, self.measure_at(next)) {
            (Bound::Aggregate(_), Some((again, end))) if again.things.iter().any(|t| noun.things.contains(t)) => end,
            _ => next,
        }
    }

    pub(super) fn is_compared(&self, at: usize) -> bool {
        self.bound_at(at).is_some()
    }

    fn meaning(&self, test: impl Fn(&Meaning) -> bool) -> Option<Meaning> {
        self.span(self.at)?.meanings.iter().find(|m| test(m)).cloned()
    }
}

fn whole(value: f64) -> Option<u64> {
    (value.fract() == 0.0 && (0.0..1e9).contains(&value)).then_some(value as u64)
}
