//! Conditions: a field and what it is compared with.

use super::compare::{self, Compare};
use super::{Condition, Reader};
use crate::records::Trouble;
use crate::records::literal::{Place, Taken, spans_of, take};
use crate::records::moments;
use crate::records::spans::Span;
use crate::records::words::{Shape, Word};
use domain::change::FilterOperator as Op;
use domain::plan::Direction;
use serde_json::{Value, json};

impl Reader<'_> {
    /// The condition, or the field to show, that begins at the span here.
    pub(super) fn condition(&mut self) -> Result<Option<usize>, Trouble> {
        if let Some(taken) = self.number_before_field()? {
            return Ok(Some(taken));
        }
        if let Some(taken) = self.text_in_field() {
            return Ok(Some(taken));
        }
        let Some(span) = self.span(self.at) else { return Ok(None) };
        let mut skip = 0;
        let negated = match compare::negation(self.rest(self.at)) {
            Some(taken) => {
                skip = taken;
                // "that are not in review", "did not fail": small words may stand between.
                while ["be", "a", "an", "the"].contains(&self.plain(self.at + skip).as_str()) {
                    skip += 1;
                }
                true
            }
            None => false,
        };
        let here = self.at + skip;
        let Some(place) = self.span(here).and_then(|s| self.place(s, here)) else {
            let taken = self.values(here, negated)?;
            return Ok(taken.map(|taken| taken + skip));
        };
        // What is a value as well as a field is one where no field is needed: "reviewed documents".
        let timed = self.time_at(here + 1).is_some() && self.field(place).is_some_and(|f| f.kind.is_temporal());
        if !timed
            && self.span(here).is_some_and(|s| s.values_of(place.0).next().is_some())
            && let Some(taken) = self.values(here, negated)?
        {
            return Ok(Some(taken + skip));
        }
        let taken = self.field_condition(here, place, negated)?;
        if taken.is_none() && !negated {
            self.show(span, here, place);
        }
        Ok(taken.map(|taken| taken + skip).or((!negated).then_some(1)))
    }

    /// The field that a span names, of the resource that is meant here.
    pub(super) fn place(&self, span: &Span, at: usize) -> Option<Place> {
        let scope = self.scope(at);
        // "the case title" is a field of the case, and the case is not a field of its title.
        if span.resources().any(|r| self.reaches(r)) {
            return None;
        }
        let mut candidates = vec![self.subject, scope];
        if scope != self.focus {
            candidates.reverse();
        }
        candidates.extend((0..self.index.surface.resources.len()).filter(|r| self.reaches(*r)));
        candidates.into_iter().find_map(|r| span.field_of(r).map(|(field, _)| (r, field)))
    }

    /// What follows a field: its comparison and its value. `None` where nothing does.
    fn field_condition(&mut self, at: usize, place: Place, negated: bool) -> Result<Option<usize>, Trouble> {
        let Some(field) = self.field(place) else { return Ok(None) };
        let mut next = at + 1;
        // "confidence score" says it twice.
        while self.span(next).is_some_and(|s| s.field_of(place.0).is_some_and(|(f, _)| f == place.1)) {
            next += 1;
        }
        if let Some((time, taken)) = self.time_at(next).filter(|_| field.kind.is_temporal() && !negated) {
            self.moment(place, &time);
            return Ok(Some(next + taken - at));
        }
        while ["is", "are", "was", "were", "of", ":", "be", "a", "an", "the", "to", "in", "either"]
            .contains(&self.link(next).as_str())
        {
            next += 1;
        }
        if let Some((time, taken)) = self.time_at(next).filter(|_| field.kind.is_temporal() && !negated) {
            self.moment(place, &time);
            return Ok(Some(next + taken - at));
        }
        let negated = negated | compare::negation(self.rest(next)).inspect(|taken| next += taken).is_some();
        let ranged = (field.kind.is_numeric() && self.plain(next) == "from").then_some((Compare::Op(Op::Between), 1));
        let compared = ranged.or_else(|| compare::read(self.rest(next)));
        let (compare, taken) = compared.unwrap_or((Compare::Op(Op::Equal), 0));
        next += taken;
        let (values, end) = self.list(place, next, compare);
        if values.is_empty() {
            return match (compared, take(field, place, self.rest(next), self.now)) {
                (Some(_), Taken::Unfit(text)) => Err(Trouble::Unfit { field: field.name.clone(), text }),
                (Some(_), _) => Err(Trouble::Unknown(vec![field.name.clone()])),
                _ => Ok(None),
            };
        }
        self.push(place, compare, values, negated)?;
        if !self.named && self.select.is_empty() && self.conditions.len() == 1 && !self.is_listed(place) {
            self.select.push(place);
        }
        Ok(Some(end - at))
    }

    /// Whether a field only tells which rows are meant: by their kind, or by what they belong to.
    fn is_listed(&self, place: Place) -> bool {
        self.field(place).is_none_or(|f| !f.kind.is_numeric())
    }

    fn link(&self, at: usize) -> String {
        match self.span(at) {
            Some(span) if span.is_mark(":") => ":".to_owned(),
            _ => self.plain(at),
        }
    }

    pub(super) fn time_at(&self, at: usize) -> Option<(moments::Time, usize)> {
        let words: Vec<Word> = self.rest(at).iter().take(8).flat_map(|s| s.words.clone()).collect();
        let (time, taken) = moments::read(&words, self.now.today())?;
        Some((time, spans_of(self.rest(at), taken)))
    }

    /// One value or several, and where they end.
    fn list(&self, place: Place, from: usize, compare: Compare) -> (Vec<Value>, usize) {
        let Some(field) = self.field(place) else { return (Vec::new(), from) };
        let (mut values, mut end, mut next) = (Vec::new(), from, from);
        loop {
            let verbatim = !matches!(compare, Compare::Op(_));
            let taken = match self.span(next).and_then(Span::only) {
                // What a text contains is a text, whatever else the words mean.
                Some(word) if verbatim && word.shape != Shape::Mark => Taken::Value(json!(word.text), 1),
                // An id of another resource is no value of this field: "the client of case_9".
                Some(word) if !self.may_be(word, place) => break,
                _ => take(field, place, self.rest(next), self.now),
            };
            let Taken::Value(value, taken) = taken else { break };
            values.push(value);
            next += taken;
            end = next;
            let mut joined = false;
            let range = compare == Compare::Op(Op::Between) && values.len() == 1;
            let joins = |word: &str| ["or", "and", ","].contains(&word) || (range && word == "to");
            while joins(self.span(next).map(Span::lower).unwrap_or_default().as_str()) {
                next += 1;
                joined = true;
            }
            if !joined || verbatim {
                break;
            }
        }
        (values, end)
    }

    /// Writes a condition down, in operators of the contract where there is a choice.
    pub(super) fn push(
        &mut self,
        place: Place,
        compare: Compare,
        mut values: Vec<Value>,
        negated: bool,
    ) -> Result<(), Trouble> {
        let (Some(resource), Some(field)) = (self.resource(place.0), self.field(place)) else { return Ok(()) };
        let refused = |what: &str| Err(Trouble::Unsaid(what.to_owned()));
        values.dedup();
        let (op, value) = match (compare, values.as_slice(), negated) {
            (Compare::Op(Op::Between), [low, high], false) => (Op::Between, json!([low, high])),
            (Compare::Op(Op::Between), ..) => return refused("a range without two ends"),
            (Compare::Op(Op::Equal), [one], false) => (Op::Equal, one.clone()),
            (Compare::Op(Op::Equal), [one], true) => (Op::NotEqual, one.clone()),
            (Compare::Op(Op::Equal), many, false) => (Op::In, json!(many)),
            (Compare::Op(op), [one], false) => (op, one.clone()),
            (Compare::Op(_), ..) => return refused("a list of values that are left out"),
            (_, [Value::String(text)], false) => {
                let op = if resource.allows(&field.name, Op::ILike) { Op::ILike } else { Op::Like };
                let text = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
                let pattern = match compare {
                    Compare::Starts => format!("{text}%"),
                    Compare::Ends => format!("%{text}"),
                    _ => format!("%{text}%"),
                };
                (op, json!(pattern))
            }
            _ => return refused("text that is left out"),
        };
        self.conditions.push(Condition { place, op, value });
        Ok(())
    }

    /// A field without a value: shown, or a word that only says that something was done.
    fn show(&mut self, span: &Span, at: usize, place: Place) {
        let said = |word: &str| self.at.checked_sub(1).is_some_and(|_| self.rest(0).iter().any(|s| s.lower() == word));
        let brief = span.field_of(place.0).is_some_and(|(_, brief)| brief);
        let temporal = self.field(place).is_some_and(|f| f.kind.is_temporal());
        let before = at.checked_sub(1).map(|b| self.plain(b)).unwrap_or_default();
        let owned = ["their", "its"].contains(&before.as_str()) && self.named && self.select.is_empty();
        if owned {
            // All of it is shown anyway: "the documents and their summaries".
            return;
        }
        if temporal && brief && !said("when") && !["the", "and", ","].contains(&before.as_str()) {
            return;
        }
        if !self.select.contains(&place) {
            self.select.push(place);
        }
    }

    /// "more than 10 pages", "at least 3 pages".
    fn number_before_field(&mut self) -> Result<Option<usize>, Trouble> {
        let Some((compare @ Compare::Op(_), taken)) = compare::read(self.rest(self.at)) else { return Ok(None) };
        let number = self.at + taken;
        let is_number = self.span(number).and_then(Span::shape) == Some(Shape::Number);
        let Some(place) = self.span(number + 1).filter(|_| is_number).and_then(|s| self.place(s, number + 1)) else {
            return Ok(None);
        };
        let Some(field) = self.field(place).filter(|f| f.kind.is_numeric()) else { return Ok(None) };
        match take(field, place, self.rest(number), self.now) {
            Taken::Value(value, 1) => self.push(place, compare, vec![value], false)?,
            _ => return Ok(None),
        }
        Ok(Some(taken + 2))
    }

    /// "mentioning "deposit" in the body", "about "deposits"".
    fn text_in_field(&mut self) -> Option<usize> {
        let about = ["about", "regarding", "concerning"].contains(&self.plain(self.at).as_str());
        let taken = match compare::read(self.rest(self.at)) {
            Some((Compare::Contains, taken)) => taken,
            _ if about => 1,
            _ => return None,
        };
        let text = self.span(self.at + taken)?.only().filter(|w| w.shape == Shape::Quoted)?.text.clone();
        let mut next = self.at + taken + 1;
        if self.plain(next) == "in" {
            next += if self.plain(next + 1) == "the" || self.plain(next + 1) == "its" { 2 } else { 1 };
        }
        let named = self.span(next).and_then(|s| self.place(s, next)).filter(|_| !about);
        // What rows are about stands in what they are called.
        let place = if about { self.title(self.scope(self.at))? } else { named? };
        self.push(place, Compare::Contains, vec![json!(text)], false).ok()?;
        Some(if about { 2 } else { next + 1 - self.at })
    }

    /// "without a due date", "no owner", "unassigned", "with a deadline".
    pub(super) fn absence(&mut self) -> Option<usize> {
        let word = self.plain(self.at);
        if let Some(rest) = word.strip_prefix("un") {
            let place = self.unfilled(rest)?;
            self.conditions.push(Condition { place, op: Op::Equal, value: Value::Null });
            return Some(1);
        }
        let op = match word.as_str() {
            "without" | "no" | "missing" | "lacking" => Op::Equal,
            "with" | "having" | "has" | "have" => Op::NotEqual,
            _ => return None,
        };
        let mut next = self.at + 1;
        let article = ["a", "an", "any"].contains(&self.plain(next).as_str());
        next += usize::from(article);
        let place = self.span(next).and_then(|s| self.place(s, next))?;
        let nullable = self.field(place).is_some_and(|f| f.nullable);
        let bare = self.rest(next + 1).first().is_none_or(|s| {
            let lower = s.lower();
            s.senses.is_empty()
                && s.literal().is_none()
                && ["and", ",", "for", "that", "yet", "in", "on"].contains(&lower.as_str())
        });
        // "no risk level" needs no end; "with a claim of 5" goes on.
        if !nullable || !(bare || op == Op::Equal) || (op == Op::NotEqual && !article) {
            return None;
        }
        self.conditions.push(Condition { place, op, value: Value::Null });
        Some(next + 1 - self.at)
    }

    /// The nullable field whose first word is what was not done.
    fn unfilled(&self, done: &str) -> Option<Place> {
        let root = crate::records::words::root(done);
        let resource = self.resource(self.subject)?;
        let named = |name: &str| name.split('_').next().is_some_and(|w| crate::records::words::root(w) == root);
        let at = resource.fields.iter().position(|f| f.nullable && named(&f.name))?;
        Some((self.subject, at))
    }

    /// Orders by a place once.
    pub(super) fn order_by(&mut self, place: Place, dir: Direction) {
        if !self.order.iter().any(|(known, _)| *known == place) {
            self.order.push((place, dir));
        }
    }
}
