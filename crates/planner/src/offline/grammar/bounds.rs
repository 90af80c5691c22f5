//! What a comparison compares with: amounts of money, units, averages of a group.

use super::Parser;
use crate::offline::cues::Cue;
use crate::offline::draft::{Bound, Noun};
use crate::offline::numbers::{Number, measured_in};
use domain::plan::Operator;

impl Parser<'_> {
    /// What the unit at a place measures, where the word names nothing of the schema.
    pub(super) fn unit_at(&self, at: usize) -> Option<&'static [&'static str]> {
        let span = self.span(at).filter(|s| !s.columns().any(|(_, w)| w >= 0.9) && s.tables().next().is_none())?;
        measured_in(&span.text.to_lowercase())
    }

    /// "more than the average of their own category": over the rows that share it.
    pub(super) fn of_own_group(&self, bound: Bound, from: usize) -> (Bound, usize) {
        let Bound::Aggregate(function) = bound else { return (bound, from) };
        let tied = matches!(self.cue(from), Some(Cue::Of | Cue::In | Cue::From));
        let own = |at: usize| {
            self.span(at)
                .is_some_and(|s| ["its", "their", "own", "same", "the same"].contains(&s.text.to_lowercase().as_str()))
        };
        let at = (from + 1..).take_while(|at| own(*at)).last().map_or(from, |last| last + 1);
        match self.noun_at(at).filter(|(noun, _)| tied && own(from + 1) && noun.is_column()) {
            Some((noun, next)) => (Bound::OwnGroup(function, noun), next),
            None => (bound, from),
        }
    }

    /// "above the average age of all students": over everything, said so.
    pub(super) fn over_everything(&self, bound: &Bound, from: usize) -> usize {
        let ties = [Cue::Of, Cue::In, Cue::From];
        let tied = self.cue(from).is_some_and(|cue| ties.contains(&cue)) && matches!(bound, Bound::Aggregate(_));
        let known = |table| Some(table) == self.draft.subject || Some(table) == self.near;
        match self.table_at(self.skip(from, &ties)) {
            Some((table, next)) if tied && known(table) && self.is_closed(next) => next,
            _ => from,
        }
    }

    /// Whether nothing follows that limits what was named just before.
    fn is_closed(&self, at: usize) -> bool {
        let goes_on = |cue| matches!(cue, Cue::And | Cue::Comma | Cue::OrderBy | Cue::Arranged | Cue::Sorted(_));
        at >= self.spans.len() || self.cue(at).is_some_and(goes_on)
    }

    /// "a higher price than 500": the measure stands between the two words of the comparison.
    pub(super) fn split_comparison(&self) -> Option<(Noun, Operator, Bound, usize)> {
        let op = match self.span(self.at)?.text.to_lowercase().as_str() {
            "higher" | "greater" | "larger" | "bigger" | "more" => Operator::Greater,
            "lower" | "smaller" | "less" | "fewer" => Operator::Less,
            _ => return None,
        };
        let (mut noun, than) = self.measure_at(self.at + 1)?;
        if let (None, Some(near)) = (noun.owner, self.near)
            && noun.belongs_to(near, self.catalog())
        {
            noun.owner = Some(near);
        }
        self.span(than).filter(|s| s.text.eq_ignore_ascii_case("than"))?;
        let at = self.skip(than + 1, &[]);
        if let Some(number) = self.number(at) {
            return Some((noun, op, Bound::Number(number), at + 1));
        }
        let Some(Cue::Aggregate(function)) = self.cue(at) else { return None };
        let bound = Bound::Aggregate(function);
        let next = self.over_everything(&bound, self.said_again(&noun, &bound, at + 1));
        self.is_closed(next).then_some((noun, op, bound, next))
    }

    /// "$5,000", "50k", "worth 200".
    pub(super) fn is_money(&self, number: Number) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.span(at));
        number.money || number.short || before.is_some_and(|s| s.text.eq_ignore_ascii_case("worth"))
    }

    /// "over 50k did we book": what follows is not what was compared.
    pub(super) fn opens_clause(&self, at: usize) -> bool {
        let words = ["do", "does", "did", "we", "you", "i", "they", "has", "have", "had"];
        self.span(at).is_some_and(|s| words.contains(&s.text.to_lowercase().as_str()))
    }
}
