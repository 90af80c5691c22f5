//! Verbs that tie what came before to what follows: "airlines that operate flights".

use super::{Parser, Zone};
use crate::offline::cues::Cue;
use crate::offline::relations::{is_irregular_verb, is_verb};
use crate::offline::spans::{Meaning, Span};

impl Parser<'_> {
    /// A verb of no column's own, or one that merely shares its stem with a name: "built a mill".
    pub(super) fn is_verb(&self, at: usize) -> bool {
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
    pub(super) fn is_done_by_pronoun(&self, at: usize) -> bool {
        let word = |back: usize| at.checked_sub(back).and_then(|at| self.span(at)).map(|s| s.text.to_lowercase());
        let said = |back: usize, words: &[&str]| word(back).is_some_and(|w| words.contains(&w.as_str()));
        let named = |s: &Span| s.tables().map(|(_, w)| w).chain(s.columns().map(|(_, w)| w)).any(|w| w >= 0.8);
        let deed = |s: &Span| s.cue().is_none() && !s.capitalised && !named(s) && is_verb(&s.text);
        let asked = said(2, &["do", "does", "did"]) && said(1, &["we", "they", "you", "i", "he", "she"]);
        asked && self.span(at).is_some_and(deed)
    }

    /// The place behind verbs and what ties them to their object: "used by any", "belong to the".
    pub(super) fn skip_verbs(&self, from: usize) -> usize {
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
    pub(super) fn verb(&mut self) -> bool {
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
}
