//! Values that say which rows are meant without their field, and ids.

use super::compare::Compare;
use super::{Condition, Reader};
use crate::records::literal::{Place, Taken, take};
use crate::records::spans::Span;
use crate::records::words::{Shape, Word, is_uuid};
use crate::records::{Trouble, keys};
use domain::change::FilterOperator as Op;
use serde_json::Value;

impl Reader<'_> {
    /// "active", "active or on hold", "high risk": how many spans that is.
    pub(super) fn values(&mut self, at: usize, mut negated: bool) -> Result<Option<usize>, Trouble> {
        let Some(span) = self.span(at) else { return Ok(None) };
        let Some((place, first)) = self.owner(span, at)? else { return Ok(None) };
        let mut values = vec![first];
        let mut end = at + 1;
        loop {
            let mut next = end;
            while ["or", "and", ","].contains(&self.span(next).map(Span::lower).unwrap_or_default().as_str()) {
                next += 1;
            }
            let more = self.span(next).filter(|_| next > end);
            let Some(value) = more.and_then(|s| s.values_of(place.0).find(|(f, _)| *f == place.1)) else { break };
            values.push(value.1.clone());
            end = next + 1;
        }
        // "high risk", "low priority": the field's own name behind its value.
        if self
            .span(end)
            .is_some_and(|s| s.field_of(place.0).is_some_and(|(f, _)| f == place.1) && !self.has_own(end, place))
        {
            end += 1;
        }
        self.named |= place.0 == self.subject;
        if let [Value::Bool(flag)] = values.as_slice() {
            let (said, taken) = self.said_flag(end);
            values = vec![Value::Bool((*flag == said) != negated)];
            negated = false;
            end += taken;
        }
        self.push(place, Compare::Op(Op::Equal), values, negated)?;
        Ok(Some(end - at))
    }

    /// "is false" behind a flag; what is not said is true.
    fn said_flag(&self, at: usize) -> (bool, usize) {
        let lower = |at: usize| self.span(at).map(Span::lower).unwrap_or_default();
        let link = usize::from(["is", "=", ":", "=="].contains(&lower(at).as_str()));
        match lower(at + link).as_str() {
            "true" | "yes" => (true, link + 1),
            "false" | "no" => (false, link + 1),
            _ => (true, 0),
        }
    }

    /// Whether a literal may be a value of a field: the id of a row is one only of that row's key and of what points at it.
    pub(super) fn may_be(&self, word: &Word, place: Place) -> bool {
        let surface = &self.index.surface;
        match keys::owner(surface, &word.text).filter(|_| word.shape == Shape::Id).and_then(|r| keys::own(surface, r)) {
            Some(key) => self.pointed(key) == Some(place) || key == place,
            None => true,
        }
    }

    /// Whether a field's name is followed by a value of its own: "high risk and status complete".
    fn has_own(&self, at: usize, place: Place) -> bool {
        let Some(field) = self.field(place) else { return false };
        let linked =
            usize::from(["is", "="].contains(&self.span(at + 1).map(Span::lower).unwrap_or_default().as_str()));
        matches!(take(field, place, self.rest(at + 1 + linked), self.now), Taken::Value(..))
    }

    /// The field that owns a value here.
    fn owner(&self, span: &Span, at: usize) -> Result<Option<(Place, Value)>, Trouble> {
        let reachable = (0..self.index.surface.resources.len()).filter(|r| self.reaches(*r));
        let all: Vec<(Place, Value)> =
            reachable.flat_map(|r| span.values_of(r).map(move |(f, v)| ((r, f), v.clone()))).collect();
        let beside = |(place, _): &&(Place, Value)| {
            let names = |s: Option<&Span>| s.is_some_and(|s| s.field_of(place.0).is_some_and(|(f, _)| f == place.1));
            names(self.span(at + 1)) || names(at.checked_sub(1).and_then(|b| self.span(b)))
        };
        if let Some(found) = all.iter().find(beside) {
            return Ok(Some(found.clone()));
        }
        for resource in [self.scope(at), self.subject] {
            let own: Vec<&(Place, Value)> = all.iter().filter(|((r, _), _)| *r == resource).collect();
            match own.as_slice() {
                [only] => return Ok(Some((*only).clone())),
                [] => {}
                several => {
                    let fields = several.iter().filter_map(|(p, _)| self.field(*p)).map(|f| f.name.clone()).collect();
                    return Err(Trouble::WhichField { text: span.text(), fields });
                }
            }
        }
        Ok(all.into_iter().next())
    }

    /// A literal that stands by itself: an id, or a name behind what it names.
    pub(super) fn loose_literal(&mut self, literal: &Word) -> Result<usize, Trouble> {
        let before = self.at.checked_sub(1).and_then(|b| self.span(b));
        let named = before.and_then(|s| s.resources().find(|r| self.reaches(*r)));
        let place = match (literal.shape, named) {
            (Shape::Quoted, Some(resource)) => self.title(resource),
            (Shape::Number, Some(resource)) => keys::own(&self.index.surface, resource).and_then(|p| self.pointed(p)),
            (Shape::Id, _) => self.identified(literal, named),
            _ => None,
        };
        let Some(place) = place else {
            self.unknown.push(literal.text.clone());
            return Ok(1);
        };
        let (values, end) = self.alike(place, literal.shape);
        self.named |= place.0 == self.subject;
        if values.is_empty() {
            self.unknown.push(literal.text.clone());
            return Ok(1);
        }
        let op = if values.len() > 1 { Op::In } else { Op::Equal };
        let value = if values.len() > 1 { Value::Array(values) } else { values.into_iter().next().unwrap_or_default() };
        self.conditions.push(Condition { place, op, value });
        Ok(end - self.at)
    }

    pub(super) fn title(&self, resource: usize) -> Option<Place> {
        let of = self.resource(resource)?;
        let title = of.title_field()?;
        of.fields.iter().position(|f| f.name == title.name).map(|at| (resource, at))
    }

    /// The field that an id is compared with: the key of what it names, or what points at it.
    fn identified(&self, literal: &Word, named: Option<usize>) -> Option<Place> {
        let surface = &self.index.surface;
        let owner = keys::owner(surface, &literal.text).filter(|r| self.reaches(*r));
        if let Some(place) = owner.and_then(|r| keys::own(surface, r)).and_then(|p| self.pointed(p)) {
            return Some(place);
        }
        let resource = named.unwrap_or(self.subject);
        let of = self.resource(resource)?;
        let single = |key: &[String]| matches!(key, [_]);
        let keys = if is_uuid(&literal.text) || !single(&of.natural_key) { &of.key } else { &of.natural_key };
        let name = keys.first().filter(|_| single(keys))?;
        let at = of.fields.iter().position(|f| f.name == *name)?;
        let uuid = of.fields.get(at)?.kind == domain::FieldType::Uuid;
        if uuid == is_uuid(&literal.text) { self.pointed((resource, at)) } else { None }
    }

    /// A key of another resource as the subject's own field that points there, so that no join is needed.
    fn pointed(&self, place: Place) -> Option<Place> {
        if place.0 == self.subject {
            return Some(place);
        }
        let (target, key) = (self.resource(place.0)?, self.field(place)?);
        let subject = self.resource(self.subject)?;
        match subject.pointer_to(&target.name, &key.name) {
            Some(field) => subject.fields.iter().position(|f| f.name == field.name).map(|at| (self.subject, at)),
            None => Some(place),
        }
    }

    /// This literal and those of the same look that are listed with it.
    fn alike(&self, place: Place, shape: Shape) -> (Vec<Value>, usize) {
        let Some(field) = self.field(place) else { return (Vec::new(), self.at) };
        let (mut values, mut end, mut next) = (Vec::new(), self.at, self.at);
        while let Some(span) = self.span(next).filter(|s| s.shape() == Some(shape)) {
            let Taken::Value(value, 1) = take(field, place, std::slice::from_ref(span), self.now) else { break };
            values.push(value);
            end = next + 1;
            next = end;
            while ["or", "and", ","].contains(&self.span(next).map(Span::lower).unwrap_or_default().as_str()) {
                next += 1;
            }
            if next == end {
                break;
            }
        }
        (values, end)
    }
}
