//! Parts of dates and times.

use super::refuse::invalid;
use crate::sql::refuse::clip;
use domain::{Fault, Flavour};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    DayOfWeek,
    /// From Monday, 1 to 7. DuckDB's alone.
    IsoDayOfWeek,
    DayOfYear,
    /// Weeks from Sunday. BigQuery's alone.
    Week,
    /// Weeks from another day: `WEEK(TUESDAY)`. BigQuery's alone.
    WeekFrom(&'static str),
    IsoWeek,
    Month,
    Quarter,
    Year,
    IsoYear,
    /// Seconds since 1970. DuckDB's alone.
    Epoch,
}

/// A part as both flavours write it; `week` means something else in each.
const WORDS: [(Part, &str, &str); 16] = [
    (Part::Microsecond, "MICROSECOND", "microsecond"),
    (Part::Millisecond, "MILLISECOND", "millisecond"),
    (Part::Second, "SECOND", "second"),
    (Part::Minute, "MINUTE", "minute"),
    (Part::Hour, "HOUR", "hour"),
    (Part::Day, "DAY", "day"),
    (Part::DayOfWeek, "DAYOFWEEK", "dow"),
    (Part::IsoDayOfWeek, "", "isodow"),
    (Part::DayOfYear, "DAYOFYEAR", "doy"),
    (Part::Week, "WEEK", ""),
    (Part::IsoWeek, "ISOWEEK", "week"),
    (Part::Month, "MONTH", "month"),
    (Part::Quarter, "QUARTER", "quarter"),
    (Part::Year, "YEAR", "year"),
    (Part::IsoYear, "ISOYEAR", "isoyear"),
    (Part::Epoch, "", "epoch"),
];

/// Other words that DuckDB knows.
const DUCKDB_WORDS: [(&str, &str); 5] =
    [("dayofweek", "dow"), ("weekday", "dow"), ("dayofyear", "doy"), ("weekofyear", "week"), ("weeks", "week")];

const SUNDAYS: &str = "WEEK(SUNDAY)";
pub const MONDAYS: &str = "WEEK(MONDAY)";
const WEEKS: [&str; 7] =
    [SUNDAYS, MONDAYS, "WEEK(TUESDAY)", "WEEK(WEDNESDAY)", "WEEK(THURSDAY)", "WEEK(FRIDAY)", "WEEK(SATURDAY)"];

impl Part {
    pub fn parse(flavour: Flavour, word: &str) -> Result<Self, Fault> {
        let week = WEEKS.iter().find(|week| week.eq_ignore_ascii_case(word));
        if let (Flavour::BigQuery, Some(week)) = (flavour, week) {
            return Ok(if *week == SUNDAYS { Self::Week } else { Self::WeekFrom(week) });
        }
        let found = match flavour {
            Flavour::BigQuery => WORDS.iter().find(|(_, big, _)| !big.is_empty() && big.eq_ignore_ascii_case(word)),
            Flavour::DuckDb => {
                let lower = word.to_ascii_lowercase();
                let same = DUCKDB_WORDS.iter().find(|(other, _)| *other == lower).map_or(lower.as_str(), |(_, w)| *w);
                // `days` is `day`.
                let one = same.strip_suffix('s').unwrap_or(same);
                WORDS.iter().find(|(.., duck)| !duck.is_empty() && (*duck == same || *duck == one))
            }
        };
        found.map(|(part, ..)| *part).ok_or_else(|| {
            let known: Vec<&str> = WORDS.iter().map(|(_, big, duck)| pick(flavour, big, duck)).collect();
            let known: Vec<&str> = known.into_iter().filter(|word| !word.is_empty()).collect();
            let message = format!("`{}` is no part of a date or time", clip(word));
            invalid("unknown_part", message, format!("parts: {}", known.join(", "))).detail("part", clip(word))
        })
    }

    /// The word in that flavour, if it has one.
    pub fn word(self, flavour: Flavour) -> Option<&'static str> {
        if let (Self::WeekFrom(week), Flavour::BigQuery) = (self, flavour) {
            return Some(week);
        }
        let row = WORDS.iter().find(|(part, ..)| *part == self);
        row.map(|(_, big, duck)| pick(flavour, big, duck)).filter(|word| !word.is_empty())
    }

    /// Whether one can add so and so many of it.
    pub fn is_unit(self) -> bool {
        !matches!(self, Self::DayOfWeek | Self::IsoDayOfWeek | Self::DayOfYear | Self::IsoYear | Self::Epoch)
    }
}

fn pick(flavour: Flavour, big: &'static str, duck: &'static str) -> &'static str {
    match flavour {
        Flavour::BigQuery => big,
        Flavour::DuckDb => duck,
    }
}
