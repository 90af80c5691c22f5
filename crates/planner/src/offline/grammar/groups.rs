//! "per region", "for each customer", "by month", "monthly", "over time".

use super::{Parser, Zone};
use crate::offline::catalog::singular;
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, By, Key, Noun};
use crate::offline::english::is_linking;
use crate::offline::relations::is_verb;
use crate::offline::spans::Span;
use domain::plan::{DateUnit, Direction};

impl Parser<'_> {
    pub(super) fn grouping(&mut self) -> bool {
        match self.cue(self.at) {
            Some(Cue::Bucket(unit)) => {
                self.draft.keys.push(Key::Bucket(unit));
                self.at += 1;
                true
            }
            Some(Cue::Trend) => {
                if !self.draft.keys.iter().any(|k| matches!(k, Key::Bucket(_))) {
                    self.draft.keys.push(Key::Bucket(DateUnit::Month));
                }
                self.at += 1;
                true
            }
            Some(Cue::Each) if self.is_every_one() => {
                self.at += 1;
                true
            }
            Some(Cue::Each) => {
                let said = self.span(self.at).is_some_and(|s| {
                    s.text.to_lowercase().split(' ').any(|w| w == "each" || w == "every" || w == "per")
                });
                let grouped = self.keys(self.at + 1);
                self.draft.each |= grouped && said;
                grouped || self.each_of_them()
            }
            Some(Cue::By) => self.by(),
            _ => false,
        }
    }

    /// "the types, and how many of each there are": of what is asked for already.
    fn each_of_them(&mut self) -> bool {
        let listed = self.draft.asked.iter().any(|a| matches!(a, Asked::Column(_) | Asked::Entity { .. }));
        let bare = self.noun_at(self.skip(self.at + 1, &[])).is_none();
        if listed && bare && self.draft.has_aggregate() {
            self.at += 1;
        }
        listed && bare && self.draft.has_aggregate()
    }

    /// "list each customer": all of them, not one row for each.
    fn is_every_one(&self) -> bool {
        let alone = self.span(self.at).is_some_and(|s| ["each", "every"].contains(&s.text.as_str()));
        let shown = self.at.checked_sub(1).and_then(|at| self.cue(at)) == Some(Cue::Show);
        alone && shown && self.draft.asked.is_empty()
    }

    /// "by" ranks a top list, orders by a measure, or groups.
    fn by(&mut self) -> bool {
        let from = self.at + 1;
        if let Some(direction) = self.ranked
            && let Some((by, next)) = self.ranking_measure(from)
        {
            self.ranked_by(by, direction, next, true);
            return true;
        }
        // "used by more than 3 customers" groups nothing by itself.
        if self.is_compared(from) {
            self.at = from;
            return true;
        }
        let pronoun = ["him", "her", "them", "it", "that", "this", "those", "these"];
        if self.is_agent(from) || self.span(from).is_some_and(|s| pronoun.contains(&s.text.as_str())) {
            self.at = from;
            return true;
        }
        // "tracks bought by customer Ann": a condition that names its column or table first.
        if let Some((_, next)) = self.noun_at(self.skip(from, &[]))
            && self.value_follows(next)
        {
            self.at = from;
            return true;
        }
        // "customers by revenue" is an order, not a group for each revenue.
        let measure = |noun: &Noun| noun.is_column() && noun.any(|t| t.is_measure(self.catalog()));
        let listed = matches!(self.draft.asked.as_slice(), [Asked::Entity { .. }]);
        if listed
            && self.noun_at(self.skip(from, &[])).is_some_and(|(noun, _)| measure(&noun))
            && let Some((by, next)) = self.ranking_measure(from)
        {
            let limit = self.draft.limit;
            self.ranked_by(by, Direction::Desc, next, true);
            self.draft.limit = limit;
            return true;
        }
        self.keys(from)
    }

    /// "courses taken by students": who did it, not one row for each of them.
    fn is_agent(&self, from: usize) -> bool {
        let filler = |s: &Span| matches!(s.cue(), Some(Cue::In | Cue::From | Cue::Of));
        let verb = (0..from.saturating_sub(1)).rev().filter_map(|at| self.span(at)).find(|s| !filler(s));
        let done = verb.is_some_and(|s| {
            let word = s.text.to_lowercase();
            is_linking(&word) || word.ends_with("ed") && is_verb(&word)
        });
        let plural = |noun: &Noun| singular(&noun.text) != noun.text;
        let agent = self.noun_at(self.skip(from, &[])).is_some_and(|(noun, _)| noun.table().is_some() && plural(&noun));
        done && agent && self.draft.ranked.is_none() && self.ranked.is_none()
    }

    /// What a ranking goes by: an aggregate, a count or a measure.
    pub(super) fn ranking_measure(&self, from: usize) -> Option<(By, usize)> {
        let at = self.skip(from, &[]);
        if let Some((functions, nouns, next)) = self.aggregate_at(at)
            && let ([function], [noun]) = (functions.as_slice(), nouns.as_slice())
        {
            return Some((By::Aggregate(*function, noun.clone()), next));
        }
        if self.cue(at) == Some(Cue::Count) {
            return match self.counted(at + 1) {
                Some((Asked::CountRows(table), next)) => Some((By::Rows(table), next)),
                Some((Asked::Aggregate(function, noun), next)) => Some((By::Aggregate(function, noun), next)),
                _ => None,
            }
            .or_else(|| self.measure_at(at + 1).map(|(noun, next)| (By::Column(noun), next)));
        }
        if let Some((noun, next)) = self.measure_at(at) {
            return Some((By::Column(noun), next));
        }
        let (noun, next) = self.noun_at(at)?;
        noun.table().map(|table| (By::Rows(table), next))
    }

    /// "region and month", "customer": keys joined by "and" and commas.
    fn keys(&mut self, from: usize) -> bool {
        let mut at = self.skip(from, &[Cue::Distinct, Cue::Of]);
        let before = self.draft.keys.len();
        while let Some((key, next)) = self.key_at(at) {
            if let Key::Entity(table) = key {
                self.near = Some(table);
            }
            if !self.draft.keys.contains(&key) {
                self.draft.keys.push(key);
            }
            self.at = next;
            let joined = matches!(self.cue(next), Some(Cue::And | Cue::Comma | Cue::By | Cue::Each));
            let after = self.skip(next, &[Cue::And, Cue::Comma, Cue::By, Cue::Each]);
            if !joined || self.is_compared(after + 1) || self.starts_request(next) {
                break;
            }
            at = after;
        }
        let found = self.draft.keys.len() > before;
        if found && !self.draft.asked.is_empty() {
            self.enter(Zone::Body);
            // "for each region and its total": what follows "and" may still be asked for.
            if self.cue(self.at) == Some(Cue::And) && self.aggregate_at(self.skip(self.at + 1, &[])).is_some() {
                self.enter(Zone::Head);
            }
        }
        found
    }

    /// "For each customer, show the name": the comma opens the request itself.
    fn starts_request(&self, at: usize) -> bool {
        let next = self.skip(at, &[Cue::Comma, Cue::And]);
        self.draft.asked.is_empty() && self.cue(at) == Some(Cue::Comma)
            || matches!(self.cue(next), Some(Cue::Which | Cue::Show | Cue::Count))
    }

    fn key_at(&self, from: usize) -> Option<(Key, usize)> {
        let at = self.skip(from, &[Cue::Distinct]);
        let at = self.labelled(at).unwrap_or(at);
        let span = self.span(at)?;
        if let Some(unit) = span.unit().filter(|_| !span.columns().any(|(_, w)| w >= 1.0)) {
            return Some((Key::Bucket(unit), at + 1));
        }
        let (noun, next) = self.noun_at(at)?;
        let key = match noun.table() {
            Some(table) => Key::Entity(table),
            None => Key::Column(noun),
        };
        Some((key, next))
    }
}
