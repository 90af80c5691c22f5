//! "sorted by price descending", "in descending order of age", "alphabetically".

use super::{Parser, Zone};
use crate::offline::cues::Cue;
use crate::offline::draft::{By, Order};
use crate::offline::spans::Meaning;
use domain::plan::Direction;

impl Parser<'_> {
    pub(super) fn sorting(&mut self) -> bool {
        match self.cue(self.at) {
            Some(Cue::OrderBy) => self.order_by(),
            Some(Cue::Sorted(direction)) => self.sorted(direction),
            Some(Cue::Arranged) if self.cue(self.skip(self.at + 1, &[])) == Some(Cue::By) => {
                self.at = self.skip(self.at + 1, &[]);
                self.order_by()
            }
            // "Order the countries by …", which are asked for already.
            Some(Cue::Arranged) if !self.draft.asked.is_empty() && self.named_before_by().is_some() => {
                self.at = self.named_before_by().unwrap_or(self.at);
                self.order_by()
            }
            Some(Cue::Arranged) if self.order_follows(self.at + 1) => {
                self.at += 1;
                true
            }
            Some(Cue::From) => self.end_to_end(),
            Some(Cue::Alphabetical) => {
                let of = self.of_key(self.at + 1);
                // How many there are has no alphabet.
                if matches!(of, Some((By::Rows(_), _))) {
                    return false;
                }
                let (by, next) = of.unwrap_or((By::Shown, self.at + 1));
                self.sort(by, Direction::Asc, next);
                true
            }
            _ => false,
        }
    }

    /// The place of a "by" right behind a noun.
    fn named_before_by(&self) -> Option<usize> {
        let (_, next) = self.noun_at(self.skip(self.at + 1, &[]))?;
        (self.cue(next) == Some(Cue::By)).then_some(next)
    }

    /// "from cheapest to most expensive".
    fn end_to_end(&mut self) -> bool {
        let end = |at: usize| {
            self.span(at)?.meanings.iter().find_map(|m| match m {
                Meaning::Superlative(measures, direction) => Some((*measures, *direction)),
                _ => None,
            })
        };
        let first = self.skip(self.at + 1, &[]);
        let second = self.skip(first + 1, &[]);
        match (end(first), end(second)) {
            (Some((measures, direction)), Some((same, opposite))) if measures == same && direction != opposite => {
                self.sort(By::Measured(measures), direction, second + 1);
                true
            }
            _ => false,
        }
    }

    fn order_follows(&self, from: usize) -> bool {
        matches!(self.cue(self.skip(from, &[Cue::In])), Some(Cue::Sorted(_) | Cue::Alphabetical | Cue::OrderBy))
    }

    fn order_by(&mut self) -> bool {
        let from = self.at + 1;
        let mut at = self.skip(from, &[]);
        let mut stated = None;
        if let Some(Cue::Sorted(direction)) = self.cue(at) {
            stated = Some(direction);
            at = self.skip(at + 1, &[Cue::Of]);
        }
        if self.cue(at) == Some(Cue::Alphabetical) {
            self.at = at;
            return self.sorting();
        }
        let Some((by, next)) = self.order_key(at, &[]) else { return false };
        self.sort(by, stated.unwrap_or(Direction::Asc), next);
        self.further_keys(stated.unwrap_or(Direction::Asc));
        true
    }

    /// "ordered by sales and profits".
    fn further_keys(&mut self, direction: Direction) {
        while matches!(self.cue(self.at), Some(Cue::And | Cue::Comma)) {
            let at = self.skip(self.at, &[Cue::And, Cue::Comma]);
            let Some((by @ By::Column(_), next)) = self.order_key(at, &[]) else { break };
            if self.is_compared(next) {
                break;
            }
            self.sort(by, direction, next);
        }
    }

    /// A direction on its own: of the order just named, of the one that follows, or of what is shown.
    fn sorted(&mut self, direction: Direction) -> bool {
        if let Some((by, next)) = self.of_key(self.at + 1) {
            self.sort(by, direction, next);
            return true;
        }
        let next = if matches!(self.cue(self.at + 1), Some(Cue::Alphabetical)) { self.at + 2 } else { self.at + 1 };
        match self.draft.orders.last_mut() {
            Some(order) => {
                order.direction = direction;
                self.at = next;
            }
            None => self.sort(By::Figure, direction, next),
        }
        true
    }

    fn of_key(&self, from: usize) -> Option<(By, usize)> {
        matches!(self.cue(from), Some(Cue::Of | Cue::By)).then(|| self.order_key(from, &[Cue::Of, Cue::By])).flatten()
    }

    fn order_key(&self, from: usize, filler: &[Cue]) -> Option<(By, usize)> {
        let at = self.skip(from, filler);
        // "ordered by the count".
        if self.cue(at) == Some(Cue::Count) && self.noun_at(self.skip(at + 1, &[])).is_none() {
            let by = if self.draft.has_aggregate() { By::Figure } else { By::Occurrences };
            return Some((by, at + 1));
        }
        if let Some(found) = self.ranking_measure(at) {
            return Some(found);
        }
        let (noun, next) = self.noun_at(at)?;
        noun.is_column().then_some((By::Column(noun), next))
    }

    fn sort(&mut self, by: By, direction: Direction, next: usize) {
        self.draft.orders.push(Order { by, direction, shown: false });
        // "list in alphabetical order the names of …": what is asked for is still to come.
        if !self.draft.asked.is_empty() {
            self.enter(Zone::Body);
        }
        self.at = next;
    }
}
