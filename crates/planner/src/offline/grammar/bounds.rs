//! What a comparison compares with: amounts of money, units, averages of a group.

use super::Parser;
use crate::offline::cues::Cue;
use crate::offline::draft::Bound;
use crate::offline::numbers::{Number, measured_in};

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
