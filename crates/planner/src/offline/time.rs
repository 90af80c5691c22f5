//! Periods of the calendar: what "last quarter" and "since March 2024" are, given a day.

use domain::plan::DateUnit;
use jiff::ToSpan;
use jiff::civil::Date;

/// A period as it was said, before it is known what "now" is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Period {
    Year(i16),
    /// A quarter or month of a year, or of the latest year that has it.
    Quarter(Option<i16>, i8),
    Month(Option<i16>, i8),
    Day(Date),
    /// The period of this unit that `now` is in (0), or that many before.
    Current {
        unit: DateUnit,
        back: i16,
    },
    /// The last `n` units up to now.
    Past {
        unit: DateUnit,
        n: i16,
    },
    ToDate(DateUnit),
}

/// A period, or what lies before, after or between.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum When {
    In(Period),
    Since(Period),
    After(Period),
    Before(Period),
    Until(Period),
    Between(Period, Period),
}

/// Days from `from` up to but without `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub from: Option<Date>,
    pub to: Option<Date>,
}

impl When {
    /// Whether the meaning depends on what day it is.
    pub fn is_relative(&self) -> bool {
        let relative = |p: &Period| {
            !matches!(p, Period::Year(_) | Period::Day(_) | Period::Quarter(Some(_), _) | Period::Month(Some(_), _))
        };
        match self {
            Self::In(p) | Self::Since(p) | Self::After(p) | Self::Before(p) | Self::Until(p) => relative(p),
            Self::Between(a, b) => relative(a) || relative(b),
        }
    }

    /// Whether it is bounded by whole years that are named.
    pub fn is_years(&self) -> bool {
        match self {
            Self::In(p) | Self::Since(p) | Self::After(p) | Self::Before(p) | Self::Until(p) => {
                matches!(p, Period::Year(_))
            }
            Self::Between(a, b) => matches!((a, b), (Period::Year(_), Period::Year(_))),
        }
    }

    /// "last month": a whole period that is over.
    pub fn is_past(&self) -> bool {
        matches!(self, Self::In(Period::Current { back: 1.., .. }))
    }

    /// The last `n` whole buckets of a unit, the current one among them, where they are asked for by bucket.
    pub fn bucketed(&self, by: DateUnit, now: Date) -> Option<Range> {
        match self {
            Self::In(Period::Past { unit, n }) if *unit == by => {
                let from = shift(start_of(by, now)?, by, 1 - i64::from(*n))?;
                Some(Range { from: Some(from), to: now.tomorrow().ok() })
            }
            _ => None,
        }
    }

    /// The days meant, if `now` is the day of the question. `None` outside the calendar.
    pub fn range(&self, now: Date) -> Option<Range> {
        let both = |from, to| Range { from: Some(from), to: Some(to) };
        Some(match self {
            Self::In(p) => p.days(now).map(|(from, to)| both(from, to))?,
            Self::Since(p) => Range { from: Some(p.days(now)?.0), to: None },
            Self::After(p) => Range { from: Some(p.days(now)?.1), to: None },
            Self::Before(p) => Range { from: None, to: Some(p.days(now)?.0) },
            Self::Until(p) => Range { from: None, to: Some(p.days(now)?.1) },
            Self::Between(a, b) => both(a.days(now)?.0, b.days(now)?.1),
        })
    }
}

impl Period {
    /// First day, and the day after the last.
    fn days(&self, now: Date) -> Option<(Date, Date)> {
        match *self {
            Self::Year(year) => Some((day(year, 1, 1)?, day(year + 1, 1, 1)?)),
            Self::Quarter(year, quarter) => {
                let month = (quarter - 1) * 3 + 1;
                let first = day(year.unwrap_or_else(|| latest_year(now, month)), month, 1)?;
                Some((first, first.checked_add(3.months()).ok()?))
            }
            Self::Month(year, month) => {
                let first = day(year.unwrap_or_else(|| latest_year(now, month)), month, 1)?;
                Some((first, first.checked_add(1.month()).ok()?))
            }
            Self::Day(date) => Some((date, date.tomorrow().ok()?)),
            Self::Current { unit, back } => {
                let first = shift(start_of(unit, now)?, unit, -i64::from(back))?;
                Some((first, shift(first, unit, 1)?))
            }
            Self::Past { unit, n } => {
                let end = now.tomorrow().ok()?;
                Some((shift(end, unit, -i64::from(n))?, end))
            }
            Self::ToDate(unit) => Some((start_of(unit, now)?, now.tomorrow().ok()?)),
        }
    }
}

fn day(year: i16, month: i8, day: i8) -> Option<Date> {
    Date::new(year, month, day).ok()
}

/// The year of the most recent such month.
fn latest_year(now: Date, month: i8) -> i16 {
    if month <= now.month() { now.year() } else { now.year() - 1 }
}

fn start_of(unit: DateUnit, now: Date) -> Option<Date> {
    match unit {
        DateUnit::Year => day(now.year(), 1, 1),
        DateUnit::Quarter => day(now.year(), (now.month() - 1) / 3 * 3 + 1, 1),
        DateUnit::Month => day(now.year(), now.month(), 1),
        DateUnit::Week => now.checked_sub(i64::from(now.weekday().to_monday_zero_offset()).days()).ok(),
        DateUnit::Day | DateUnit::Hour => Some(now),
    }
}

fn shift(date: Date, unit: DateUnit, by: i64) -> Option<Date> {
    let span = match unit {
        DateUnit::Year => by.years(),
        DateUnit::Quarter => (by * 3).months(),
        DateUnit::Month => by.months(),
        DateUnit::Week => by.weeks(),
        DateUnit::Day | DateUnit::Hour => by.days(),
    };
    date.checked_add(span).ok()
}

/// "2024", "March 2024", "Q3 2024", "2024-03-05", "2024-03-05 to 2024-04-01": a range in words.
pub(crate) fn in_words(range: Range) -> String {
    match (range.from, range.to.and_then(|to| to.yesterday().ok())) {
        (Some(from), Some(last)) => whole(from, last).unwrap_or_else(|| format!("from {from} to {last}")),
        (Some(from), None) => format!("since {from}"),
        (None, Some(last)) => format!("up to {last}"),
        (None, None) => "at any time".to_owned(),
    }
}

fn whole(from: Date, last: Date) -> Option<String> {
    let after = last.tomorrow().ok()?;
    let starts = |unit| start_of(unit, from) == Some(from) && shift(from, unit, 1) == Some(after);
    if starts(DateUnit::Year) {
        Some(format!("in {}", from.year()))
    } else if starts(DateUnit::Quarter) {
        Some(format!("in Q{} {}", (from.month() - 1) / 3 + 1, from.year()))
    } else if starts(DateUnit::Month) {
        Some(format!("in {}", from.strftime("%B %Y")))
    } else if from == last {
        Some(format!("on {from}"))
    } else {
        None
    }
}
