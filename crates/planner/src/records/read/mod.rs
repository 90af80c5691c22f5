//! Reads: from the words of an instruction to one READ step.
//!
//! The instruction is walked once, from left to right. Every span becomes a condition, a field to show, an order, a
//! page, or the name of what is read; a word that becomes none of these and is not mere grammar is not understood.

pub(crate) mod compare;
mod conditions;
mod page;
mod values;

pub(crate) use page::is_aggregate;

use super::english::is_filler;
use super::literal::{Now, Place, spans_of};
use super::moments;
use super::router::Instruction;
use super::spans::Span;
use super::surface::{Field, Resource};
use super::words::{Shape, Word};
use super::{Index, Trouble};
use domain::change::{FilterOperator as Op, JoinType, Predicate, ReadStep, StepJoin, StepOn, StepOrder};
use domain::plan::Direction;
use serde_json::Value;

/// One condition on a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub place: Place,
    pub op: Op,
    pub value: Value,
}

/// One walk over an instruction, for one resource.
pub(crate) struct Reader<'a> {
    index: &'a Index,
    spans: &'a [Span],
    now: Now,
    /// What is read.
    subject: usize,
    /// The resource that was spoken of last.
    focus: usize,
    /// Whether the subject was called by its name or by a value that stands for it.
    named: bool,
    at: usize,
    select: Vec<Place>,
    conditions: Vec<Condition>,
    order: Vec<(Place, Direction)>,
    limit: Option<u64>,
    offset: Option<u64>,
    page: Option<u64>,
    top: bool,
    /// The conditions before which "or" stood.
    alternatives: Vec<usize>,
    unknown: Vec<String>,
}

pub(crate) fn plan(index: &Index, subject: usize, instruction: &Instruction, now: Now) -> Result<ReadStep, Trouble> {
    let spans = instruction.spans.as_slice();
    let mut reader = Reader {
        index,
        spans,
        now,
        subject,
        focus: subject,
        named: false,
        at: 0,
        select: Vec::new(),
        conditions: Vec::new(),
        order: Vec::new(),
        limit: None,
        offset: None,
        page: None,
        top: false,
        alternatives: Vec::new(),
        unknown: Vec::new(),
    };
    while reader.at < spans.len() {
        let taken = if instruction.is_command(reader.at) { 1 } else { reader.step()? };
        reader.at += taken.max(1);
    }
    reader.finish()
}

impl<'a> Reader<'a> {
    fn span(&self, at: usize) -> Option<&'a Span> {
        self.spans.get(at)
    }

    /// The spans from here on.
    fn rest(&self, from: usize) -> &'a [Span] {
        self.spans.get(from..).unwrap_or_default()
    }

    /// A plain word, lowercase; nothing for what has a meaning of its own.
    fn plain(&self, at: usize) -> String {
        self.span(at).filter(|s| s.senses.is_empty() && s.literal().is_none()).map(Span::lower).unwrap_or_default()
    }

    fn resource(&self, at: usize) -> Option<&'a Resource> {
        self.index.surface.resources.get(at)
    }

    fn field(&self, place: Place) -> Option<&'a Field> {
        self.resource(place.0)?.fields.get(place.1)
    }

    /// Whether fields of a resource can be read along with the subject's.
    fn reaches(&self, resource: usize) -> bool {
        let name = self.resource(resource).map(|r| r.name.as_str());
        resource == self.subject
            || self.resource(self.subject).is_some_and(|s| s.joins.iter().any(|j| Some(j.target.as_str()) == name))
    }

    /// One span, and what belongs to it: how many spans that is.
    fn step(&mut self) -> Result<usize, Trouble> {
        if let Some(taken) = self.page()? {
            return Ok(taken);
        }
        let Some(span) = self.span(self.at) else { return Ok(1) };
        if span.senses.is_empty()
            && let Some(taken) = self.time()
        {
            return Ok(taken);
        }
        if let Some(taken) = self.absence() {
            return Ok(taken);
        }
        if let Some(taken) = self.condition()? {
            return Ok(taken);
        }
        if let Some(literal) = span.literal().filter(|_| span.senses.is_empty()) {
            return self.loose_literal(literal);
        }
        if self.plain(self.at) == "or" {
            self.alternatives.push(self.conditions.len());
        } else if !span.resources().any(|r| self.mention(r)) && !self.is_grammar(span) {
            self.unknown.push(span.text());
        }
        Ok(1)
    }

    /// Marks between parts, and words without a condition of their own.
    fn is_grammar(&self, span: &Span) -> bool {
        match span.shape() {
            Some(Shape::Mark) => [",", ":"].contains(&span.lower().as_str()),
            _ => {
                span.senses.is_empty() && is_filler(&span.lower())
                    || ["and", "but", "by"].contains(&span.lower().as_str())
            }
        }
    }

    /// The subject, or a resource that it reaches, is spoken of.
    fn mention(&mut self, resource: usize) -> bool {
        let known = self.reaches(resource);
        if known {
            self.focus = resource;
            self.named |= resource == self.subject;
        }
        known
    }

    /// A time that no field was named for: when the rows spoken of happened.
    fn time(&mut self) -> Option<usize> {
        let words: Vec<Word> = self.rest(self.at).iter().take(8).flat_map(|s| s.words.clone()).collect();
        let (time, taken) = moments::read(&words, self.now.today())?;
        let scope = self.scope(self.at);
        let resource = self.resource(scope)?;
        let field = resource.moment_field()?;
        let at = resource.fields.iter().position(|f| f.name == field.name)?;
        self.moment((scope, at), &time);
        Some(spans_of(self.rest(self.at), taken))
    }

    fn moment(&mut self, place: Place, time: &moments::Time) {
        if let (Some(resource), Some(field)) = (self.resource(place.0), self.field(place)) {
            let found = moments::conditions(resource, field, time);
            self.conditions.extend(found.into_iter().map(|(op, value)| Condition { place, op, value }));
        }
    }

    /// Whose values are meant here: of the resource that these words come before, else of the one spoken of last.
    fn scope(&self, at: usize) -> usize {
        for span in self.rest(at) {
            if let Some(resource) = span.resources().find(|r| self.reaches(*r)) {
                return resource;
            }
            let modifier = !span.senses.is_empty() || ["and", "or", ",", "not"].contains(&span.lower().as_str());
            if !modifier {
                break;
            }
        }
        self.focus
    }

    fn finish(mut self) -> Result<ReadStep, Trouble> {
        if !self.unknown.is_empty() {
            return Err(Trouble::Unknown(self.unknown));
        }
        self.merge_alternatives()?;
        let subject = self.resource(self.subject).ok_or(Trouble::WhichResource)?;
        if !self.named && self.conditions.is_empty() && self.select.is_empty() {
            return Err(Trouble::WhichResource);
        }
        let mut joins: Vec<StepJoin> = Vec::new();
        for (resource, _) in self.places().filter(|(r, _)| *r != self.subject) {
            let join = self.join(subject, resource).ok_or(Trouble::WhichResource)?;
            if !joins.contains(&join) {
                joins.push(join);
            }
        }
        let limit = self.limit.unwrap_or(subject.limits.max_rows);
        let offset = self.offset.take().or(self.page.and_then(|page| page.checked_sub(1)?.checked_mul(limit)));
        let name = |place: Place| self.name(place);
        let select: Vec<String> = self.select.iter().map(|p| name(*p)).collect();
        Ok(ReadStep {
            resource: subject.name.clone(),
            select: if select.is_empty() { subject.shown() } else { select },
            filter: self.conditions.iter().map(|c| Predicate::new(name(c.place), c.op, c.value.clone())).collect(),
            join: joins,
            order_by: self.order.iter().map(|(p, dir)| StepOrder { field: name(*p), dir: *dir }).collect(),
            limit,
            offset: offset.filter(|o| *o > 0),
        })
    }

    /// "client 5 or client 6" is a list; alternatives between fields are not for this language.
    fn merge_alternatives(&mut self) -> Result<(), Trouble> {
        for at in std::mem::take(&mut self.alternatives).into_iter().rev() {
            let (before, after) = (at.checked_sub(1).and_then(|b| self.conditions.get(b)), self.conditions.get(at));
            let list = |c: &Condition| match c.op {
                Op::Equal => Some(vec![c.value.clone()]),
                Op::In => c.value.as_array().cloned(),
                _ => None,
            };
            let merged = match (before, after) {
                (Some(a), Some(b)) if a.place == b.place => list(a).zip(list(b)).map(|(a, b)| [a, b].concat()),
                _ => None,
            };
            let merged = merged.ok_or_else(|| Trouble::Unsaid("alternatives between different fields".to_owned()))?;
            self.conditions.remove(at);
            if let Some(condition) = self.conditions.get_mut(at - 1) {
                (condition.op, condition.value) = (Op::In, Value::Array(merged));
            }
        }
        Ok(())
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        let conditions = self.conditions.iter().map(|c| c.place);
        self.select.iter().copied().chain(conditions).chain(self.order.iter().map(|(place, _)| *place))
    }

    fn name(&self, place: Place) -> String {
        let field = self.field(place).map(|f| f.name.as_str()).unwrap_or_default();
        match self.resource(place.0) {
            Some(resource) if place.0 != self.subject => format!("{}.{field}", resource.name),
            _ => field.to_owned(),
        }
    }

    fn join(&self, subject: &Resource, target: usize) -> Option<StepJoin> {
        let target = self.resource(target)?;
        let join = subject.joins.iter().find(|j| j.target == target.name)?;
        let on = |(left, right): &(String, String)| StepOn { left_field: left.clone(), right_field: right.clone() };
        Some(StepJoin {
            target_resource: target.name.clone(),
            on: join.on.iter().map(on).collect(),
            kind: JoinType::Inner,
        })
    }
}
