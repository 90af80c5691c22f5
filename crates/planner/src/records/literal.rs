//! From what was written to a value of a field's type. Nothing is bent: what does not fit is said not to.

use super::moments;
use super::spans::Span;
use super::surface::Field;
use super::words::{Shape, Word, is_uuid, tokens};
use crate::offline::numbers;
use domain::FieldType;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// The day and the second at which an instruction is given.
#[derive(Debug, Clone, Copy)]
pub struct Now(pub Timestamp);

impl Now {
    pub(crate) fn today(self) -> Date {
        self.0.to_zoned(TimeZone::UTC).date()
    }
}

/// What stands where a value is expected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Taken {
    /// The value, and how many spans it takes.
    Value(Value, usize),
    /// Something that is no value of this field.
    Unfit(String),
    Nothing,
}

/// The place of a field: its resource's and its own.
pub(crate) type Place = (usize, usize);

/// The value of a field that these spans begin with.
pub(crate) fn take(field: &Field, place: Place, spans: &[Span], now: Now) -> Taken {
    let Some(first) = spans.first() else { return Taken::Nothing };
    if let Some((_, value)) = first.values_of(place.0).find(|(at, _)| *at == place.1) {
        return Taken::Value(value.clone(), 1);
    }
    let lower = first.lower();
    if field.nullable && ["null", "none", "nothing", "nobody", "empty"].contains(&lower.as_str()) {
        return Taken::Value(Value::Null, 1);
    }
    if !field.values.is_empty() {
        return if first.shape() == Some(Shape::Mark) { Taken::Nothing } else { Taken::Unfit(first.text()) };
    }
    let words: Vec<Word> = spans.iter().take(8).flat_map(|s| s.words.clone()).collect();
    match field.kind {
        FieldType::Boolean => match lower.as_str() {
            "true" | "yes" => Taken::Value(json!(true), 1),
            "false" | "no" => Taken::Value(json!(false), 1),
            _ => unfit(first),
        },
        FieldType::Number | FieldType::Decimal | FieldType::Integer => number(field, first, &words),
        FieldType::Date | FieldType::Timestamp => moment(field, first, &words, spans, now),
        FieldType::Uuid => match first.literal() {
            Some(id) if is_uuid(&id.text) => Taken::Value(json!(id.text.to_lowercase()), 1),
            _ => unfit(first),
        },
        FieldType::String | FieldType::Text => text(first, spans),
        _ => unfit(first),
    }
}

fn unfit(span: &Span) -> Taken {
    if span.literal().is_some() { Taken::Unfit(span.text()) } else { Taken::Nothing }
}

fn number(field: &Field, first: &Span, words: &[Word]) -> Taken {
    if first.shape() != Some(Shape::Number) && first.shape() != Some(Shape::Word) {
        return unfit(first);
    }
    match numbers::read(&tokens(words)) {
        // A share in percent may be kept as 0.5 or as 50: nobody knows here.
        Some((number, _)) if number.percent => Taken::Unfit(first.text()),
        Some((number, taken)) => match number.to_value() {
            domain::Value::Int(whole) => Taken::Value(json!(whole), taken),
            domain::Value::Float(real) if field.kind != FieldType::Integer => Taken::Value(json!(real), taken),
            _ => Taken::Unfit(first.text()),
        },
        None => unfit(first),
    }
}

fn moment(field: &Field, first: &Span, words: &[Word], spans: &[Span], now: Now) -> Taken {
    let timed = field.kind == FieldType::Timestamp;
    match first.literal() {
        Some(at) if at.shape == Shape::Moment && at.text.len() > 10 => {
            return if timed { Taken::Value(json!(at.text), 1) } else { Taken::Unfit(first.text()) };
        }
        _ if first.lower() == "now" && timed => {
            let second = now.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            return Taken::Value(json!(second), 1);
        }
        _ => {}
    }
    match moments::day(words, now.today()) {
        Some((day, taken)) => Taken::Value(json!(day.to_string()), spans_of(spans, taken)),
        None => unfit(first),
    }
}

/// How many spans so many words are.
pub(crate) fn spans_of(spans: &[Span], words: usize) -> usize {
    let mut covered = 0;
    let uncovered = |span: &&Span| {
        let open = covered < words;
        covered += span.words.len();
        open
    };
    spans.iter().take_while(uncovered).count()
}

/// Quoted text, something that looks like an id, or a name written as one.
fn text(first: &Span, spans: &[Span]) -> Taken {
    if let Some(literal) = first.literal() {
        return Taken::Value(json!(literal.text), 1);
    }
    let name = |s: &&Span| s.senses.is_empty() && s.only().is_some_and(is_name);
    let named: Vec<String> = spans.iter().take_while(name).map(Span::text).collect();
    if named.is_empty() { Taken::Nothing } else { Taken::Value(json!(named.join(" ")), named.len()) }
}

/// Written as a name: capitalised, and not for being shouted.
fn is_name(word: &Word) -> bool {
    let mut letters = word.text.chars();
    word.shape == Shape::Word && letters.next().is_some_and(char::is_uppercase)
}
