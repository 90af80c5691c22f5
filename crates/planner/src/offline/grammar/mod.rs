//! Clause grammar: spans to a draft.
//!
//! The question is read from left to right. At each place the first rule that applies takes its
//! words; what no rule takes is unexplained, and unexplained words refuse the question.

mod aggregates;
mod asking;
mod bounds;
mod comparisons;
mod groups;
mod negation;
mod nouns;
mod orders;
mod shares;
mod superlatives;
mod values;

use super::Index;
use super::catalog::{Catalog, TableId};
use super::cues::Cue;
use super::draft::{Asked, Draft, Filter, Key};
use super::numbers::Number;
use super::relations::{is_irregular_verb, is_verb};
use super::spans::{Meaning, Span};
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
    const RULES: [fn(&mut Self) -> bool; 22] = [
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

    /// A verb of no column's own, or one that merely shares its stem with a name: "built a mill".
    fn is_verb(&self, at: usize) -> bool {
        let deed = |s: &Span| {
            let inflected = ["ed", "ing"].iter().any(|ending| s.text.ends_with(ending))
                || is_irregular_verb(&s.text.to_lowercase());
            let named = s.tables().map(|(_, w)| w).chain(s.columns().map(|(_, w)| w)).any(|w| w >= 0.9);
            inflected && !named && s.cue().is_none() && !s.capitalised && is_verb(&s.text)
        };
        let before = at.checked_sub(1).and_then(|at| self.span(at)).map(|s| s.text.to_lowercase()).unwrap_or_default();
        let noun = ["the", "a", "an", "its", "their", "his", "her", "each", "every", "of", "all", "any", "no", ","];
        let participle = self.span(at).is_some_and(|s| s.text.ends_with("ed") || s.text.ends_with("ing"));
        if self.is_done_by_pronoun(at) {
            return true;
        }
        if noun.contains(&before.as_str()) && !participle || self.zone == Zone::Head && before == "and" {
            return false;
        }
        self.span(at).is_some_and(|s| s.meanings.contains(&Meaning::Verb) || s.is_noun() && deed(s))
    }

    fn is_plain_plural(&self, at: usize) -> bool {
        self.span(at).is_some_and(|s| s.text.ends_with('s') && !s.text.to_lowercase().starts_with("consist"))
    }

    /// "did we book": a verb, whatever else the word may name.
    fn is_done_by_pronoun(&self, at: usize) -> bool {
        let word = |back: usize| at.checked_sub(back).and_then(|at| self.span(at)).map(|s| s.text.to_lowercase());
        let said = |back: usize, words: &[&str]| word(back).is_some_and(|w| words.contains(&w.as_str()));
        let named = |s: &Span| s.tables().map(|(_, w)| w).chain(s.columns().map(|(_, w)| w)).any(|w| w >= 0.8);
        let deed = |s: &Span| s.cue().is_none() && !s.capitalised && !named(s) && is_verb(&s.text);
        let asked = said(2, &["do", "does", "did"]) && said(1, &["we", "they", "you", "i", "he", "she"]);
        asked && self.span(at).is_some_and(deed)
    }

    /// The place behind verbs and what ties them to their object: "used by any", "belong to the".
    fn skip_verbs(&self, from: usize) -> usize {
        let filler = [Cue::In, Cue::From, Cue::Is, Cue::Of, Cue::By];
        let mut at = self.skip(from, &filler);
        let object = |s: &Span| s.is_noun() || s.values().next().is_some();
        while self.is_verb(at) && self.span(self.skip(at + 1, &filler)).is_some_and(object) {
            at = self.skip(at + 1, &filler);
        }
        at
    }

    /// A verb that ties what came before to a noun or a value that follows: "airlines that operate
    /// flights", "how many flights does Delta operate".
    fn verb(&mut self) -> bool {
        if !self.is_verb(self.at) && self.cue(self.at) != Some(Cue::Contains) {
            return false;
        }
        let next = self.skip(self.at + 1, &[Cue::In, Cue::Of, Cue::From, Cue::By, Cue::Is, Cue::Both]);
        let counted = self.is_compared(next) || matches!(self.cue(next), Some(Cue::Extreme(..) | Cue::Common(_)));
        let object = counted
            || self.span(next).is_some_and(|s| s.is_noun() || s.values().next().is_some() || s.literal().is_some());
        let asked = |at: usize| self.span(at).is_some_and(|s| ["do", "does", "did"].contains(&s.text.as_str()));
        // "the subject lines of tickets": what ties itself to its object by "of" is a noun.
        if self.cue(self.at + 1) == Some(Cue::Of) && self.is_plain_plural(self.at) {
            return false;
        }
        let they = self.at.checked_sub(1).and_then(|at| self.span(at));
        let they = they.is_some_and(|s| ["they", "it", "he", "she"].contains(&s.text.as_str()));
        let ends = next >= self.spans.len() && ((0..self.at).any(asked) || they);
        if !(object || ends || self.is_done_by_pronoun(self.at))
            || self.draft.asked.is_empty() && self.draft.subject.is_none()
        {
            return false;
        }
        // The "by" of a passive groups nothing.
        self.at = if self.cue(self.at + 1) == Some(Cue::By) && object { self.at + 2 } else { self.at + 1 };
        if !self.draft.asked.is_empty() {
            self.enter(Zone::Body);
        }
        true
    }

    /// Words that only hold the others together.
    fn glue(&mut self) -> bool {
        let Some(span) = self.span(self.at) else { return false };
        let first = self.at == 0;
        self.mark_part();
        match span.cue() {
            Some(Cue::Which) => {
                self.which = true;
                // "…, and what are the companies?" asks for one more thing.
                let before = (0..self.at).rev().filter_map(|at| self.cue(at)).find(|cue| *cue != Cue::In);
                let further = before == Some(Cue::And);
                self.enter(if self.draft.asked.is_empty() || further { Zone::Head } else { Zone::Body });
            }
            Some(Cue::Show) if self.draft.asked.is_empty() => self.enter(Zone::Head),
            // "Sort the regions by …".
            Some(Cue::Arranged) if first => self.enter(Zone::Head),
            // "Which employees …? Find their names.": the second sentence says what to show of them.
            Some(Cue::Show) if matches!(self.draft.asked.as_slice(), [Asked::Entity { .. }]) => {
                self.draft.asked.clear();
                self.enter(Zone::Head);
            }
            Some(Cue::By) if self.value_follows(self.at + 1) => {}
            Some(Cue::Or) if !self.draft.filters.is_empty() && !self.either => self.either = true,
            Some(Cue::Clause) if !self.draft.asked.is_empty() => self.enter(Zone::Body),
            Some(Cue::Distinct) => self.draft.distinct = true,
            Some(Cue::HowLong) if first => self.draft.figure = true,
            Some(Cue::Continue) if self.at <= 1 => self.draft.continues = true,
            // "in 2009 but not in 2010", "but only".
            Some(Cue::Continue) if span.text.eq_ignore_ascii_case("but") && !self.draft.filters.is_empty() => {}
            Some(Cue::Arranged) if span.text.eq_ignore_ascii_case("listed") => {}
            Some(Cue::Instead) => self.draft.continues = true,
            Some(Cue::Also) => self.draft.adds = true,
            Some(Cue::And) if first => self.draft.continues = true,
            // "under the category garden" compares nothing either.
            Some(Cue::Compare(_)) if span.text == "under" && self.names_follow(self.at + 1) => {}
            // "over the past 6 months" compares nothing.
            Some(Cue::Compare(_)) if self.span(self.skip(self.at + 1, &[])).is_some_and(|s| s.time().is_some()) => {}
            Some(Cue::Whole) => return self.whole(),
            Some(Cue::Both) => self.draft.both |= !self.joins_request(self.at),
            Some(Cue::And | Cue::Comma | Cue::Of | Cue::In | Cue::From | Cue::Is | Cue::Clause | Cue::Show) => {}
            Some(_) => return false,
            None if span.meanings.contains(&Meaning::Stop) => {}
            None => return false,
        }
        self.at += 1;
        true
    }

    fn enter(&mut self, zone: Zone) {
        self.zone = zone;
    }
}
