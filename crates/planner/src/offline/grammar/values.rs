//! Values of the data in the question: "enterprise customers", "in Germany or France",
//! "status is open", "named 'Ann'".

use super::{Parser, Zone};
use crate::offline::catalog::ColumnKind;
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, Filter, Noun, Thing};
use crate::offline::spans::Span;
use crate::offline::values::Owned;

impl Parser<'_> {
    /// Values that stand on their own.
    pub(super) fn values(&mut self) -> bool {
        // A name of the schema is meant as one, unless it is written as a proper name.
        let is_name = self.span(self.at).is_some_and(|s| {
            let named = s.tables().any(|(_, w)| w >= 0.6) || s.columns().any(|(_, w)| w >= 0.9);
            named && !s.capitalised && s.literal().is_none()
        });
        !is_name && self.value_list(None, false)
    }

    /// Values that stand before a noun and limit only what it names: "no open high priority tickets".
    pub(super) fn modifiers(&mut self, from: usize) -> (Vec<Filter>, usize) {
        let before = std::mem::take(&mut self.draft.filters);
        let start = std::mem::replace(&mut self.at, from);
        while self.values() {}
        let found = std::mem::replace(&mut self.draft.filters, before);
        (found, std::mem::replace(&mut self.at, start))
    }

    /// "the song 'Flash'": what a row is called by, even if none goes by that name.
    pub(super) fn called(&mut self) -> bool {
        let Some(text) = self.span(self.at).and_then(Span::literal).map(str::to_owned) else { return false };
        let catalog = self.catalog();
        let behind = self.at.checked_sub(1).and_then(|at| self.span(at));
        let behind = behind.and_then(|s| s.tables().find(|(_, w)| *w >= 0.85)).map(|(t, _)| t);
        let Some(table) = behind.filter(|t| self.near == Some(*t)) else { return false };
        let [display] = catalog.table(table).display.as_slice() else { return false };
        if catalog.column(*display).kind != ColumnKind::Text || !self.index.values.is_known(*display) {
            return false;
        }
        let things = vec![(Thing::Column(*display), 1.0)];
        let column = Noun { text: "name".to_owned(), things, owner: Some(table), ..Noun::default() };
        self.push_filter(Filter::Text { column, pattern: text, like: false, negated: false });
        self.at += 1;
        true
    }

    /// Values joined by "or", "and" and commas; behind them perhaps the column that they belong to.
    pub(super) fn value_list(&mut self, column: Option<Noun>, negated: bool) -> bool {
        let Some(first) = self.owned_at(self.at, column.as_ref()) else { return false };
        let mut text = vec![self.span(self.at).map(|s| s.text.clone()).unwrap_or_default()];
        let mut options = vec![first];
        let mut next = self.at + 1;
        let mut all = false;
        while let Some(Cue::Or | Cue::And | Cue::Comma) = self.cue(next) {
            let and = self.cue(next) == Some(Cue::And);
            let at = self.skip(next, &[Cue::Or, Cue::And, Cue::Comma, Cue::In, Cue::From]);
            let Some(more) = self.owned_at(at, column.as_ref()) else { break };
            let shared = |o: &Owned| options.iter().flatten().any(|k| k.column == o.column);
            if !more.iter().any(shared) {
                break;
            }
            text.push(self.span(at).map(|s| s.text.clone()).unwrap_or_default());
            options.push(more);
            all |= and;
            next = at + 1;
        }
        let column = column.or_else(|| {
            let behind = if self.span(next).is_some_and(|s| s.text == "as") { self.skip(next + 1, &[]) } else { next };
            let (noun, end) = self.noun_at(behind)?;
            let owns = |o: &Owned| noun.things.iter().any(|(t, _)| t.column() == Some(o.column));
            options.iter().all(|any| any.iter().any(owns)).then(|| {
                next = end;
                noun
            })
        });
        self.push_filter(Filter::Values { options, column, negated, all, text: text.join(" or "), near: self.near });
        self.at = next;
        true
    }

    /// The values that the span at a place may mean, of the given column only.
    fn owned_at(&self, at: usize, column: Option<&Noun>) -> Option<Vec<Owned>> {
        let span = self.span(at)?;
        let fits = |o: &Owned| column.is_none_or(|n| n.things.iter().any(|(t, _)| t.column() == Some(o.column)));
        let found: Vec<Owned> = span.values().map(|(o, _)| o.clone()).filter(fits).collect();
        (!found.is_empty()).then_some(found)
    }

    /// A text column and its value: "status is open", "name contains 'foo'", "country not Germany".
    pub(super) fn text_condition(&mut self, noun: &Noun, end: usize, negated: bool) -> bool {
        let catalog = self.catalog();
        let mut column = noun.clone();
        column.things.retain(|(t, _)| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Text));
        column.tables.clear();
        if column.things.is_empty() {
            return false;
        }
        let mut at = self.skip(end, &[Cue::Is, Cue::Of, Cue::In]);
        let negated_here = self.cue(at) == Some(Cue::Not);
        let negated = negated || negated_here;
        if negated_here {
            at = self.skip(at + 1, &[Cue::Is, Cue::Of]);
        }
        if self.cue(at) == Some(Cue::Clause) && self.cue(at + 1).and_then(pattern_shape).is_some() {
            at += 1;
        }
        if let Some(shape) = self.cue(at).and_then(pattern_shape) {
            return self.pattern(column, shape, negated, at + 1);
        }
        // "a title that has the word 'love'".
        if self.is_part(at) {
            return self.pattern(column, |text| format!("%{text}%"), negated, at);
        }
        let saved = self.at;
        self.at = at;
        if self.value_list(Some(column.clone()), negated) {
            self.enter_body_after(saved);
            return true;
        }
        self.at = saved;
        // "accounts in Germany" does not say that an account is called so.
        noun.is_column() && (negated || at == self.skip_be(end)) && self.unlisted(column, negated, at)
    }

    fn enter_body_after(&mut self, from: usize) {
        if from > 0 && !self.draft.asked.is_empty() {
            self.enter(Zone::Body);
        }
    }

    /// "has the word 'love' in its title", "with 'TN' in their address".
    pub(super) fn pattern_in(&mut self) -> bool {
        let said = |at: usize| self.span(at).map(|s| s.text.to_lowercase()).unwrap_or_default();
        let marked = ["word", "letter", "phrase", "substring", "string", "text"].contains(&said(self.at).as_str());
        let at = if marked { self.at + 1 } else { self.at };
        let Some(span) = self.span(at) else { return false };
        let Some(text) = span.literal().map(str::to_owned).or_else(|| marked.then(|| span.text.clone())) else {
            return false;
        };
        let as_part = said(at + 1) == "as" && ["substring", "part"].contains(&said(self.skip(at + 2, &[])).as_str());
        let next = if as_part { self.skip(at + 2, &[]) + 1 } else { at + 1 };
        if self.cue(next) != Some(Cue::In) || self.draft.asked.is_empty() {
            return false;
        }
        let mut of = self.skip(next, &[Cue::In]);
        if said(of) == "part" && self.cue(of + 1) == Some(Cue::Of) {
            of = self.skip(of + 1, &[Cue::Of]);
        }
        let Some((mut column, end)) = self.noun_at(of) else { return false };
        let catalog = self.catalog();
        column.things.retain(|(t, _)| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Text));
        column.tables.clear();
        if column.things.is_empty() {
            return false;
        }
        if let Some(near) = self.near.filter(|t| column.belongs_to(*t, catalog)) {
            column.owner = Some(near);
        }
        self.enter(Zone::Body);
        self.push_filter(Filter::Text { column, pattern: format!("%{text}%"), like: true, negated: false });
        self.at = end;
        true
    }

    /// "names that contain 'x'": the pattern is of what was asked for.
    pub(super) fn bare_pattern(&mut self) -> bool {
        let includes =
            self.span(self.at).is_some_and(|s| ["include", "includes", "including"].contains(&s.text.as_str()));
        let shape: fn(&str) -> String = match self.cue(self.at).and_then(pattern_shape) {
            Some(shape) => shape,
            None if includes => |text| format!("%{text}%"),
            None => return false,
        };
        let catalog = self.catalog();
        let column = match self.draft.asked.last() {
            Some(Asked::Column(noun)) => noun.clone(),
            Some(Asked::Entity { table, .. }) => {
                let things = catalog.table(*table).display.iter().map(|c| (Thing::Column(*c), 1.0)).take(1).collect();
                Noun { text: "name".to_owned(), things, owner: Some(*table), ..Noun::default() }
            }
            _ => return false,
        };
        let text = |t: Thing| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Text);
        column.any(text) && self.pattern(column, shape, false, self.at + 1)
    }

    fn pattern(&mut self, column: Noun, shape: fn(&str) -> String, negated: bool, from: usize) -> bool {
        let letter = |s: &Span| s.text.chars().count() == 1 && s.capitalised;
        let mut at = if self.span(from).is_some_and(letter) { from } else { self.skip(from, &[]) };
        let marked = self.is_part(at);
        if marked {
            at += 1;
        }
        let Some(span) = self.span(at).filter(|s| {
            let named = s.is_unknown() && s.capitalised || s.values().next().is_some() || letter(s);
            s.literal().is_some() || named || marked
        }) else {
            return false;
        };
        // "which names contain 'x'": the column is what is asked for, too.
        if self.draft.asked.is_empty() {
            self.draft.asked.push(Asked::Column(column.clone()));
        }
        let text = span.literal().unwrap_or(&span.text);
        self.push_filter(Filter::Text { column: column.clone(), pattern: shape(text), like: true, negated });
        self.at = at + 1;
        // "contains 'a' or 'b'".
        if let (Some(Cue::Or), Some(other)) = (self.cue(at + 1), self.span(at + 2).and_then(Span::literal)) {
            self.either = true;
            self.push_filter(Filter::Text { column, pattern: shape(other), like: true, negated });
            self.at = at + 3;
        }
        true
    }

    /// "the word", "the letter", "substring": what follows is part of a text.
    fn is_part(&self, at: usize) -> bool {
        let marks = ["word", "letter", "phrase", "substring", "string"];
        self.span(at).is_some_and(|s| marks.contains(&s.text.as_str()) && !s.is_noun()) && self.span(at + 1).is_some()
    }

    /// Quoted or capitalised text that the index does not hold: fine where the index is cut short,
    /// not in the data where it is complete.
    fn unlisted(&mut self, column: Noun, negated: bool, at: usize) -> bool {
        let Some(span) = self.span(at) else { return false };
        let unknown_name = span.is_unknown() && span.capitalised;
        let Some(text) = span.literal().map(str::to_owned).or_else(|| unknown_name.then(|| span.text.clone())) else {
            return false;
        };
        let complete =
            |n: &Noun| n.things.iter().all(|(t, _)| t.column().is_some_and(|c| self.index.values.is_complete(c)));
        // That nobody goes by a name is an answer; that a category does not exist is a misunderstanding.
        let catalog = self.catalog();
        let name = |(t, _): &(Thing, f32)| {
            t.column().is_some_and(|c| catalog.column(c).words.last().is_some_and(|w| w == "name" || w == "title"))
        };
        if complete(&column) && !column.things.iter().any(name) {
            self.draft.absent.push((text, column.text.clone()));
        } else {
            self.push_filter(Filter::Text { column, pattern: text, like: false, negated });
        }
        self.at = at + 1;
        true
    }
}

fn pattern_shape(cue: Cue) -> Option<fn(&str) -> String> {
    match cue {
        Cue::Contains => Some(|text| format!("%{text}%")),
        Cue::StartsWith => Some(|text| format!("{text}%")),
        Cue::EndsWith => Some(|text| format!("%{text}")),
        _ => None,
    }
}
