//! Fields and the values that they are given.

use crate::records::english::is_filler;
use crate::records::literal::{Now, Place, Taken, take};
use crate::records::read::compare::negation;
use crate::records::spans::Span;
use crate::records::surface::{Field, Resource};
use crate::records::words::{Shape, root};
use crate::records::{Index, Trouble};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// One walk over an instruction that writes.
pub(super) struct Assigner<'a> {
    pub subject: usize,
    pub resource: &'a Resource,
    pub spans: &'a [Span],
    pub now: Now,
    /// Spans that are explained already: the command, the row.
    pub done: Vec<bool>,
    pub values: BTreeMap<String, Value>,
    /// Fields that were named without a value.
    pub open: Vec<String>,
    /// A word of the command takes values away.
    pub clears: bool,
}

impl<'a> Assigner<'a> {
    pub fn new(index: &'a Index, subject: usize, spans: &'a [Span], now: Now) -> Result<Self, Trouble> {
        let resource = index.surface.resources.get(subject).ok_or(Trouble::WhichResource)?;
        let done = vec![false; spans.len()];
        let (values, open) = (BTreeMap::new(), Vec::new());
        Ok(Self { subject, resource, spans, now, done, values, open, clears: false })
    }

    pub fn mark(&mut self, spans: Range<usize>) {
        for at in spans {
            if let Some(done) = self.done.get_mut(at) {
                *done = true;
            }
        }
    }

    pub fn is_done(&self, at: usize) -> bool {
        self.done.get(at).copied().unwrap_or(true)
    }

    pub fn span(&self, at: usize) -> Option<&'a Span> {
        self.spans.get(at)
    }

    /// A plain word or a mark, lowercase.
    pub fn plain(&self, at: usize) -> String {
        self.span(at).filter(|s| s.senses.is_empty() && s.literal().is_none()).map(Span::lower).unwrap_or_default()
    }

    pub fn field_at(&self, place: Place) -> Option<&'a Field> {
        self.resource.fields.get(place.1)
    }

    /// Every field that is named, with the value that it is given; then every value that needs no field.
    pub fn walk(&mut self) -> Result<(), Trouble> {
        for at in 0..self.spans.len() {
            if !self.is_done(at) {
                self.named_field(at)?;
            }
        }
        for at in 0..self.spans.len() {
            if !self.is_done(at) {
                self.bare_value(at)?;
            }
        }
        self.open.retain(|field| !self.values.contains_key(field));
        Ok(())
    }

    fn named_field(&mut self, at: usize) -> Result<(), Trouble> {
        let Some(span) = self.span(at).filter(|s| !s.names_resource(self.subject)) else { return Ok(()) };
        let Some((field_at, brief)) = span.field_of(self.subject) else { return Ok(()) };
        let place = (self.subject, field_at);
        let Some(field) = self.field_at(place) else { return Ok(()) };
        let is_value = span.values_of(self.subject).next().is_some();
        let next = self.value_begins(at + 1, place);
        match take(field, place, self.spans.get(next..).unwrap_or_default(), self.now) {
            Taken::Value(value, taken) if !self.is_done(next) => {
                // What stands between the field and its value belongs to both.
                self.mark(at..next + taken);
                self.assign(field, value)?;
            }
            // "reviewed" is both, and "due" may be said of what is not a date.
            _ if is_value => {}
            Taken::Unfit(text) if next > at + 1 && !self.is_done(next) => {
                return Err(Trouble::WhichValue {
                    resource: self.resource.name.clone(),
                    field: field.name.clone(),
                    text: Some(text),
                });
            }
            // The value stood before: "low priority".
            _ if self.stands_before(at, place) => self.mark(at..at + 1),
            _ if self.clears => {
                self.mark(at..at + 1);
                self.assign(field, Value::Null)?;
            }
            _ => {
                self.mark(at..at + 1);
                // "we sent": that something was done, not when.
                if !(brief && field.kind.is_temporal()) {
                    self.open.push(field.name.clone());
                }
            }
        }
        Ok(())
    }

    /// Where the value of a field begins: behind the row, "from" its old value, and words that link.
    fn value_begins(&self, from: usize, place: Place) -> usize {
        const LINKS: [&str; 20] = [
            "to", "as", "=", "==", ":", "is", "with", "of", "into", "be", "become", "becomes", "a", "an", "the", "for",
            "on", "should", "its", "has",
        ];
        let mut at = from;
        loop {
            let is_row = self.is_done(at) && at < self.spans.len() && self.plain(at).is_empty();
            let own = |at: usize| self.span(at).is_some_and(|s| s.values_of(self.subject).any(|(f, _)| f == place.1));
            if self.plain(at) == "from" && own(at + 1) {
                at += 2;
            } else if is_row || LINKS.contains(&self.plain(at).as_str()) {
                at += 1;
            } else {
                return at;
            }
        }
    }

    fn stands_before(&self, at: usize, place: Place) -> bool {
        at.checked_sub(1)
            .and_then(|b| self.span(b))
            .is_some_and(|s| s.values_of(self.subject).any(|(f, _)| f == place.1))
    }

    /// A value that only one field of the subject has.
    fn bare_value(&mut self, at: usize) -> Result<(), Trouble> {
        let Some(span) = self.span(at) else { return Ok(()) };
        let owned: Vec<(usize, Value)> = span.values_of(self.subject).map(|(f, v)| (f, v.clone())).collect();
        let beside = |(field, _): &&(usize, Value)| {
            let names =
                |s: Option<&Span>| s.is_some_and(|s| s.field_of(self.subject).is_some_and(|(f, _)| f == *field));
            names(self.span(at + 1)) || names(at.checked_sub(1).and_then(|b| self.span(b)))
        };
        let (field, value) = match (owned.iter().find(beside), owned.as_slice()) {
            (Some(found), _) | (None, [found]) => found.clone(),
            (None, []) => return Ok(()),
            (None, several) => {
                let names = several.iter().filter_map(|(f, _)| self.resource.fields.get(*f)).map(|f| f.name.clone());
                return Err(Trouble::WhichField { text: span.text(), fields: names.collect() });
            }
        };
        self.mark(at..at + 1);
        // Where it comes from is not what it becomes.
        let from = at.checked_sub(1).is_some_and(|b| self.plain(b) == "from");
        let Some(field) = self.resource.fields.get(field).filter(|_| !from) else { return Ok(()) };
        let negated = (1..=2).any(|back| {
            at.checked_sub(back).and_then(|b| self.spans.get(b..at)).is_some_and(|before| negation(before).is_some())
        });
        let value = match (value, negated) {
            (Value::Bool(flag), true) => json!(!flag),
            (_, true) => return Err(Trouble::Unsaid("a value that it is not to have".to_owned())),
            (value, false) => value,
        };
        self.assign(field, value)
    }

    pub fn assign(&mut self, field: &Field, value: Value) -> Result<(), Trouble> {
        match self.values.get(&field.name) {
            Some(known) if *known != value => {
                Err(Trouble::WhichValue { resource: self.resource.name.clone(), field: field.name.clone(), text: None })
            }
            _ => {
                self.values.insert(field.name.clone(), value);
                Ok(())
            }
        }
    }

    /// Gives a field of the subject the value that begins at a span, if there is one.
    pub fn assign_from(&mut self, name: &str, at: usize) -> Result<(), Trouble> {
        let Some(field_at) = self.resource.fields.iter().position(|f| f.name == name) else { return Ok(()) };
        let place = (self.subject, field_at);
        let Some(field) = self.field_at(place) else { return Ok(()) };
        match take(field, place, self.spans.get(at..).unwrap_or_default(), self.now) {
            Taken::Value(value, taken) => {
                self.mark(at..at + taken);
                self.assign(field, value)
            }
            _ => Ok(()),
        }
    }

    /// What no part of the instruction has explained.
    pub fn unknown(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (at, span) in self.spans.iter().enumerate() {
            let lower = span.lower();
            let mark = span.shape() == Some(Shape::Mark);
            let grammar = match mark {
                true => [",", ":", "."].contains(&lower.as_str()),
                false => {
                    let gerund =
                        lower.strip_suffix("ing").is_some_and(|s| s.len() > 2) && at > 0 && self.plain(at - 1) == "by";
                    is_filler(&lower)
                        || gerund
                        || ["and", "but", "back", "its", "not", "then", "by"].contains(&lower.as_str())
                }
            };
            let resource = span.names_resource(self.subject);
            let repeated = self.values.values().any(|v| v.as_str() == Some(span.text().as_str()));
            if !(self.is_done(at) || resource || repeated || grammar && span.senses.is_empty()) {
                found.push(span.text());
            }
        }
        found
    }

    /// A writable field whose name begins like a command: to `assign` sets `assigned_to`.
    pub fn field_of_verb(&self, verb: &str) -> Option<&'a Field> {
        let bare = verb.strip_prefix("re").unwrap_or(verb);
        let same = |f: &&Field| f.name.split('_').next().is_some_and(|w| [root(verb), root(bare)].contains(&root(w)));
        self.resource.fields.iter().filter(|f| f.kind.is_text() && f.values.is_empty()).find(same)
    }
}
