//! "not completed", "without orders", "who never ordered", "except Germany".

use super::{Parser, Zone};
use crate::offline::catalog::{ColumnKind, TableId};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, Filter};
use crate::offline::spans::Span;

impl Parser<'_> {
    pub(super) fn negation(&mut self) -> bool {
        match self.cue(self.at) {
            Some(Cue::Not) => self.not(),
            Some(Cue::Without) => self.without(),
            _ => false,
        }
    }

    /// "in 2009 but not in 2010": what follows is of rows that there must not be.
    fn but_not(&mut self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.span(at));
        if self.draft.filters.is_empty() || !before.is_some_and(|s| s.text.eq_ignore_ascii_case("but")) {
            return false;
        }
        self.except(self.at + 1)
    }

    /// Everything from here on is of rows that there must not be.
    fn except(&mut self, next: usize) -> bool {
        if self.draft.except.is_some() {
            return false;
        }
        self.draft.except = Some(self.draft.filters.len());
        self.enter(Zone::Body);
        self.at = next;
        true
    }

    fn not(&mut self) -> bool {
        if self.but_not() {
            return true;
        }
        let at = self.skip_verbs(self.at + 1);
        if self.span(at).is_some_and(|s| s.values().next().is_some()) {
            self.at = at;
            return self.value_list(None, true);
        }
        let Some((noun, next)) = self.noun_at(at) else { return false };
        if self.value_follows(next) {
            return self.text_condition(&noun, next, true);
        }
        // "products that are not in any event".
        if let (Some(table), Some(subject)) = (noun.table(), self.draft.subject)
            && table != subject
        {
            self.enter(Zone::Body);
            self.draft.filters.push(Filter::Related { table, negated: true, count: None, inner: Vec::new() });
            self.near = Some(table);
            self.at = next;
            return true;
        }
        let catalog = self.catalog();
        if noun.any(|t| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Flag)) {
            self.push_filter(Filter::Flag { column: noun, value: false });
            self.at = next;
            return true;
        }
        false
    }

    /// "product names without an order": the products are what lacks something.
    fn settle_subject(&mut self, lacking: TableId) {
        let catalog = self.catalog();
        if let ([Asked::Column(noun)], None) = (self.draft.asked.as_slice(), self.draft.subject) {
            let best = noun.things.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            let owner = best.map(|(t, _)| t.table(catalog)).filter(|t| *t != lacking);
            let names = |t: TableId| {
                best.is_some_and(|(b, _)| b.column().is_some_and(|c| catalog.table(t).display.contains(&c)))
            };
            self.draft.subject = owner.filter(|t| names(*t));
        }
    }

    /// "no open high priority tickets": none that the values before the noun are true of.
    fn without_such(&mut self, from: usize) -> bool {
        let (inner, at) = self.modifiers(from);
        let Some((noun, next)) = self.noun_at(at).filter(|_| !inner.is_empty()) else { return false };
        let Some(table) = noun.table() else { return false };
        self.settle_subject(table);
        if self.draft.subject.is_none_or(|subject| subject == table) {
            return false;
        }
        self.enter(Zone::Body);
        self.draft.filters.push(Filter::Related { table, negated: true, count: None, inner });
        self.near = Some(table);
        self.at = next;
        true
    }

    fn without(&mut self) -> bool {
        let at = self.skip_verbs(self.at + 1);
        if self.without_such(at) {
            return true;
        }
        // "enzymes that do not produce heme".
        if self.span(at).is_some_and(|s| !s.is_noun() && s.values().next().is_some()) {
            self.at = at;
            return self.value_list(None, true);
        }
        let Some((mut noun, mut next)) = self.noun_at(at) else { return false };
        // "hosts who did not host any party": the verb is the subject's own word.
        if noun.table().is_some() && noun.table() == self.draft.subject {
            match self.noun_at(self.skip(next, &[Cue::In])) {
                Some(behind) => (noun, next) = behind,
                None => return false,
            }
        }
        self.enter(Zone::Body);
        if let Some(table) = noun.table() {
            self.settle_subject(table);
            if self.draft.subject.is_none() || self.draft.subject == Some(table) {
                // "countries that have no stadium opened after 2006": countries of other stadiums only.
                let listed = self.draft.asked.iter().all(|a| matches!(a, Asked::Column(_)));
                return listed && !self.draft.asked.is_empty() && self.except(next);
            }
            self.draft.filters.push(Filter::Related { table, negated: true, count: None, inner: Vec::new() });
            self.near = Some(table);
        } else {
            // "without a status of open" is about the value, which this rule does not read.
            let followed = self
                .span(self.skip(next, &[Cue::Of, Cue::Is, Cue::In]))
                .is_some_and(|s: &Span| s.values().next().is_some());
            if followed || self.is_compared(next) {
                return followed && self.text_condition(&noun, next, true);
            }
            self.draft.filters.push(Filter::Missing { column: noun, present: false });
        }
        self.at = next;
        true
    }
}
