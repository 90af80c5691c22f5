//! "how many orders", "average price", "maximum and minimum age", "how much did we sell".

use super::{Parser, Zone};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, Noun, Thing};
use domain::plan::{AggregateFn, Direction};

impl Parser<'_> {
    /// "how many …", "number of …".
    pub(super) fn count(&mut self) -> bool {
        if !matches!(self.cue(self.at), Some(Cue::Count)) || self.zone == Zone::Body && self.draft.has_aggregate() {
            return false;
        }
        if !self.joins_request(self.at) && !self.goes_along(self.at) {
            return false;
        }
        let start = self.at;
        self.at = self.skip(self.at + 1, &[Cue::Of, Cue::Is, Cue::Count]);
        // "how many completed orders": the value before the noun is a condition.
        while self.values() {}
        let Some((asked, next)) = self.counted(self.at).or_else(|| self.counted_them(self.at)) else {
            self.at = start;
            return false;
        };
        if let Asked::CountRows(table) = asked {
            self.draft.subject.get_or_insert(table);
            self.near = Some(table);
        }
        self.draft.asked.push(asked);
        self.at = next;
        true
    }

    /// "the types with the number of works of each": shown beside them, where nothing is compared.
    fn goes_along(&self, at: usize) -> bool {
        let before = (0..at).rev().find_map(|i| self.span(i).filter(|s| !s.is_stop()));
        let with = before.is_some_and(|s| ["with", "having"].contains(&s.text.as_str()));
        let compared = self.counted(at + 1).is_some_and(|(_, next)| self.is_compared(next));
        let listed = self.draft.asked.iter().all(|a| matches!(a, Asked::Column(_)));
        with && listed && !compared && self.draft.orders.is_empty() && self.draft.limit.is_none()
    }

    /// What is counted at a place: rows of a table, different values of a column, or units.
    pub(super) fn counted(&self, from: usize) -> Option<(Asked, usize)> {
        let mut at = self.skip(from, &[Cue::Of, Cue::Is, Cue::Both, Cue::Count]);
        let distinct = self.cue(at) == Some(Cue::Distinct);
        if distinct {
            at = self.skip(at + 1, &[Cue::Of]);
        }
        if let Some((table, next)) = self.kinds_of(at) {
            return Some((Asked::CountRows(table), next));
        }
        // "how many kinds of brands": different ones.
        if let Some((noun, next)) = self.labelled(at).and_then(|of| self.noun_at(of)) {
            return Some((Asked::CountDistinct(noun), next));
        }
        let (noun, next) = self.noun_at(at)?;
        if let Some(table) = noun.table() {
            return Some((Asked::CountRows(table), next));
        }
        let catalog = self.catalog();
        if noun.any(|t| t.is_measure(catalog)) && !distinct {
            let counts = noun.any(|t| t.is_additive(catalog));
            // "how many credits does the course have": the number that it has.
            let has = self.span(next).is_some_and(|s| ["do", "does", "did"].contains(&s.text.as_str()));
            if has && !counts && self.draft.asked.is_empty() {
                return Some((Asked::Column(noun), next));
            }
            return counts.then_some((Asked::Aggregate(AggregateFn::Sum, noun), next));
        }
        // How many of a number is not how many different numbers; and a mere synonym is not enough.
        let counts = |(t, _): &(Thing, f32)| {
            let words = t.column().map(|c| catalog.column(c).words.as_slice()).unwrap_or_default();
            words.iter().any(|w| matches!(w.as_str(), "count" | "number" | "amount" | "quantity" | "total"))
        };
        let sure = noun.things.iter().any(|(_, w)| *w > 0.8);
        (sure && (distinct || !noun.things.iter().any(counts))).then_some((Asked::CountDistinct(noun), next))
    }

    /// "… and how many there are", "and the number of them in each": of what is asked for already.
    fn counted_them(&self, from: usize) -> Option<(Asked, usize)> {
        let listed = self.draft.asked.iter().any(|a| matches!(a, Asked::Column(_)));
        let next = self.skip(from, &[Cue::Of, Cue::Is, Cue::In]);
        let closes = next >= self.spans.len()
            || matches!(self.cue(next), Some(Cue::Each | Cue::Comma | Cue::OrderBy | Cue::Arranged | Cue::Sorted(_)));
        (listed && closes).then_some((Asked::CountThem, next))
    }

    /// "average price", "total revenue and quantity", "minimum, maximum and average age".
    pub(super) fn aggregate(&mut self) -> bool {
        let Some((functions, nouns, next)) = self.aggregate_at(self.at) else { return false };
        if self.zone == Zone::Body && !self.draft.asked.is_empty() || !self.joins_request(self.at) {
            return false;
        }
        for noun in &nouns {
            for function in &functions {
                self.draft.asked.push(Asked::Aggregate(*function, noun.clone()));
            }
        }
        if let Some(owner) = nouns.iter().find_map(|n| n.owner) {
            self.draft.subject.get_or_insert(owner);
            self.near = Some(owner);
        }
        self.at = next;
        true
    }

    /// Aggregate words and the measures that follow them.
    pub(super) fn aggregate_at(&self, from: usize) -> Option<(Vec<AggregateFn>, Vec<Noun>, usize)> {
        let listed = self
            .function(self.skip(from + 1, &[Cue::And, Cue::Comma]))
            .or_else(|| self.end_at(self.skip(from + 1, &[Cue::And, Cue::Comma])));
        let opening = self.function(from).or_else(|| self.end_at(from).filter(|_| listed.is_some()));
        let mut functions = vec![opening?];
        let mut at = from + 1;
        loop {
            let next = self.skip(at, &[Cue::And, Cue::Comma]);
            match self.function(next).or_else(|| self.end_of_numbers(next)).or_else(|| self.end_at(next)) {
                Some(function) => functions.push(function),
                None => break,
            }
            at = next + 1;
        }
        let (first, mut at) = self.measure_at(at)?;
        let mut nouns = vec![first];
        // "average age and salary": a further measure is meant the same way.
        while matches!(self.cue(at), Some(Cue::And | Cue::Comma)) {
            let next = self.skip(at, &[Cue::And, Cue::Comma]);
            match self.measure_at(next) {
                Some((noun, end)) if !self.is_compared(end) => {
                    nouns.push(noun);
                    at = end;
                }
                _ => break,
            }
        }
        Some((functions, nouns, at))
    }

    /// "maximum and minimum number of rooms": where the numbers are a column, their end is a figure.
    fn end_of_numbers(&self, at: usize) -> Option<AggregateFn> {
        match self.cue(at)? {
            Cue::Extreme(Direction::Desc, true) => Some(AggregateFn::Max),
            Cue::Extreme(Direction::Asc, true) => Some(AggregateFn::Min),
            _ => None,
        }
    }

    /// "the lowest, average and highest price": among functions, an end is one too.
    fn end_at(&self, at: usize) -> Option<AggregateFn> {
        match self.cue(at)? {
            Cue::Extreme(Direction::Desc, false) => Some(AggregateFn::Max),
            Cue::Extreme(Direction::Asc, false) => Some(AggregateFn::Min),
            _ => None,
        }
    }

    fn function(&self, at: usize) -> Option<AggregateFn> {
        match self.cue(at)? {
            Cue::Aggregate(function) => Some(function),
            Cue::HowMuch => Some(AggregateFn::Sum),
            _ => None,
        }
    }

    /// A noun with numbers or moments in it, behind filler.
    pub(super) fn measure_at(&self, from: usize) -> Option<(Noun, usize)> {
        let at = self.skip(from, &[Cue::Of, Cue::Is, Cue::In, Cue::Count]);
        let (mut noun, next) = self.noun_at(at)?;
        let catalog = self.catalog();
        let named_table = noun.tables.iter().any(|(_, w)| *w >= 0.95);
        let usable = |thing: Thing| {
            let moment = thing.column().is_some_and(|c| {
                let column = catalog.column(c);
                column.kind == crate::offline::catalog::ColumnKind::Time || column.is_year
            });
            thing.is_measure(catalog) || moment
        };
        // A word that is a table's name is no measure only because a column has it too.
        noun.things.retain(|(thing, w)| usable(*thing) && (!named_table || *w >= 0.7));
        if noun.things.is_empty() {
            return None;
        }
        noun.tables.clear();
        Some((noun, next))
    }
}
