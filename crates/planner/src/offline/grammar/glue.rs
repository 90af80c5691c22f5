//! Words that only hold the others together.

use super::{Parser, Zone};
use crate::offline::cues::Cue;
use crate::offline::draft::Asked;
use crate::offline::english::is_linking;
use crate::offline::spans::Meaning;

impl Parser<'_> {
    /// "dates, places and names": between the separators of a list even a word that could be a verb is asked for.
    fn is_listed(&self, at: usize) -> bool {
        let separates = |at: usize| matches!(self.cue(at), Some(Cue::Comma | Cue::And));
        let article = |at: usize| self.span(at).is_some_and(|s| ["the", "their", "its"].contains(&s.text.as_str()));
        let before = at.checked_sub(1).map(|at| if article(at) { at.saturating_sub(1) } else { at });
        let linking = self.span(at).is_some_and(|s| is_linking(&s.text.to_lowercase()));
        linking && separates(at + 1) && before.is_some_and(separates)
    }

    /// "used by the most orders", "enrolled in by both": the "by" of a passive groups nothing.
    fn is_done_by_the_most(&self) -> bool {
        let before = (0..self.at).rev().find_map(|at| self.span(at).filter(|_| self.cue(at) != Some(Cue::In)));
        let done = before.is_some_and(|s| s.text.ends_with("ed") || is_linking(&s.text.to_lowercase()));
        let next = self.skip(self.at + 1, &[]);
        done && (self.is_superlative(next) || self.cue(next) == Some(Cue::Both))
    }

    /// Words that only hold the others together.
    pub(super) fn glue(&mut self) -> bool {
        let Some(span) = self.span(self.at) else { return false };
        let first = self.at == 0;
        self.mark_part();
        match span.cue() {
            Some(Cue::Which) => {
                self.which = true;
                // "…, and what are the companies?" asks for one more thing.
                let before = (0..self.at).rev().filter_map(|at| self.cue(at)).find(|cue| *cue != Cue::In);
                // "… and who have a vote" says more of them; "… and who is it?" asks.
                let clause = span.text.eq_ignore_ascii_case("who") && self.cue(self.at + 1) != Some(Cue::Is);
                let further = before == Some(Cue::And) && !clause;
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
            Some(Cue::By) if self.value_follows(self.at + 1) || self.is_done_by_the_most() => {}
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
            None if span.meanings.contains(&Meaning::Stop) => {
                if self.is_listed(self.at) {
                    return false;
                }
            }
            None => return false,
        }
        self.at += 1;
        true
    }
}
