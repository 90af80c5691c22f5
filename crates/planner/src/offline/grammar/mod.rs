//! Clause grammar: spans to a draft.
//!
//! The question is read from left to right. At each place the first rule that applies takes its
//! words; what no rule takes is unexplained, and unexplained words refuse the question.

mod aggregates;
mod asking;
mod bounds;
mod comparisons;
mod glue;
mod groups;
mod growth;
mod labels;
mod negation;
mod nouns;
mod orders;
mod shares;
mod superiors;
mod superlatives;
mod values;
mod verbs;

use super::Index;
use super::catalog::{Catalog, TableId};
use super::cues::Cue;
use super::draft::{Asked, Draft, Filter, Key};
use super::numbers::Number;
use super::spans::Span;
use super::time::{Period, When};
use domain::plan::Direction;

/// Where in the question we are: naming what is asked for, or limiting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zone {
    Head,
    Body,
}

pub(crate) struct Parser<'a> {
    index: &'a Index,
    spans: &'a [Span],
    at: usize,
    zone: Zone,
    draft: Draft,
    /// "top 5": a ranking whose measure is still to come.
    ranked: Option<Direction>,
    /// The table named last: what follows is most likely about it.
    near: Option<TableId>,
    /// True behind "or": the next condition is an alternative to the last one.
    either: bool,
    /// True behind "which", "who", "what are": the answer is what rows are called by.
    which: bool,
    relations: shares::Marks,
}

/// Reads spans into a draft.
pub(crate) fn read(index: &Index, spans: &[Span]) -> Draft {
    let parser = Parser {
        index,
        spans,
        at: 0,
        zone: Zone::Head,
        draft: Draft::default(),
        ranked: None,
        near: None,
        which: false,
        either: false,
        relations: shares::Marks::default(),
    };
    parser.run()
}

impl<'a> Parser<'a> {
    /// In this order: longer and stricter forms first.
    const RULES: [fn(&mut Self) -> bool; 25] = [
        Self::growth_ranked,
        Self::strongest_place,
        Self::ranking,
        Self::related_figure,
        Self::period_asked,
        Self::measured_last,
        Self::beyond,
        Self::count,
        Self::aggregate,
        Self::superlative,
        Self::sorting,
        Self::negation,
        Self::pattern_in,
        Self::condition,
        Self::bare_pattern,
        Self::comparison,
        Self::occurring,
        Self::grouping,
        Self::period,
        Self::values,
        Self::called,
        Self::superior,
        Self::noun,
        Self::glue,
        Self::verb,
    ];

    fn run(mut self) -> Draft {
        while self.at < self.spans.len() {
            let before = self.at;
            if !Self::RULES.iter().any(|rule| rule(&mut self)) {
                self.unexplained();
            }
            if self.at <= before {
                self.at = before + 1;
            }
        }
        self.draft.which_table = self.which_table();
        self.finish_asking();
        self.finish_ranking();
        self.finish_relations();
        self.finish_moment();
        if self.either {
            self.draft.unexplained.push("or".to_owned());
        }
        if self.draft.except.is_some_and(|from| from >= self.draft.filters.len()) {
            self.draft.unexplained.push("not".to_owned());
        }
        self.draft
    }

    /// "tickets closed per month" leaves out those that are not closed; without months, nobody used
    /// the word.
    fn finish_moment(&mut self) {
        let Some(column) = self.draft.moment.clone() else { return };
        let mut used = false;
        for filter in &mut self.draft.filters {
            if let Filter::Weekday { column: moment @ None, .. } | Filter::Time { column: moment @ None, .. } = filter {
                *moment = Some(column.clone());
                used = true;
            }
        }
        let period = self.draft.asked.iter().any(|a| matches!(a, Asked::Period(_)));
        if period || self.draft.keys.iter().any(|k| matches!(k, Key::Bucket(_))) {
            self.draft.filters.push(Filter::Missing { column, present: true });
        } else if !used && !self.is_who() {
            self.draft.unexplained.push(column.text);
        }
    }

    fn catalog(&self) -> &'a Catalog {
        &self.index.catalog
    }

    fn span(&self, at: usize) -> Option<&'a Span> {
        self.spans.get(at)
    }

    fn cue(&self, at: usize) -> Option<Cue> {
        self.span(at).and_then(Span::cue)
    }

    fn number(&self, at: usize) -> Option<Number> {
        self.span(at).and_then(Span::number)
    }

    fn unexplained(&mut self) {
        if let Some(span) = self.span(self.at) {
            self.draft.unexplained.push(span.text.clone());
        }
        self.at += 1;
    }

    /// The place of the next span that is not filler: articles, "of", "is", "the number of" ….
    fn skip(&self, from: usize, filler: &[Cue]) -> usize {
        let mut at = from;
        while self.span(at).is_some_and(|s| s.is_stop() || s.cue().is_some_and(|c| filler.contains(&c) && !s.is_noun()))
        {
            at += 1;
        }
        at
    }

    /// Like `skip`, but past "is", "of" and articles only: what stands right behind a noun.
    fn skip_be(&self, from: usize) -> usize {
        let article = |s: &Span| s.is_stop() && ["the", "a", "an"].contains(&s.text.as_str());
        let mut at = from;
        while self.span(at).is_some_and(|s| article(s) || matches!(s.cue(), Some(Cue::Is | Cue::Of)) && !s.is_noun()) {
            at += 1;
        }
        at
    }

    /// Whether the place is the start of the request or joined to what was asked before.
    fn joins_request(&self, at: usize) -> bool {
        let at = self.label_before(at).unwrap_or(at);
        let before = (0..at).rev().find(|i| self.span(*i).is_some_and(|s| !s.is_stop()));
        let cue = before.and_then(|i| self.cue(i));
        self.draft.asked.is_empty() || matches!(cue, Some(Cue::And | Cue::Comma | Cue::Show | Cue::Which | Cue::Both))
    }

    fn push_filter(&mut self, filter: Filter) {
        // "Fall 2009 or Spring 2010": two pairs, of which no rule makes one alternative yet.
        let kind = std::mem::discriminant(&filter);
        let pairs = |f: &Filter| std::mem::discriminant(f) == kind;
        let paired = self.draft.filters.split_last().is_some_and(|(last, rest)| !pairs(last) && rest.iter().any(pairs));
        if self.either && paired {
            self.draft.unexplained.push("or".to_owned());
        }
        if std::mem::take(&mut self.either)
            && let Some(last) = self.draft.filters.pop()
        {
            let alternatives = match last {
                Filter::Either(mut known) => {
                    known.push(filter);
                    known
                }
                single => vec![single, filter],
            };
            self.draft.filters.push(Filter::Either(alternatives));
            return;
        }
        let before = (0..self.at).rev().find(|i| self.span(*i).is_some_and(|s| !s.is_stop()));
        let before = before.and_then(|i| self.cue(i));
        let joined = matches!(before, Some(Cue::And | Cue::Comma | Cue::Clause));
        // What follows "without orders" limits the orders, not what they are missing from.
        match self.draft.filters.last_mut() {
            Some(Filter::Related { inner, negated: true, .. }) if self.zone == Zone::Body => inner.push(filter),
            // "with at least 2 orders in 2024" counts orders of 2024; "… and a tier" goes on about the subject.
            Some(Filter::Related { inner, count: Some(_), .. }) if !joined => inner.push(filter),
            _ => self.draft.filters.push(filter),
        }
    }

    /// Whether a noun or a value of text stands behind filler.
    fn names_follow(&self, from: usize) -> bool {
        let named = |s: &Span| s.number().is_none() && (s.is_noun() || s.values().next().is_some());
        self.span(self.skip(from, &[])).is_some_and(named)
    }

    /// Whether the word before ties what follows to what was asked: "the delegate from district 1".
    fn is_tied(&self, at: usize) -> bool {
        let before = (0..at).rev().find(|i| self.span(*i).is_some_and(|s| !s.is_stop()));
        let cue = before.and_then(|i| self.cue(i));
        !self.draft.asked.is_empty() && matches!(cue, Some(Cue::In | Cue::From | Cue::Of | Cue::By | Cue::Is))
    }

    fn value_follows(&self, from: usize) -> bool {
        let at = self.skip(from, &[Cue::Of, Cue::Is]);
        self.span(at).is_some_and(|s| s.values().next().is_some() || s.literal().is_some())
    }

    /// Words for what rows can't answer, or what plans can't say yet.
    fn beyond(&mut self) -> bool {
        let Some(span) = self.span(self.at) else { return false };
        if span.cue() != Some(Cue::Beyond) || span.is_noun() || span.values().next().is_some() {
            return false;
        }
        self.draft.beyond.push(span.text.clone());
        self.at += 1;
        true
    }

    /// A period: "in 2024", "last month", "since March".
    fn period(&mut self) -> bool {
        // "Fall 2009": a number right behind a value can only be a year.
        let year = |span: &Span| {
            let year = span.number().filter(|n| (1800.0..=2199.0).contains(&n.value) && n.value.fract() == 0.0)?;
            let behind = self.at.checked_sub(1).and_then(|at| self.span(at))?;
            let value = behind.values().next().is_some() && behind.literal().is_none();
            value.then_some(When::In(Period::Year(year.value as i16)))
        };
        let Some(span) = self.span(self.at) else { return false };
        if let (Some(days), None) = (span.weekdays(), span.values().next()) {
            self.push_filter(Filter::Weekday { days: days.to_vec(), column: None, near: self.near });
            self.at += 1;
            return true;
        }
        let Some(when) = span.time().cloned().or_else(|| year(span)) else { return false };
        self.push_filter(Filter::Time { when: when.clone(), column: None, near: self.near });
        self.at += 1;
        true
    }

    fn enter(&mut self, zone: Zone) {
        self.zone = zone;
    }
}
