//! Moments: which column a period is about, and which days it means.

use super::Binder;
use crate::offline::catalog::{self, Catalog, ColumnId, TableId};
use crate::offline::draft::{Key, Noun, Thing};
use crate::offline::joins::distance;
use crate::offline::output::unit_name;
use crate::offline::query::{BoundKey, Query, Trouble};
use crate::offline::time::{Range, When};
use domain::plan::DateUnit;
use jiff::civil::Date;

impl Binder<'_> {
    /// Buckets of time take the time of what is measured.
    pub(super) fn buckets(&mut self, query: &mut Query) -> Result<(), Trouble> {
        let near = query.summed(self.catalog()).or_else(|| query.measured(self.catalog())).or(query.subject);
        for key in &mut query.keys {
            if let BoundKey::Bucket(unit, column @ None) = key {
                let named = match &self.draft.moment {
                    Some(noun) => self.thing(noun, |_, _| true)?.column(),
                    None => None,
                };
                let found = self.time_column(near, named, &unit_name(*unit), *unit == DateUnit::Year)?;
                if *unit == DateUnit::Hour && self.catalog().column(found).is_day {
                    return Err(Trouble::Unbound(unit_name(*unit)));
                }
                if self.catalog().column(found).is_year && *unit == DateUnit::Year {
                    *key = BoundKey::Column(found);
                } else if self.catalog().column(found).is_year {
                    return Err(Trouble::Unbound(unit_name(*unit)));
                } else {
                    *column = Some(found);
                }
            }
        }
        Ok(())
    }

    /// The moment column that a period is about: the one named, else the table's only one.
    pub(super) fn time_column(
        &mut self,
        near: Option<TableId>,
        named: Option<ColumnId>,
        text: &str,
        years: bool,
    ) -> Result<ColumnId, Trouble> {
        if let Some(column) = named {
            return Ok(column);
        }
        let catalog = self.catalog();
        let steps = |t: TableId| near.map_or(Some(0), |n| distance(catalog, n, t));
        let usable = |(d, t): &(usize, TableId)| *d <= 1 || self.in_play.contains(t);
        let timed = catalog.tables().filter(|t| !catalog.time_columns(*t).is_empty());
        let tables: Vec<(usize, TableId)> = timed.filter_map(|t| Some((steps(t)?, t))).filter(usable).collect();
        let Some(nearest) = tables.iter().map(|(d, _)| *d).min() else {
            return Err(Trouble::Unbound(text.to_owned()));
        };
        let columns = tables.iter().filter(|(d, _)| *d == nearest).flat_map(|(_, t)| catalog.time_columns(*t));
        // "in 2009" is what a column of years is for.
        let of_years = |c: ColumnId| if years && catalog.column(c).is_year { 0.1 } else { 0.0 };
        let noun = Noun {
            text: text.to_owned(),
            things: columns.map(|c| (Thing::Column(c), 1.0 + event_weight(catalog, c) + of_years(c))).collect(),
            ..Noun::default()
        };
        let thing = self.thing(&noun, |_, _| true)?;
        thing.column().ok_or_else(|| Trouble::Unbound(text.to_owned()))
    }

    /// The days meant. Where the data ends before them, "now" is the day after its last day.
    pub(super) fn range(&mut self, when: &When, column: ColumnId) -> Result<Range, Trouble> {
        let outside = || Trouble::Unbound("the period".to_owned());
        let buckets = self.draft.keys.iter().find_map(|k| if let Key::Bucket(unit) = k { Some(*unit) } else { None });
        let days = |now: Date| buckets.and_then(|unit| when.bucketed(unit, now)).or_else(|| when.range(now));
        let range = days(self.today).ok_or_else(outside)?;
        let latest = self.catalog().column(column).latest;
        if range.from.is_some_and(|from| from > self.today && latest.is_none_or(|latest| latest < from)) {
            return Err(Trouble::Unbound("a period in the future".to_owned()));
        }
        let (Some(latest), Some(from)) = (latest, range.from) else { return Ok(range) };
        if !when.is_relative() || latest >= from {
            return Ok(range);
        }
        // A period before now is the last whole one; a period up to now ends with the data.
        let now = if when.is_past() { latest.tomorrow().map_err(|_| outside())? } else { latest };
        let range = days(now).ok_or_else(outside)?;
        self.notes.push(format!("the data ends on {latest}, so that is taken as today"));
        Ok(range)
    }
}

/// The moment that a row is about is more likely than the moment that something else happened to it.
fn event_weight(catalog: &Catalog, column: ColumnId) -> f32 {
    let info = catalog.column(column);
    let own = &catalog.table(info.table).words;
    let about = |w: &String| {
        matches!(w.as_str(), "date" | "time" | "timestamp" | "at" | "on" | "day" | "year" | "created" | "ts")
            || own.iter().any(|o| catalog::singular(o) == *w)
    };
    if info.words.iter().all(about) { 0.1 } else { 0.0 }
}
