//! Figures in relation to others: "what percentage of orders was cancelled", "by how many percent
//! did revenue grow from Q1 to Q2", "kWh per square metre", "compare chat and phone".

use super::growth::Growth;
use super::{Parser, Zone};
use crate::offline::cues::Cue;
use crate::offline::draft::{Asked, Filter, Key, Noun, Relation, Steps, Thing};
use crate::offline::time::{Period, When};
use crate::offline::values::Owned;
use domain::plan::{AggregateFn, DateUnit};

/// What was said of relations so far; what it comes to is known at the end of the question.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The words that asked for a share, and how many conditions stood before what is a part.
    share: Option<String>,
    part: Option<(u8, usize)>,
    change: Option<String>,
    percent: Option<String>,
    /// "by how much": a difference rather than a rate.
    amount: bool,
    compared: bool,
    pub(super) ranked: Option<Growth>,
}

impl Parser<'_> {
    pub(super) fn related_figure(&mut self) -> bool {
        let Some(span) = self.span(self.at) else { return false };
        if span.is_noun() || span.values().next().is_some() {
            return false;
        }
        let text = span.text.to_lowercase();
        match span.cue() {
            Some(Cue::Share) if self.draft.asked.is_empty() => return self.share(text),
            Some(Cue::Percent) => self.relations.percent = Some(text),
            Some(Cue::Change) => self.relations.change = Some(text),
            Some(Cue::Compared) => {
                self.relations.compared = true;
                // "2025 versus 2024", "EMEA vs APAC": the second one is an alternative.
                self.either = !self.draft.filters.is_empty();
            }
            Some(Cue::HowMuch) if text == "by how much" => self.relations.amount = true,
            Some(Cue::Each) if self.per_unit() => return true,
            _ => return false,
        }
        self.at += 1;
        true
    }

    /// "percentage of orders", "share of the total revenue": the whole, behind its own conditions.
    fn share(&mut self, text: String) -> bool {
        let start = self.at;
        self.at = self.skip(self.at + 1, &[]);
        while self.values() {}
        let named = self.draft.filters.len();
        let measure = |noun: Noun| Asked::Aggregate(AggregateFn::Sum, noun);
        let summed = match self.aggregate_at(self.at) {
            Some((functions, nouns, next)) => match (functions.as_slice(), nouns.as_slice()) {
                ([AggregateFn::Sum], [noun]) => Some((measure(noun.clone()), next)),
                _ => None,
            },
            None => self.measure_at(self.at).map(|(noun, next)| (measure(noun), next)),
        };
        let rows = self.table_at(self.at).map(|(table, next)| (Asked::CountRows(table), next));
        let Some((asked, next)) = rows.or(summed) else {
            self.draft.filters.clear();
            self.at = start;
            return false;
        };
        if let Asked::CountRows(table) = asked {
            self.draft.subject = Some(table);
            self.near = Some(table);
        }
        self.draft.asked.push(asked);
        self.relations.share = Some(text);
        // "percentage of enterprise customers": the values are the part, unless a verb names one.
        self.relations.part = (named > 0).then_some((0, 0));
        self.at = next;
        true
    }

    /// What follows "was", "came from", "that" is said of the part; of several, the verb counts.
    pub(super) fn mark_part(&mut self) {
        let Some(span) = self.span(self.at).filter(|_| self.relations.share.is_some()) else { return };
        let has = ["has", "have", "had"].contains(&span.text.to_lowercase().as_str());
        let rank = match span.cue() {
            Some(Cue::Is) => 2,
            Some(Cue::Clause | Cue::From | Cue::Which) => 1,
            _ if has => 1,
            _ => return,
        };
        if self.relations.part.is_none_or(|(known, _)| rank >= known) {
            self.relations.part = Some((rank, self.draft.filters.len()));
            self.enter(Zone::Body);
        }
    }

    /// "kWh per square metre": a measure for each unit of another.
    fn per_unit(&mut self) -> bool {
        let catalog = self.catalog();
        let plain = |noun: &Noun| noun.any(|t| t.is_additive(catalog));
        let figure = match self.draft.asked.as_slice() {
            [Asked::Column(noun)] => plain(noun).then(|| noun.clone()),
            [Asked::Aggregate(AggregateFn::Sum, noun)] => Some(noun.clone()),
            _ => None,
        };
        let (Some(figure), Some((unit, next))) = (figure, self.measure_at(self.at + 1)) else { return false };
        let counts = |(t, _): &(Thing, f32)| t.is_additive(catalog) || is_unit(&unit.text);
        if self.draft.relation.is_some() || !unit.things.iter().any(counts) || self.table_at(self.at + 1).is_some() {
            return false;
        }
        self.draft.asked = vec![Asked::Aggregate(AggregateFn::Sum, figure)];
        self.draft.relation = Some(Relation::Per(unit));
        self.at = next;
        true
    }

    /// Every mark must have come to something, or its word was not understood.
    pub(super) fn finish_relations(&mut self) {
        let marks = std::mem::take(&mut self.relations);
        if let Some(growth) = marks.ranked {
            self.finish_growth(growth, marks.percent.is_some(), marks.amount);
        } else if let Some(text) = marks.share {
            self.finish_share(text, marks.part);
        } else if let Some(text) = marks.change.or(marks.percent.clone()) {
            match (marks.percent.is_some(), marks.amount) {
                (percent, false) if self.finish_steps(if percent { Steps::Percent } else { Steps::Both }) => {}
                (false, true) if self.finish_steps(Steps::Difference) => {}
                (percent, amount) => self.finish_change(text, percent || !amount),
            }
        }
        if marks.compared || self.names_all_values() {
            self.finish_compared();
        }
    }

    fn finish_share(&mut self, text: String, part: Option<(u8, usize)>) {
        let from = part.map(|(_, from)| from);
        let limits = |f: &Filter| !matches!(f, Filter::Time { .. } | Filter::Weekday { .. });
        let split = from.is_some_and(|from| self.draft.filters.iter().skip(from).any(limits));
        if !split && self.draft.keys.is_empty() {
            self.draft.unexplained.push(text);
            return;
        }
        self.draft.part = from.filter(|_| split);
        self.draft.relation = Some(Relation::Share);
    }

    /// From each period to the next, where the figure is asked for by one.
    fn finish_steps(&mut self, steps: Steps) -> bool {
        let compared = |f: &Filter| matches!(f, Filter::Time { when: When::Between(..), column: None, .. });
        let periods = self.draft.keys.iter().filter(|k| matches!(k, Key::Bucket(_))).count();
        // "from 2023 to 2024 by month": the two periods are compared, or they bound the months.
        if periods != 1 || self.draft.asked.len() != 1 || self.draft.filters.iter().any(compared) {
            return false;
        }
        if let [Asked::Entity { table, .. }] = self.draft.asked.as_slice() {
            self.draft.asked = vec![Asked::CountRows(*table)];
        }
        self.draft.relation = Some(Relation::Steps(steps));
        true
    }

    /// From one period to the other, of the one figure that is asked for.
    fn finish_change(&mut self, text: String, percent: bool) {
        let both = self
            .draft
            .filters
            .iter()
            .position(|f| matches!(f, Filter::Time { when: When::Between(..), column: None, .. }));
        let Some(at) = both.filter(|_| self.draft.asked.len() == 1) else {
            self.draft.unexplained.push(text);
            return;
        };
        if let Filter::Time { when: When::Between(from, to), .. } = self.draft.filters.remove(at) {
            self.draft.relation = Some(Relation::Change { from, to, percent });
        }
        if let [Asked::Entity { table, .. }] = self.draft.asked.as_slice() {
            self.draft.asked = vec![Asked::CountRows(*table)];
        }
    }

    /// "the average age of men and women": values that leave nobody out limit nothing, so one figure
    /// for each is asked for.
    fn names_all_values(&self) -> bool {
        let all_of = |f: &Filter| match f {
            Filter::Values { options, negated: false, all: true, .. } => {
                let owners = options.first().into_iter().flatten().map(|o| o.column);
                let named = |c| options.iter().all(|any| any.iter().any(|o| o.column == c));
                owners.into_iter().any(|c| named(c) && self.index.values.count(c) == Some(options.len()))
            }
            _ => false,
        };
        let figure = self.draft.has_aggregate() && self.draft.keys.is_empty() && self.draft.relation.is_none();
        figure && self.draft.filters.iter().any(all_of)
    }

    /// One figure for each of what is compared: the values of one column, or periods of one kind.
    fn finish_compared(&mut self) {
        self.draft.both = false;
        let mut key = None;
        for filter in &mut self.draft.filters {
            match filter {
                Filter::Values { options, negated: false, all, text, .. } if options.len() > 1 => {
                    *all = false;
                    let common = |o: &&Owned| options.iter().all(|any| any.iter().any(|x| x.column == o.column));
                    let owners = options.first().into_iter().flatten().filter(common);
                    let things = owners.map(|o| (Thing::Column(o.column), 1.0)).collect();
                    key = Some(Key::Column(Noun { text: text.clone(), things, ..Noun::default() }));
                }
                Filter::Either(any) => key = key.or(periods(any).map(Key::Bucket)),
                _ => {}
            }
        }
        match key {
            Some(key) if self.draft.keys.is_empty() => self.draft.keys.push(key),
            Some(_) => {}
            None => self.draft.unexplained.push("compare".to_owned()),
        }
    }
}

/// The unit of periods that are all of one kind.
fn periods(filters: &[Filter]) -> Option<DateUnit> {
    let unit = |f: &Filter| match f {
        Filter::Time { when: When::In(Period::Year(_)), .. } => Some(DateUnit::Year),
        Filter::Time { when: When::In(Period::Quarter(..)), .. } => Some(DateUnit::Quarter),
        Filter::Time { when: When::In(Period::Month(..)), .. } => Some(DateUnit::Month),
        _ => None,
    };
    let first = unit(filters.first()?)?;
    filters.iter().all(|f| unit(f) == Some(first)).then_some(first)
}

/// Units that other things are measured by.
fn is_unit(text: &str) -> bool {
    let last = text.rsplit(' ').next().unwrap_or(text);
    ["m2", "m3", "km2", "metre", "metres", "meter", "meters", "foot", "feet", "hectare", "hectares"].contains(&last)
}
