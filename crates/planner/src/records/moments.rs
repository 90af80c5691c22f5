//! Moments in instructions: the days of a condition, and the day that a field is set to.

use super::surface::{Field, Resource};
use super::words::{Shape, Word, tokens};
use crate::offline::time::{Period, Range, When};
use crate::offline::time_words;
use domain::FieldType;
use domain::change::FilterOperator as Op;
use domain::plan::DateUnit;
use jiff::civil::Date;
use serde_json::{Value, json};

/// Days, or a moment to the second with how it bounds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Time {
    Days(Range),
    Bound(Op, String),
}

/// The time that these words begin with, and how many words it takes.
pub(crate) fn read(words: &[Word], today: Date) -> Option<(Time, usize)> {
    if let [bound, at, ..] = words
        && let Some(op) = bounding(&bound.lower)
        && at.shape == Shape::Moment
        && at.text.len() > 10
    {
        return Some((Time::Bound(op, at.text.clone()), 2));
    }
    let (when, taken) = said(words)?;
    Some((Time::Days(when.range(today)?), taken))
}

fn bounding(lower: &str) -> Option<Op> {
    match lower {
        "since" | "from" => Some(Op::GreaterOrEqual),
        "after" => Some(Op::Greater),
        "before" => Some(Op::Less),
        "until" | "till" => Some(Op::LessOrEqual),
        _ => None,
    }
}

fn said(words: &[Word]) -> Option<(When, usize)> {
    let lower = |at: usize| words.get(at).map(|w| w.lower.as_str()).unwrap_or_default();
    // A unit behind "next", and the day after this one: of no use in questions about what was.
    match (lower(0), lower(1)) {
        ("tomorrow", _) => return Some((ahead(DateUnit::Day), 1)),
        ("next", unit) if !unit.ends_with('s') && time_words::unit(unit).is_some() => {
            return time_words::unit(unit).map(|unit| (ahead(unit), 2));
        }
        _ => {}
    }
    let tokens = tokens(words);
    if let Some(found) = time_words::read(&tokens, false) {
        return Some(found);
    }
    let led = matches!(lower(0), "in" | "on" | "during" | "within" | "over" | "for" | "by" | "as");
    let skip = if led && lower(1) == "of" { 2 } else { usize::from(led) };
    let rest = words.get(skip..).filter(|_| led)?;
    if matches!(rest.first().map(|w| w.lower.as_str()), Some("tomorrow" | "next")) {
        return said(rest).map(|(when, n)| (when, n + skip));
    }
    time_words::read(tokens.get(skip..)?, true).map(|(when, n)| (when, n + skip))
}

fn ahead(unit: DateUnit) -> When {
    When::In(Period::Current { unit, back: -1 })
}

/// The one day that these words begin with.
pub(crate) fn day(words: &[Word], today: Date) -> Option<(Date, usize)> {
    let (Time::Days(Range { from: Some(from), to: Some(to) }), taken) = read(words, today)? else { return None };
    (from.tomorrow().ok()? == to).then_some((from, taken))
}

/// The conditions of a time on a field, in operators that the contract allows where it can be said in them.
pub(crate) fn conditions(resource: &Resource, field: &Field, time: &Time) -> Vec<(Op, Value)> {
    let allows = |op: Op| resource.allows(&field.name, op);
    let Range { from, to } = match time {
        Time::Bound(op, text) => return vec![(*op, json!(text))],
        Time::Days(range) => *range,
    };
    let last = to.and_then(|to| to.yesterday().ok()).map(|last| match field.kind {
        FieldType::Date => json!(last.to_string()),
        _ => json!(format!("{last}T23:59:59.999999Z")),
    });
    let first = from.map(|from| json!(from.to_string()));
    if let (Some(from), Some(last)) = (&first, &last)
        && allows(Op::Between)
        && !(allows(Op::GreaterOrEqual) && (allows(Op::Less) || allows(Op::LessOrEqual)))
    {
        return vec![(Op::Between, json!([from, last]))];
    }
    let mut found: Vec<(Op, Value)> = first.map(|from| (Op::GreaterOrEqual, from)).into_iter().collect();
    match (to, last) {
        (Some(_), Some(last)) if !allows(Op::Less) && allows(Op::LessOrEqual) => found.push((Op::LessOrEqual, last)),
        (Some(to), _) => found.push((Op::Less, json!(to.to_string()))),
        _ => {}
    }
    found
}
