//! How many rows, from where on, and in which order.

use super::{Reader, compare};
use crate::offline::numbers;
use crate::records::Trouble;
use crate::records::literal::Place;
use crate::records::spans::Span;
use crate::records::words::{Shape, tokens};
use domain::change::FilterOperator as Op;
use domain::plan::Direction;

impl Reader<'_> {
    /// What says how the rows come, if it begins here: how many spans that is.
    pub(super) fn page(&mut self) -> Result<Option<usize>, Trouble> {
        Ok(self.counted().or_else(|| self.sorted()).or_else(|| self.extreme()).or_else(|| self.most()))
    }

    /// A whole number, as a word or in digits.
    fn count(&self, at: usize) -> Option<u64> {
        let span = self.span(at).filter(|s| s.senses.is_empty())?;
        let word = span.only().filter(|w| matches!(w.shape, Shape::Number | Shape::Word))?;
        numbers::read(&tokens(std::slice::from_ref(word)))?.0.count()
    }

    fn counted(&mut self) -> Option<usize> {
        let at = self.at;
        let (word, next) = (self.plain(at), self.plain(at + 1));
        let limit_word = match (word.as_str(), next.as_str()) {
            ("limit", "of" | "to") | ("limited", "to") | ("maximum", "of") => 2,
            ("limit" | "maximum" | "max", _) => 1,
            ("at", "most") | ("up", "to") => 2,
            ("top", _) => 1,
            ("first", _) => 1,
            _ => 0,
        };
        if limit_word > 0
            && let Some(n) = self.count(at + limit_word)
            && !self.counts_field(at + limit_word + 1)
        {
            self.top |= word == "top";
            self.limit = Some(n);
            return Some(limit_word + 1);
        }
        let said = self.span(at).map(Span::lower).unwrap_or_default();
        match said.as_str() {
            "offset" | "skip" | "skipping" => self.skipped(at),
            // Also where pages are a field.
            "page" => self.count(at + 1).map(|n| {
                self.page = Some(n);
                2
            }),
            _ => self.number_of_rows(at),
        }
    }

    fn skipped(&mut self, at: usize) -> Option<usize> {
        let mut next = at + 1;
        while ["the", "first", "of"].contains(&self.plain(next).as_str()) {
            next += 1;
        }
        self.offset = Some(self.count(next)?);
        let rows = ["rows", "results", "records"].contains(&self.plain(next + 1).as_str());
        Some(next + 1 + usize::from(rows) - at)
    }

    /// "3 cases", "5 newest", "20 per page", "10 results".
    fn number_of_rows(&mut self, at: usize) -> Option<usize> {
        if self.span(at).and_then(Span::shape) != Some(Shape::Number) {
            return None;
        }
        let n = self.count(at)?;
        let next = self.span(at + 1)?;
        let page = self.span(at + 2).map(Span::lower).unwrap_or_default();
        if (self.plain(at + 1).as_str(), page.as_str()) == ("per", "page") {
            self.limit = Some(n);
            return Some(3);
        }
        let rows = ["rows", "results", "records", "entries", "items"].contains(&self.plain(at + 1).as_str());
        let named = next.resources().any(|r| r == self.subject) || next.values_of(self.subject).next().is_some();
        let ranked = direction(&self.plain(at + 1)).is_some() || self.plain(at + 1) == "most";
        // "client 12 and 14", "pages 3": a number that belongs to what stands before it.
        let taken = at.checked_sub(1).and_then(|b| self.span(b)).is_some_and(|b| !b.senses.is_empty());
        (rows || (named && !taken) || ranked).then(|| {
            self.limit = Some(n);
            1 + usize::from(rows)
        })
    }

    fn counts_field(&self, at: usize) -> bool {
        self.span(at).and_then(|s| self.place(s, at)).and_then(|p| self.field(p)).is_some_and(|f| f.kind.is_numeric())
    }

    /// "sorted by due date descending", "by claim amount".
    fn sorted(&mut self) -> Option<usize> {
        let at = self.at;
        let sorting =
            ["sorted", "ordered", "sort", "order", "ranked", "ordering", "sorting"].contains(&self.plain(at).as_str());
        let mut next = at + usize::from(sorting);
        if self.plain(next) != "by" {
            return None;
        }
        next += 1;
        while ["the", "their", "its"].contains(&self.plain(next).as_str()) {
            next += 1;
        }
        let place = self.span(next).and_then(|s| self.place(s, next))?;
        next += 1;
        // "by client 9" is a condition.
        if !sorting && self.span(next).and_then(Span::literal).is_some() {
            return None;
        }
        let turned = self.turns(next);
        next += turned.map_or(0, |(_, taken)| taken);
        let default = if self.top { Direction::Desc } else { Direction::Asc };
        self.order_by(place, turned.map_or(default, |(dir, _)| dir));
        Some(next - at)
    }

    /// A word for a direction behind a field.
    fn turns(&self, at: usize) -> Option<(Direction, usize)> {
        let comma = usize::from(self.span(at).is_some_and(|s| s.is_mark(",")));
        let open = usize::from(self.plain(at + comma) == "in");
        let word = self.plain(at + comma + open);
        let dir = match word.as_str() {
            "asc" | "ascending" => Direction::Asc,
            "desc" | "descending" => Direction::Desc,
            "highest" | "largest" | "biggest" | "most" if self.plain(at + comma + 1) == "first" => Direction::Desc,
            "lowest" | "smallest" | "least" if self.plain(at + comma + 1) == "first" => Direction::Asc,
            other if self.plain(at + comma + 1) == "first" => direction(other)?,
            _ => return None,
        };
        let order =
            usize::from(self.plain(at + comma + open + 1) == "order" || self.plain(at + comma + open + 1) == "first");
        Some((dir, comma + open + 1 + order))
    }

    /// "newest first", "the latest case", "the last 5 messages".
    fn extreme(&mut self) -> Option<usize> {
        let at = self.at;
        let (dir, mut next) = match (self.plain(at).as_str(), self.plain(at + 1).as_str()) {
            ("most", "recent" | "recently") => (Direction::Desc, at + 2),
            ("last", _) if self.time_at(at).is_some() => return None,
            (word, _) => (direction(word)?, at + 1),
        };
        if let Some(n) = self.count(next) {
            self.limit = Some(n);
            next += 1;
        }
        let first = self.plain(next) == "first";
        let field = self
            .span(next)
            .and_then(|s| self.place(s, next))
            .filter(|p| self.field(*p).is_some_and(|f| f.kind.is_temporal()));
        let place = match field {
            Some(place) => {
                next += 1;
                place
            }
            None => self.moment_of(self.scope(next))?,
        };
        self.order_by(place, dir);
        let noun = self.rest(next).iter().take_while(|s| !s.senses.is_empty()).last();
        if !first && self.limit.is_none() && noun.is_some_and(|s| !s.is_plural()) {
            self.limit = Some(1);
        }
        Some(next + usize::from(first) - at)
    }

    fn moment_of(&self, resource: usize) -> Option<Place> {
        let of = self.resource(resource)?;
        let field = of.moment_field()?;
        of.fields.iter().position(|f| f.name == field.name).map(|at| (resource, at))
    }

    /// "most confident first", "highest claim first".
    fn most(&mut self) -> Option<usize> {
        let dir = match self.plain(self.at).as_str() {
            "most" | "highest" | "largest" | "biggest" | "greatest" => Direction::Desc,
            "least" | "lowest" | "smallest" => Direction::Asc,
            _ => return None,
        };
        let place = self.span(self.at + 1).and_then(|s| self.place(s, self.at + 1))?;
        (self.plain(self.at + 2) == "first").then(|| {
            self.order_by(place, dir);
            3
        })
    }
}

/// Words for the ends of time.
fn direction(word: &str) -> Option<Direction> {
    match word {
        "latest" | "newest" | "last" | "recent" => Some(Direction::Desc),
        "oldest" | "earliest" => Some(Direction::Asc),
        _ => None,
    }
}

/// Words that ask for a figure over many rows: no read of rows has one.
pub(crate) fn is_aggregate(spans: &[Span]) -> bool {
    let plain = |at: usize| spans.get(at).filter(|s| s.senses.is_empty()).map(Span::lower).unwrap_or_default();
    (0..spans.len()).any(|at| match (plain(at).as_str(), plain(at + 1).as_str()) {
        ("how", "many" | "much") | ("number", "of") | ("sum", "of") | ("group", "by") | ("grouped", "by") => true,
        ("average" | "avg" | "mean" | "median" | "count", _) => true,
        ("total", _) => true,
        ("per", next) => next != "page",
        _ => false,
    }) && compare::read(spans).is_none_or(|(c, _)| c != compare::Compare::Op(Op::Between))
}
