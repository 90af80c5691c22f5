//! Rankings by how much a figure changed: "which month had the highest growth in revenue", "top 3 regions by revenue growth
//! from 2024 to 2025".

use super::{Parser, Zone};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, By, Filter, Key, Order, Relation, Steps, Thing};
use crate::offline::time::When;
use domain::plan::Direction;

/// A ranking by a change, as far as it was said.
#[derive(Debug)]
pub(super) struct Growth {
    word: String,
    direction: Direction,
    figure: Option<Asked>,
    /// "fastest": by the rate, whatever the amounts.
    rate: bool,
}

impl Parser<'_> {
    /// The end of an order beside the word for a change, with or without the figure that changes.
    pub(super) fn growth_ranked(&mut self) -> bool {
        let found = self.growth_behind_end().or_else(|| self.growth_before_end()).or_else(|| self.growth_of_ranking());
        let Some((growth, next)) = found else { return false };
        self.ranked = None;
        self.relations.ranked = Some(growth);
        if !self.draft.asked.is_empty() {
            self.enter(Zone::Body);
        }
        self.at = next;
        true
    }

    /// "the highest growth in revenue", "the highest revenue growth".
    fn growth_behind_end(&self) -> Option<(Growth, usize)> {
        let (direction, rate, next) = self.order_end(self.at)?;
        self.changing_at(next, direction, rate)
    }

    /// "revenue grew the most", "grew fastest".
    fn growth_before_end(&self) -> Option<(Growth, usize)> {
        let (figure, at) = match self.change_word(self.at) {
            Some(_) => (None, self.at),
            None => self.changing_figure(self.at).map(|(figure, next)| (Some(figure), self.skip(next, &[Cue::Is])))?,
        };
        let word = self.change_word(at)?;
        let (direction, rate, next) = self.order_end(self.skip(at + 1, &[]))?;
        // "grew most in revenue".
        let behind = self.changing_figure(self.skip(next, &[Cue::In])).filter(|_| self.cue(next) == Some(Cue::In));
        let (figure, next) = match (figure, behind) {
            (None, Some((figure, next))) => (Some(figure), next),
            (figure, _) => (figure, next),
        };
        Some((Growth { direction: turned(direction, &word), word, figure, rate }, next))
    }

    /// "top 3 months by revenue growth".
    fn growth_of_ranking(&self) -> Option<(Growth, usize)> {
        let direction = self.ranked.filter(|_| self.cue(self.at) == Some(Cue::By))?;
        self.changing_at(self.at + 1, direction, false)
    }

    /// The change, and what changes before or behind it.
    fn changing_at(&self, from: usize, direction: Direction, rate: bool) -> Option<(Growth, usize)> {
        let mut at = self.skip(from, &[]);
        let rate = rate || self.cue(at) == Some(Cue::Percent);
        at += usize::from(self.cue(at) == Some(Cue::Percent));
        let said =
            |word: String, figure: Option<Asked>| Growth { direction: turned(direction, &word), word, figure, rate };
        if let Some(word) = self.change_word(at) {
            let figure = self.changing_figure(self.skip(at + 1, &[Cue::In, Cue::Of]));
            let next = figure.as_ref().map_or(at + 1, |(_, next)| *next);
            return Some((said(word, figure.map(|(figure, _)| figure)), next));
        }
        let (figure, next) = self.changing_figure(at)?;
        let word = self.change_word(next)?;
        Some((said(word, Some(figure)), next + 1))
    }

    /// "highest", "the most", "fastest".
    fn order_end(&self, at: usize) -> Option<(Direction, bool, usize)> {
        let span = self.span(at)?;
        match span.text.to_lowercase().as_str() {
            "fastest" => return Some((Direction::Desc, true, at + 1)),
            "slowest" => return Some((Direction::Asc, true, at + 1)),
            _ => {}
        }
        match span.cue()? {
            Cue::Extreme(direction, _) => Some((direction, false, at + 1)),
            _ => None,
        }
    }

    fn change_word(&self, at: usize) -> Option<String> {
        let span = self.span(at).filter(|s| s.cue() == Some(Cue::Change))?;
        (!span.is_noun() && span.values().next().is_none()).then(|| span.text.to_lowercase())
    }

    fn changing_figure(&self, at: usize) -> Option<(Asked, usize)> {
        let adds_up = |t: Thing| t.is_additive(self.catalog());
        if let Some((functions, nouns, next)) = self.aggregate_at(at)
            && let ([function], [noun]) = (functions.as_slice(), nouns.as_slice())
        {
            return Some((Asked::Aggregate(*function, noun.clone()), next));
        }
        let measure = self.measure_at(at).filter(|(noun, _)| noun.any(adds_up));
        let rows = || self.table_at(at).map(|(table, next)| (Asked::CountRows(table), next));
        measure.map(|(noun, next)| (Asked::Column(noun), next)).or_else(rows)
    }

    /// What was to be ranked is what the figure is asked for by; periods are compared with the one before each, other
    /// things from the first to the second of two periods.
    pub(super) fn finish_growth(&mut self, growth: Growth, percent: bool, amount: bool) {
        let Growth { word, direction, figure, rate } = growth;
        let key = |asked: &Asked| match asked {
            Asked::Period(unit) => Some(Key::Bucket(*unit)),
            Asked::Entity { table, .. } => Some(Key::Entity(*table)),
            Asked::Column(noun) => {
                let measured = noun.things.iter().all(|(t, _)| t.is_measure(self.catalog()));
                (!measured).then(|| Key::Column(noun.clone()))
            }
            _ => None,
        };
        let keys: Option<Vec<Key>> = self.draft.asked.iter().map(key).collect();
        let (Some(keys), Some(figure)) = (keys.filter(|keys| keys.len() == 1), figure) else {
            self.draft.unexplained.push(word);
            return;
        };
        let relation = match keys.as_slice() {
            [Key::Bucket(_)] => Some(Relation::Steps(Steps::Both)),
            _ => self.compared_periods(),
        };
        let Some(relation) = relation else {
            self.draft.unexplained.push(word);
            return;
        };
        self.draft.subject = if let Asked::CountRows(table) = figure { Some(table) } else { None };
        (self.draft.asked, self.draft.keys, self.draft.relation) = (vec![figure], keys, Some(relation));
        self.draft.limit.get_or_insert(1);
        // "the largest increase" is an amount; growth may be meant as a rate as well.
        let in_percent =
            if percent || rate { Some(true) } else { (amount || !word.starts_with("gr")).then_some(false) };
        self.draft.orders = vec![Order { by: By::Change(in_percent), direction, shown: false }];
    }

    /// "from 2024 to 2025": the two periods that are compared.
    fn compared_periods(&mut self) -> Option<Relation> {
        let both = |f: &Filter| matches!(f, Filter::Time { when: When::Between(..), column: None, .. });
        let at = self.draft.filters.iter().position(both)?;
        match self.draft.filters.remove(at) {
            Filter::Time { when: When::Between(from, to), .. } => Some(Relation::Change { from, to, percent: false }),
            _ => None,
        }
    }
}

/// Whatever fell most has changed least of all.
fn turned(direction: Direction, word: &str) -> Direction {
    let falls = word.starts_with("de");
    match direction {
        Direction::Desc if falls => Direction::Asc,
        Direction::Asc if falls => Direction::Desc,
        as_said => as_said,
    }
}
