//! "the highest price", "most orders", "cheapest product", "latest order", "top 5 … by …".

use super::{Parser, Zone};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, By, Noun, Order, Thing};
use crate::offline::spans::Meaning;
use crate::offline::thesaurus::measured_by;
use domain::plan::{AggregateFn, Direction};

impl Parser<'_> {
    /// "top 5", "best", "first 10", "the 3 cheapest".
    pub(super) fn ranking(&mut self) -> bool {
        if self.first_of() {
            return true;
        }
        if let Some(n) = self.ordinal(self.at).filter(|_| self.is_superlative(self.at + 1)) {
            self.draft.offset = n.checked_sub(1);
            self.at += 1;
            return true;
        }
        // "the 10 best customers".
        if let (Some(count), Some(Cue::Top(direction))) =
            (self.number(self.at).and_then(|n| n.count()), self.cue(self.at + 1))
            && self.span(self.at + 1).is_some_and(|s| !s.is_noun() && s.text.to_lowercase() != "first")
        {
            self.draft.limit = Some(count);
            self.ranked = Some(direction);
            self.at += 2;
            return true;
        }
        if let Some(Cue::Top(direction)) = self.cue(self.at) {
            let count = self.number(self.at + 1).and_then(|n| n.count());
            let named_first = self.span(self.at).is_some_and(|s| s.text.eq_ignore_ascii_case("first"));
            if named_first && count.is_none() || self.span(self.at).is_some_and(|s| s.is_noun()) {
                return false;
            }
            self.draft.limit = Some(count.unwrap_or(10));
            if !named_first {
                self.ranked = Some(direction);
            }
            self.at += if count.is_some() { 2 } else { 1 };
            // "the top 3 highest rates" says it twice.
            if self.ranked.is_some() && self.cue(self.at) == Some(Cue::Extreme(direction, false)) {
                self.at += 1;
            }
            self.ranked_at_once(direction);
            return true;
        }
        let count = self.number(self.at).and_then(|n| n.count());
        // "the 3 cheapest products", "the 3 departments with the most courses".
        let named = self.noun_at(self.skip(self.at + 1, &[Cue::Distinct, Cue::Is])).is_some_and(|(noun, next)| {
            let listed = noun.table().is_some() || self.is_category(&noun);
            listed && (next..self.spans.len()).any(|at| self.is_superlative(at))
        });
        let asked_for = named && self.zone == Zone::Head && self.draft.asked.iter().all(|a| !a.is_aggregate());
        if count.is_some() && (self.is_superlative(self.at + 1) || asked_for) {
            self.draft.limit = count;
            self.at += 1;
            return true;
        }
        false
    }

    /// "second", "3rd": which one of a ranking.
    fn ordinal(&self, at: usize) -> Option<u64> {
        let span = self.span(at)?;
        let word = span.text.to_lowercase();
        let spelt = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
        if let Some(at) = spelt.iter().position(|w| *w == word) {
            return u64::try_from(at + 1).ok();
        }
        let marked = ["st", "nd", "rd", "th"].iter().any(|ending| word.ends_with(ending));
        span.number().filter(|_| marked).and_then(|n| n.count())
    }

    /// "the top 3 expensive rooms", "the mountains with the top 3 heights".
    fn ranked_at_once(&mut self, direction: Direction) {
        if self.ranked.is_none() {
            return;
        }
        if let Some((measures, less)) = self.span(self.at).and_then(|s| measured_by(&s.text.to_lowercase())) {
            let direction = if less { opposite(direction) } else { direction };
            self.ranked_by(By::Measured(measures), direction, self.at + 1, false);
        } else if !self.draft.asked.is_empty()
            && let Some((by @ By::Column(_), next)) = self.ranking_measure(self.at)
        {
            self.ranked_by(by, direction, next, false);
        }
    }

    /// "which month was revenue highest": the end stands behind its measure.
    pub(super) fn measured_last(&mut self) -> bool {
        if self.draft.asked.is_empty() || self.draft.has_aggregate() {
            return false;
        }
        let (by, end) = match self.aggregate_at(self.at) {
            Some((functions, nouns, end)) => match (functions.as_slice(), nouns.as_slice()) {
                ([function], [noun]) => (By::Aggregate(*function, noun.clone()), end),
                _ => return false,
            },
            None => match self.span(self.at).filter(|s| s.is_noun()).and_then(|_| self.measure_at(self.at)) {
                Some((noun, end)) => (By::Column(noun), end),
                None => return false,
            },
        };
        let at = self.skip(end, &[Cue::Is]);
        let Some(Cue::Extreme(direction, _)) = self.cue(at) else { return false };
        if self.measure_at(at + 1).is_some() || self.table_at(at + 1).is_some() {
            return false;
        }
        self.ranked_by(by, direction, at + 1, false);
        true
    }

    pub(super) fn is_superlative(&self, at: usize) -> bool {
        matches!(self.cue(at), Some(Cue::Extreme(..) | Cue::ExtremeInTime(_)))
            || self.span(at).is_some_and(|s| s.meanings.iter().any(|m| matches!(m, Meaning::Superlative(..))))
    }

    pub(super) fn superlative(&mut self) -> bool {
        let Some(span) = self.span(self.at) else { return false };
        if let Some(Meaning::Superlative(measures, direction)) =
            span.meanings.iter().find(|m| matches!(m, Meaning::Superlative(..))).cloned()
        {
            // "the oldest age": the measure itself is named.
            if let Some((noun, next)) = self.measure_at(self.at + 1)
                && measures.iter().any(|m| noun.text.split(' ').any(|w| w == *m))
            {
                return self.extreme_of(noun, direction, next);
            }
            self.order(By::Measured(measures), direction, self.at + 1);
            return true;
        }
        match span.cue() {
            Some(Cue::Extreme(direction, counts)) => self.extreme(direction, counts),
            Some(Cue::ExtremeInTime(direction)) => self.extreme_in_time(direction),
            // "users with the most common role" is about the role, not about the users.
            Some(Cue::Common(_)) if self.zone == Zone::Body && self.noun_at(self.at + 1).is_some() => false,
            Some(Cue::Common(direction)) => {
                self.order(By::Occurrences, direction, self.at + 1);
                true
            }
            Some(Cue::Aggregate(function @ (AggregateFn::Max | AggregateFn::Min))) if !self.draft.asked.is_empty() => {
                self.extreme(if function == AggregateFn::Max { Direction::Desc } else { Direction::Asc }, false)
            }
            _ => false,
        }
    }

    fn extreme(&mut self, direction: Direction, counts: bool) -> bool {
        let from = self.at + 1;
        if let Some((functions, nouns, next)) = self.aggregate_at(self.skip(from, &[]))
            && let ([function], [noun]) = (functions.as_slice(), nouns.as_slice())
        {
            self.ranked_by(By::Aggregate(*function, noun.clone()), direction, next, false);
            return true;
        }
        if self.cue(self.skip(from, &[])) == Some(Cue::Count) || counts {
            let at = if counts { from } else { self.skip(from, &[]) + 1 };
            if let Some((Asked::CountRows(table), next)) = self.counted(at) {
                self.near = Some(table);
                self.order(By::Rows(table), direction, next);
                return true;
            }
        }
        if self.largest_of(direction, from) {
            return true;
        }
        let Some((noun, next)) = self.measure_at(from) else {
            return counts && self.most_of_all(direction, from) || self.largest_by_what(direction, from);
        };
        // The highest rank is the smallest number to some and the largest to others.
        if ["rank", "ranking", "position", "place"].iter().any(|w| noun.text.ends_with(w)) {
            return false;
        }
        self.extreme_of(noun, direction, next)
    }

    fn extreme_of(&mut self, noun: Noun, direction: Direction, next: usize) -> bool {
        // "what is the highest price": the number itself is asked for.
        if self.draft.asked.iter().all(Asked::is_aggregate) && self.zone == Zone::Head {
            let function = if direction == Direction::Desc { AggregateFn::Max } else { AggregateFn::Min };
            self.draft.asked.push(Asked::Aggregate(function, noun));
            self.at = next;
            return true;
        }
        self.ranked_by(By::Column(noun), direction, next, false);
        true
    }

    /// "the amount of the largest payment": by what is asked for of it.
    fn largest_of(&mut self, direction: Direction, from: usize) -> bool {
        let catalog = self.catalog();
        let Some((table, next)) = self.table_at(from) else { return false };
        let [Asked::Column(noun)] = self.draft.asked.as_slice() else { return false };
        let of = |t: Thing| t.is_measure(catalog) && t.table(catalog) == table;
        if self.draft.subject.is_some() || !noun.any(of) {
            return false;
        }
        let by = Noun { owner: Some(table), ..noun.clone() };
        self.draft.asked = vec![Asked::Column(by.clone())];
        self.draft.subject = Some(table);
        self.near = Some(table);
        self.order(By::Column(by), direction, next);
        true
    }

    /// "the biggest site", "which order was the largest": by a measure that nobody named. "The highest
    /// reading" is a figure, of one of the measures that a reading has.
    fn largest_by_what(&mut self, direction: Direction, from: usize) -> bool {
        let catalog = self.catalog();
        let word = self.span(self.at).map(|s| s.text.to_lowercase()).unwrap_or_default();
        let sized = ["biggest", "largest", "smallest"].contains(&word.as_str());
        let named = self.table_at(from);
        if let (Some((table, next)), false, true) = (named, sized, self.draft.asked.is_empty()) {
            let measures = catalog.table(table).columns.iter().filter(|c| catalog.column(**c).is_measure());
            let things: Vec<(Thing, f32)> = measures.map(|c| (Thing::Column(*c), 1.0)).collect();
            if !["highest", "lowest"].contains(&word.as_str()) || things.len() < 2 {
                return false;
            }
            let text = self.span(next - 1).map(|s| s.text.to_lowercase()).unwrap_or_default();
            let noun = Noun { text, things, owner: Some(table), ..Noun::default() };
            return self.extreme_of(noun, direction, next);
        }
        let listed = matches!(self.draft.asked.as_slice(), [Asked::Entity { .. }])
            && self.noun_at(self.skip(from, &[])).is_none();
        let head = named.is_some() && self.draft.asked.is_empty();
        if !sized || !(listed || head) {
            return false;
        }
        self.draft.limit.get_or_insert(1);
        self.ranked = Some(direction);
        self.at = from;
        true
    }

    /// "the first payment", "the last order": by the moment that it happened at.
    fn first_of(&mut self) -> bool {
        let word = self.span(self.at).map(|s| s.text.to_lowercase()).unwrap_or_default();
        let direction = match word.as_str() {
            "first" => Direction::Asc,
            "last" => Direction::Desc,
            _ => return false,
        };
        let timed = self.table_at(self.at + 1).is_some_and(|(t, _)| !self.catalog().time_columns(t).is_empty());
        if timed {
            self.order(By::Time, direction, self.at + 1);
        }
        timed
    }

    /// "the instrument that is used the most", "which has the most records".
    fn most_of_all(&mut self, direction: Direction, from: usize) -> bool {
        let at = self.skip(from, &[Cue::In, Cue::Count]);
        let times = self.span(at).is_some_and(|s| s.text.eq_ignore_ascii_case("times"));
        let ends = at + usize::from(times) >= self.spans.len();
        if ends && !self.draft.asked.is_empty() {
            self.order(By::Occurrences, direction, self.spans.len());
        }
        ends && !self.draft.asked.is_empty()
    }

    fn extreme_in_time(&mut self, direction: Direction) -> bool {
        if let Some((noun, next)) = self.measure_at(self.at + 1) {
            if self.draft.asked.is_empty() {
                let function = if direction == Direction::Desc { AggregateFn::Max } else { AggregateFn::Min };
                self.draft.asked.push(Asked::Aggregate(function, noun));
                self.at = next;
            } else {
                self.order(By::Column(noun), direction, next);
            }
            return true;
        }
        // "the most recent shipment" of an order: by the moment of the shipment.
        let of = self.table_at(self.at + 1).map(|(table, _)| table);
        let moments = of.filter(|table| self.draft.subject.is_some_and(|subject| subject != *table));
        let moments = moments.map(|table| (table, self.catalog().time_columns(table)));
        let by = match moments.filter(|(_, columns)| !columns.is_empty()) {
            Some((table, columns)) => {
                let things = columns.into_iter().map(|c| (Thing::Column(c), 1.0)).collect();
                By::Column(Noun { text: "date".to_owned(), things, owner: Some(table), ..Noun::default() })
            }
            None => By::Time,
        };
        self.order(by, direction, self.at + 1);
        true
    }

    fn order(&mut self, by: By, direction: Direction, next: usize) {
        self.ranked_by(by, direction, next, false);
    }

    pub(super) fn ranked_by(&mut self, by: By, direction: Direction, next: usize, shown: bool) {
        self.draft.limit.get_or_insert(1);
        self.draft.orders.push(Order { by, direction, shown });
        self.ranked = None;
        self.at = next;
        if !self.draft.asked.is_empty() {
            self.enter(Zone::Body);
        }
    }

    /// "top 5 prices" are ranked by what they are; "top 5 regions" need a measure that nobody named.
    pub(super) fn finish_ranking(&mut self) {
        let Some(direction) = self.ranked.take() else { return };
        let measure = self.draft.asked.iter().find_map(|asked| match asked {
            Asked::Column(noun) if noun.any(|t| t.is_measure(self.catalog())) => Some(noun.clone()),
            _ => None,
        });
        match measure {
            Some(noun) => self.draft.orders.push(Order { by: By::Column(noun), direction, shown: true }),
            None => self.draft.ranked = Some(direction),
        }
    }
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Asc => Direction::Desc,
        Direction::Desc => Direction::Asc,
    }
}
