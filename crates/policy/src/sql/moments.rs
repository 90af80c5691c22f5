//! Moments and spans of time that a statement writes out, as far as the length of a series needs them.
//!
//! Everything is in microseconds and may be a little too wide: a length is told that no calendar exceeds.

use super::functions::argument;
use super::series::number;
use jiff::civil::Date;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArguments, Interval, ObjectNamePart, TypedString, Value,
    ValueWithSpan,
};

const SECOND: i128 = 1_000_000;
const DAY: i128 = 86_400 * SECOND;
/// Where the clock may stand, in days since 1970: from 2000 to 2050. Policy has none of its own, and beyond these years a
/// series that ends today is little longer.
const TODAY: (i128, i128) = (10_957 * DAY, 29_220 * DAY);

/// Units, and how long the shortest and the longest of a kind is.
const UNITS: [(&str, i128, i128); 13] = [
    ("microsecond", 1, 1),
    ("millisecond", 1_000, 1_000),
    ("second", SECOND, SECOND),
    ("minute", 60 * SECOND, 60 * SECOND),
    ("hour", 3_600 * SECOND, 3_600 * SECOND),
    ("day", DAY, DAY),
    ("week", 7 * DAY, 7 * DAY),
    ("month", 28 * DAY, 31 * DAY),
    ("quarter", 90 * DAY, 92 * DAY),
    ("year", 365 * DAY, 366 * DAY),
    ("decade", 3_652 * DAY, 3_653 * DAY),
    ("century", 36_524 * DAY, 36_525 * DAY),
    ("millennium", 365_242 * DAY, 365_243 * DAY),
];

/// A span that is not zero, and goes one way: between these two lengths, in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    shortest: i128,
    longest: i128,
    back: bool,
}

/// A moment somewhere between two others, counted from 1970, or from when the statement runs.
#[derive(Debug, Clone, Copy)]
struct Moment {
    from_now: bool,
    earliest: i128,
    latest: i128,
}

/// How many moments a series has at most; none where that cannot be seen.
pub fn steps(start: &Expr, end: &Expr, step: Span) -> Option<u64> {
    let (mut start, mut end) = (moment(start)?, moment(end)?);
    if start.from_now != end.from_now {
        (start, end) = (start.dated(), end.dated());
    }
    let widest = (end.latest - start.earliest).max(start.latest - end.earliest);
    u64::try_from(widest / step.shortest).ok()?.checked_add(1)
}

/// The span that an expression writes out: `INTERVAL 1 DAY`, `INTERVAL '1 day'`, `'1 day'::interval`.
pub fn span(expr: &Expr) -> Option<Span> {
    match expr {
        Expr::Interval(Interval { value, leading_field: Some(field), last_field: None, .. }) => {
            let count = number(value).or_else(|| text(value)?.trim().parse().ok())?;
            Span::of(count, &field.to_string())
        }
        Expr::Interval(Interval { value, leading_field: None, last_field: None, .. }) => spelled(text(value)?),
        Expr::Cast { expr, data_type: DataType::Interval { .. }, .. } => spelled(text(expr)?),
        Expr::TypedString(TypedString { data_type: DataType::Interval { .. }, value, .. }) => {
            spelled(literal(&value.value)?)
        }
        Expr::Nested(inner) => span(inner),
        _ => None,
    }
}

impl Span {
    fn of(count: i64, unit: &str) -> Option<Self> {
        let unit = unit.to_ascii_lowercase();
        let is_named = |name: &str| unit == name || unit.strip_suffix('s') == Some(name);
        let plural =
            |name: &str| matches!((name, unit.as_str()), ("century", "centuries") | ("millennium", "millennia"));
        let (_, shortest, longest) = UNITS.into_iter().find(|(name, _, _)| is_named(name) || plural(name))?;
        let times = i128::from(count.unsigned_abs());
        (count != 0).then_some(Self { shortest: times * shortest, longest: times * longest, back: count < 0 })
    }
}

/// `1 day`, `2 hours 30 minutes`. Parts that go against each other may come to nothing, and never end.
pub fn spelled(text: &str) -> Option<Span> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let parts = words.chunks(2).map(|part| match part {
        [count, unit] => Span::of(count.parse().ok()?, unit),
        _ => None,
    });
    parts.reduce(|sum, part| {
        let (sum, part) = (sum?, part?);
        let Span { shortest, longest, back } = part;
        (sum.back == back).then_some(Span { shortest: sum.shortest + shortest, longest: sum.longest + longest, back })
    })?
}

impl Moment {
    const NOW: Self = Self { from_now: true, earliest: 0, latest: 0 };

    fn dated(self) -> Self {
        if !self.from_now {
            return self;
        }
        Self { from_now: false, earliest: self.earliest + TODAY.0, latest: self.latest + TODAY.1 }
    }

    /// Up to this much earlier or later than it was.
    fn loose(self, before: i128, after: i128) -> Self {
        Self { earliest: self.earliest.saturating_sub(before), latest: self.latest.saturating_add(after), ..self }
    }

    fn shifted(self, span: Span, back: bool) -> Self {
        let (near, far) = (span.shortest, span.longest);
        let (low, high) = if span.back == back { (near, far) } else { (-far, -near) };
        self.loose(-low, high)
    }
}

fn moment(expr: &Expr) -> Option<Moment> {
    match expr {
        Expr::Nested(inner) => moment(inner),
        Expr::TypedString(TypedString { data_type, value, .. }) if is_time(data_type) => date(literal(&value.value)?),
        // A date of a timestamp is the day that it is in, wherever that is.
        Expr::Cast { expr, data_type, .. } if is_time(data_type) => {
            moment(expr).map(|moment| moment.loose(2 * DAY, 2 * DAY))
        }
        Expr::AtTimeZone { timestamp, .. } => moment(timestamp).map(|moment| moment.loose(DAY, DAY)),
        Expr::Value(ValueWithSpan { value, span: _ }) => date(literal(value)?),
        Expr::BinaryOp { left, op, right } => {
            let back = match op {
                BinaryOperator::Plus => false,
                BinaryOperator::Minus => true,
                _ => return None,
            };
            match number(right) {
                // Days, of a date.
                Some(0) => moment(left),
                Some(days) => Some(moment(left)?.shifted(Span::of(days, "day")?, back)),
                None => Some(moment(left)?.shifted(span(right)?, back)),
            }
        }
        Expr::Function(function) => called(function),
        _ => None,
    }
}

fn called(function: &Function) -> Option<Moment> {
    let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
    let args: Vec<&Expr> = match &function.args {
        FunctionArguments::None => Vec::new(),
        FunctionArguments::List(list) => list.args.iter().map(argument).collect::<Option<_>>()?,
        FunctionArguments::Subquery(_) => return None,
    };
    match (name.value.to_ascii_lowercase().as_str(), args.as_slice()) {
        ("current_date" | "current_timestamp" | "localtimestamp" | "now" | "today", []) => {
            Some(Moment::NOW.loose(DAY, DAY))
        }
        ("date_trunc", [unit, of]) => Some(moment(of)?.loose(Span::of(1, text(unit)?)?.longest, DAY)),
        ("make_date", [year, month, day]) => civil(number(year)?, number(month)?, number(day)?),
        _ => None,
    }
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date | DataType::Timestamp(..) | DataType::Datetime(_) | DataType::TimestampNtz(_))
}

fn text(expr: &Expr) -> Option<&str> {
    let Expr::Value(ValueWithSpan { value, span: _ }) = expr else { return None };
    literal(value)
}

fn literal(value: &Value) -> Option<&str> {
    if let Value::SingleQuotedString(text) = value { Some(text) } else { None }
}

/// `2024-05-01`, and whatever time of that day. A year has four digits: Postgres reads `10-11-12` by a setting of its own.
fn date(text: &str) -> Option<Moment> {
    let text = text.trim();
    let (day, time) = text.split_at(text.find([' ', 'T', 't']).unwrap_or(text.len()));
    let is_time = time.chars().all(|c| c.is_ascii_digit() || " :.+-TtZz".contains(c));
    let has_year = day.split('-').next().is_some_and(|year| year.len() == 4);
    let mut parts = day.split('-').map(|part| part.parse::<i64>().ok());
    let (Some(year), Some(month), Some(day), None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
        return None;
    };
    let found = civil(year, month, day).filter(|_| has_year && is_time)?;
    Some(if time.is_empty() { found } else { found.loose(DAY, 2 * DAY) })
}

fn civil(year: i64, month: i64, day: i64) -> Option<Moment> {
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let days = Date::new(1970, 1, 1).ok()?.until(date).ok()?.get_days();
    let at = i128::from(days) * DAY;
    (1..=9999).contains(&year).then_some(Moment { from_now: false, earliest: at, latest: at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_go_one_way_and_somewhere() {
        for (text, shortest) in [
            ("1 day", DAY),
            ("-1 day", DAY),
            ("2 Weeks", 14 * DAY),
            ("1 month", 28 * DAY),
            ("1 hour 30 minutes", 5_400 * SECOND),
            ("-1 month -1 day", 29 * DAY),
            ("3 centuries", 3 * 36_524 * DAY),
            ("1 microsecond", 1),
        ] {
            assert_eq!(spelled(text).map(|span| span.shortest), Some(shortest), "{text}");
        }
        for text in
            ["", "0 days", "1 month -30 days", "1", "day", "1 fortnight", "1 day 1", "1.5 days", "1 day 0 hours"]
        {
            assert_eq!(spelled(text), None, "{text}");
        }
    }
}
