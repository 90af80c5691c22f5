//! Finds values and puts placeholders in their places.

use super::patterns::{self, Rule};
use super::{Keep, Masks, Sensitive, accept, weak};
use regex::Regex;
use std::ops::Range;

/// A text is looked at again until nothing is found: what was hidden beside another value shows once that is gone.
const PASSES: usize = 4;

/// A value that must not be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub kind: Sensitive,
    pub range: Range<usize>,
}

/// Takes values out of texts.
pub struct Redactor {
    rules: Vec<Rule>,
    placeholder: Regex,
    word: Regex,
    keep: Keep,
}

impl Redactor {
    /// Fails if a rule is no regular expression: nothing may start with fewer rules than were written.
    pub fn new(keep: Keep) -> Result<Self, regex::Error> {
        Ok(Self { rules: patterns::rules()?, placeholder: patterns::placeholder()?, word: patterns::word()?, keep })
    }

    /// The text with placeholders in the place of values. `masks` belongs to one request, of however many texts.
    pub fn redact(&self, text: &str, masks: &mut Masks) -> String {
        for placeholder in self.placeholder.find_iter(text) {
            masks.meet(placeholder.as_str());
        }
        let mut text = self.pass(text, masks);
        for _ in 1..PASSES {
            let again = self.pass(&text, masks);
            if again == text {
                break;
            }
            text = again;
        }
        text
    }

    fn pass(&self, text: &str, masks: &mut Masks) -> String {
        let mut found = self.find(text);
        // Named now, so that what is found below is known by the same name.
        for found in &found {
            masks.placeholder(found.kind, text.get(found.range.clone()).unwrap_or_default());
        }
        self.find_known(text, masks, &mut found);
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for Found { kind, range } in found {
            redacted.push_str(text.get(end..range.start).unwrap_or_default());
            redacted.push_str(&masks.placeholder(kind, text.get(range.clone()).unwrap_or_default()));
            end = range.end;
        }
        redacted.push_str(text.get(end..).unwrap_or_default());
        redacted
    }

    /// What the rules find in a text, in its order, without overlaps.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let mut claims = Claims::new(text.len());
        for placeholder in self.placeholder.find_iter(text) {
            claims.take(placeholder.range());
        }
        let mut found = Vec::new();
        for Rule { kind, weak, pattern } in &self.rules {
            let mut from = 0;
            while let Some(captures) = pattern.captures_at(text, from) {
                let Some(whole) = captures.get(0) else { break };
                let it = captures.name("it").unwrap_or(whole);
                // From the end of the value, not of what was needed to recognise it: the next may begin there.
                from = if it.end() > from { it.end() } else { whole.end().max(from + 1) };
                if let Some(range) = accept::accept(*kind, text, it.range(), whole.range(), self.keep)
                    && (!*weak || self.holds(*kind, text, &range))
                    && claims.take(range.clone())
                {
                    found.push(Found { kind: *kind, range });
                }
                while !text.is_char_boundary(from) {
                    from += 1;
                }
                if from > text.len() {
                    break;
                }
            }
        }
        found.sort_by_key(|found| found.range.start);
        found
    }

    fn holds(&self, kind: Sensitive, text: &str, range: &Range<usize>) -> bool {
        let (before, after) = (text.get(..range.start).unwrap_or_default(), text.get(range.end..).unwrap_or_default());
        weak::holds(kind, text.get(range.clone()).unwrap_or_default(), before, after)
    }

    /// Names that are known from elsewhere in the request, standing alone.
    fn find_known(&self, text: &str, masks: &Masks, found: &mut Vec<Found>) {
        let mut claims = Claims::new(text.len());
        for range in found.iter().map(|f| f.range.clone()).chain(self.placeholder.find_iter(text).map(|m| m.range())) {
            claims.take(range);
        }
        for word in self.word.find_iter(text) {
            if let Some(kind) = masks.known(word.as_str())
                && claims.take(word.range())
            {
                found.push(Found { kind, range: word.range() });
            }
        }
        found.sort_by_key(|found| found.range.start);
    }
}

/// Which bytes of a text belong to a value.
struct Claims(Vec<bool>);

impl Claims {
    fn new(length: usize) -> Self {
        Self(vec![false; length])
    }

    /// False if a part of it is taken.
    fn take(&mut self, range: Range<usize>) -> bool {
        let Some(bytes) = self.0.get_mut(range) else { return false };
        if bytes.is_empty() || bytes.iter().any(|taken| *taken) {
            return false;
        }
        bytes.fill(true);
        true
    }
}
