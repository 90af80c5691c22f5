//! Reads periods out of a question's words.

use super::numbers;
use super::text::Token;
use super::time::{Period, When};
use domain::plan::DateUnit;
use jiff::civil::Date;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The period that these words start with, and how many of them it takes.
///
/// A bare number is read as a year only behind a word that asks for a time, because it may as well
/// be an amount; `year_expected` says that such a word came before.
pub(crate) fn read(tokens: &[Token], year_expected: bool) -> Option<(When, usize)> {
    let word = |at: usize| tokens.get(at).map(|t| t.lower.as_str()).unwrap_or_default();
    let rest = |at: usize| tokens.get(at..).unwrap_or_default();
    let bounded = |make: fn(Period) -> When, at: usize| {
        let (period, n) = period(rest(at), true)?;
        Some((make(period), at + n))
    };
    match word(0) {
        "since" | "starting" => bounded(When::Since, if word(1) == "in" || word(1) == "from" { 2 } else { 1 }),
        "after" => bounded(When::After, 1),
        "before" | "until" | "till" => {
            let make = if word(0) == "before" { When::Before } else { When::Until };
            bounded(make, 1)
        }
        "between" | "from" => between(tokens).or_else(|| {
            let (period, n) = period(rest(1), true)?;
            let open = matches!(word(1 + n), "on" | "onward" | "onwards");
            (word(0) == "from").then_some(if open { (When::Since(period), 2 + n) } else { (When::In(period), 1 + n) })
        }),
        _ => {
            let (first, n) = period(tokens, year_expected)?;
            let or_later = matches!((word(n), word(n + 1)), ("or", "later" | "after" | "newer"));
            let or_earlier = matches!((word(n), word(n + 1)), ("or", "earlier" | "before" | "older"));
            match (or_later, or_earlier) {
                (true, _) => Some((When::Since(first), n + 2)),
                (_, true) => Some((When::Until(first), n + 2)),
                _ => Some((When::In(first), n)),
            }
        }
    }
}

fn between(tokens: &[Token]) -> Option<(When, usize)> {
    let (first, n) = period(tokens.get(1..)?, true)?;
    let joiner = tokens.get(1 + n)?.lower.as_str();
    if !matches!(joiner, "and" | "to" | "until" | "till" | "through") {
        return None;
    }
    let (second, m) = period(tokens.get(2 + n..)?, true)?;
    // "between January and March 2024": the year is said once, for both.
    let first = match (first, &second) {
        (Period::Month(None, month), Period::Month(year, _)) => Period::Month(*year, month),
        (Period::Quarter(None, quarter), Period::Quarter(year, _)) => Period::Quarter(*year, quarter),
        (first, _) => first,
    };
    Some((When::Between(first, second), 2 + n + m))
}

fn period(tokens: &[Token], year_expected: bool) -> Option<(Period, usize)> {
    let words: Vec<&str> = tokens.iter().take(6).map(|t| t.lower.as_str()).collect();
    let skip = usize::from(words.first() == Some(&"the"));
    let words = words.get(skip..)?;
    let found = relative(words, tokens.get(skip..)?)
        .or_else(|| calendar(words))
        .or_else(|| Some((Period::Year(year(words.first()?).filter(|_| year_expected)?), 1)));
    found.map(|(period, n)| (period, n + skip))
}

fn calendar(words: &[&str]) -> Option<(Period, usize)> {
    let first = words.first()?;
    let year_at = |at: usize| words.get(at).and_then(|w| year(w));
    let year_after = |at: usize| match words.get(at) {
        Some(&"of" | &"in" | &",") => year_at(at + 1).map(|y| (y, 2)),
        _ => year_at(at).map(|y| (y, 1)),
    };
    if let Some(nth) = quarter(first) {
        return Some(match year_after(1) {
            Some((year, n)) => (Period::Quarter(Some(year), nth), 1 + n),
            None => (Period::Quarter(None, nth), 1),
        });
    }
    if let (Some(nth), Some(&"quarter")) = (ordinal(first), words.get(1)) {
        return Some(match year_after(2) {
            Some((year, n)) => (Period::Quarter(Some(year), nth), 2 + n),
            None => (Period::Quarter(None, nth), 2),
        });
    }
    if let (Some(year), Some(quarter)) = (year(first), words.get(1).and_then(|w| quarter(w))) {
        return Some((Period::Quarter(Some(year), quarter), 2));
    }
    if let Some(found) = month_first(words) {
        return Some(found);
    }
    if let (Some(day), Some(month)) = (day_number(first), words.get(1).and_then(|w| month(w))) {
        let (year, n) = year_after(2)?;
        return Some((Period::Day(Date::new(year, month, day).ok()?), 2 + n));
    }
    if let Ok(date) = first.replace('/', "-").parse::<Date>() {
        return Some((Period::Day(date), 1));
    }
    let (y, m) = first.split_once('-')?;
    let month = m.parse::<i8>().ok().filter(|m| (1..=12).contains(m) && first.len() == 7)?;
    Some((Period::Month(Some(year(y)?), month), 1))
}

/// "March", "March 2024", "March 5, 2024".
fn month_first(words: &[&str]) -> Option<(Period, usize)> {
    let month = month(words.first()?)?;
    let year_at = |at: usize| words.get(at).and_then(|w| year(w));
    if let Some(year) = year_at(1) {
        return Some((Period::Month(Some(year), month), 2));
    }
    if let (Some(&"of" | &"in" | &","), Some(year)) = (words.get(1), year_at(2)) {
        return Some((Period::Month(Some(year), month), 3));
    }
    if let Some(day) = words.get(1).and_then(|w| day_number(w)) {
        let comma = usize::from(words.get(2) == Some(&","));
        if let Some(year) = year_at(2 + comma) {
            return Some((Period::Day(Date::new(year, month, day).ok()?), 3 + comma));
        }
    }
    // "may" and "march" alone are verbs more often than months.
    (!matches!(words.first(), Some(&"may" | &"march"))).then_some((Period::Month(None, month), 1))
}

fn relative(words: &[&str], tokens: &[Token]) -> Option<(Period, usize)> {
    let current = |unit, back, n| Some((Period::Current { unit, back }, n));
    match words {
        ["today", ..] => current(DateUnit::Day, 0, 1),
        ["yesterday", ..] => current(DateUnit::Day, 1, 1),
        ["ytd", ..] => Some((Period::ToDate(DateUnit::Year), 1)),
        [of, "to", "date", ..] => Some((Period::ToDate(unit(of)?), 3)),
        ["this" | "current", of, "so", "far", ..] => Some((Period::ToDate(unit(of)?), 4)),
        ["this" | "current", of, ..] if singular_unit(of) => current(unit(of)?, 0, 2),
        ["last" | "previous", of, ..] if singular_unit(of) => current(unit(of)?, 1, 2),
        ["past", of, ..] if singular_unit(of) => Some((Period::Past { unit: unit(of)?, n: 1 }, 2)),
        ["last" | "past" | "previous", ..] => {
            let (number, taken) = numbers::read(tokens.get(1..)?)?;
            let of = words.get(1 + taken)?;
            let n = number.count().and_then(|n| i16::try_from(n).ok())?;
            Some((Period::Past { unit: unit(of)?, n }, 2 + taken))
        }
        _ => None,
    }
}

/// The days of the week that a word names, 1 (Monday) to 7.
pub(crate) fn weekdays(word: &str) -> Option<Vec<i64>> {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let word = word.strip_suffix('s').unwrap_or(word);
    match word {
        "weekend" => Some(vec![6, 7]),
        "weekday" => Some((1..=5).collect()),
        _ => DAYS.iter().position(|d| *d == word).and_then(|at| i64::try_from(at + 1).ok()).map(|day| vec![day]),
    }
}

/// The calendar unit that a word names.
pub(crate) fn unit(word: &str) -> Option<DateUnit> {
    match word {
        "year" | "years" | "yearly" | "annual" | "annually" => Some(DateUnit::Year),
        "quarter" | "quarters" | "quarterly" => Some(DateUnit::Quarter),
        "month" | "months" | "monthly" => Some(DateUnit::Month),
        "week" | "weeks" | "weekly" => Some(DateUnit::Week),
        "day" | "days" | "daily" => Some(DateUnit::Day),
        "hour" | "hours" | "hourly" => Some(DateUnit::Hour),
        _ => None,
    }
}

fn singular_unit(word: &str) -> bool {
    matches!(word, "year" | "quarter" | "month" | "week" | "day")
}

fn year(word: &str) -> Option<i16> {
    let year = word.parse::<i16>().ok()?;
    (word.len() == 4 && (1800..=2199).contains(&year)).then_some(year)
}

fn month(word: &str) -> Option<i8> {
    let short = word.len() >= 3 || word == "sept";
    let position = MONTHS.iter().position(|m| *m == word || (short && word.len() <= 4 && m.starts_with(word)))?;
    i8::try_from(position + 1).ok()
}

fn quarter(word: &str) -> Option<i8> {
    let digit = word.strip_prefix('q')?.parse::<i8>().ok()?;
    (1..=4).contains(&digit).then_some(digit)
}

fn ordinal(word: &str) -> Option<i8> {
    match word {
        "first" | "1st" => Some(1),
        "second" | "2nd" => Some(2),
        "third" | "3rd" => Some(3),
        "fourth" | "4th" => Some(4),
        _ => None,
    }
}

fn day_number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    digits.parse::<i8>().ok().filter(|d| (1..=31).contains(d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::text::tokenise;
    use crate::offline::time::in_words;

    #[test]
    fn periods_are_read_and_resolved() {
        let today = Date::constant(2025, 5, 14);
        let range = |text: &str| read(&tokenise(text), true).and_then(|(w, _)| w.range(today)).map(in_words);
        for (text, expected) in [
            ("2024", "in 2024"),
            ("March 2024", "in March 2024"),
            ("Q3 2024", "in Q3 2024"),
            ("third quarter of 2024", "in Q3 2024"),
            ("last month", "in April 2025"),
            ("last quarter", "in Q1 2025"),
            ("last year", "in 2024"),
            ("this month", "in May 2025"),
            ("the past 6 months", "from 2024-11-15 to 2025-05-14"),
            ("past three days", "from 2025-05-12 to 2025-05-14"),
            ("year to date", "from 2025-01-01 to 2025-05-14"),
            ("since March 2024", "since 2024-03-01"),
            ("after 2000", "since 2001-01-01"),
            ("before 2024-02-01", "up to 2024-01-31"),
            ("between January and March 2024", "in Q1 2024"),
            ("between 2020 and 2022", "from 2020-01-01 to 2022-12-31"),
            ("from 2024-01-05 to 2024-01-09", "from 2024-01-05 to 2024-01-09"),
            ("March 5, 2024", "on 2024-03-05"),
            ("5 March 2024", "on 2024-03-05"),
            ("june", "in June 2024"),
            ("2024-03", "in March 2024"),
        ] {
            assert_eq!(range(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(read(&tokenise("2024 units"), false), None);
        assert_eq!(read(&tokenise("may I"), true), None);
    }

    #[test]
    fn days_of_the_week_are_numbered_from_monday() {
        assert_eq!(weekdays("monday"), Some(vec![1]));
        assert_eq!(weekdays("sundays"), Some(vec![7]));
        assert_eq!(weekdays("weekend"), Some(vec![6, 7]));
        assert_eq!(weekdays("someday"), None);
    }
}
