//! An instruction without its literals: what instructions that differ in those alone have in common.

use crate::records::Index;
use crate::records::spans::annotate;
use crate::records::words::{Shape, Word, is_uuid, words};

/// How much is lifted out, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Level {
    /// All literals.
    All,
    /// All but numbers, which may count days or pages.
    NotNumbers,
    /// None: the very same instruction.
    None,
}

impl Level {
    pub const ALL: [Self; 3] = [Self::All, Self::NotNumbers, Self::None];
}

/// The words of an instruction, with a mark where each literal stood, and the literals.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lifted {
    pub key: String,
    pub literals: Vec<Literal>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    pub class: Class,
    pub text: String,
    /// The words of the instruction that it is, by number.
    pub at: Vec<usize>,
}

/// What planning may depend on in a literal, other than the literal itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Class {
    /// 1 to 31, to 10,000, and beyond: a day, a count, an amount.
    Integer(u32),
    Decimal,
    /// With the letters before its first separator, which say whose it is.
    Id(String),
    Uuid,
    Email,
    Day,
    Moment,
    Text,
}

pub(super) fn lift(index: &Index, text: &str, level: Level) -> Lifted {
    let mut literals: Vec<Literal> = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    let mut number = 0;
    for (at, span) in annotate(index, &words(text), &|_| true).iter().enumerate() {
        let class = span.only().filter(|_| span.senses.is_empty()).and_then(|word| class(word, level));
        match (span.only(), class) {
            (Some(word), Some(class)) => {
                let known = literals.iter().position(|l| l.class == class && l.text == word.text);
                let place = known.unwrap_or_else(|| {
                    literals.push(Literal { class: class.clone(), text: word.text.clone(), at: Vec::new() });
                    literals.len() - 1
                });
                if let Some(literal) = literals.get_mut(place) {
                    literal.at.push(number);
                }
                // The same literal twice is the same mark twice.
                parts.push(format!("\u{1}{class:?}{place}"));
            }
            _ if !span.senses.is_empty() || at == 0 => parts.push(span.lower()),
            // Capitals may make a word a name.
            _ => parts.push(span.words.iter().map(verbatim).collect::<Vec<_>>().join(" ")),
        }
        number += span.words.len();
    }
    Lifted { key: parts.join("\u{2}"), literals }
}

fn verbatim(word: &Word) -> String {
    format!("{:?}\u{3}{}", word.shape, word.text)
}

fn class(word: &Word, level: Level) -> Option<Class> {
    if level == Level::None {
        return None;
    }
    let text = word.text.as_str();
    match word.shape {
        Shape::Number if level == Level::All => number(text),
        Shape::Id if is_uuid(text) => Some(Class::Uuid),
        Shape::Id => {
            let prefix = text.split(['_', '-']).next().unwrap_or_default();
            Some(Class::Id(if prefix.chars().all(char::is_alphabetic) { prefix.to_owned() } else { String::new() }))
        }
        Shape::Email => Some(Class::Email),
        Shape::Moment => Some(if text.len() == 10 { Class::Day } else { Class::Moment }),
        Shape::Quoted if !text.is_empty() => Some(Class::Text),
        _ => None,
    }
}

/// Plain numbers that are no year.
fn number(text: &str) -> Option<Class> {
    if let Ok(whole) = text.parse::<u32>() {
        let plain = whole > 0 && !text.starts_with(['0', '+']) && !(text.len() == 4 && (1800..=2199).contains(&whole));
        let bound = [31, 10_000, u32::MAX].into_iter().find(|bound| whole <= *bound)?;
        return plain.then_some(Class::Integer(bound));
    }
    let decimal = text.chars().all(|c| c.is_ascii_digit() || c == '.') && text.matches('.').count() == 1;
    let real = text.parse::<f64>().ok().filter(|r| decimal && r.fract() != 0.0)?;
    // Written as it will be written again.
    (format!("{real}") == text).then_some(Class::Decimal)
}

/// The instruction with other literals of the same classes, all different from one another.
pub(super) fn probe(text: &str, literals: &[Literal]) -> (String, Vec<String>) {
    let others: Vec<String> = literals.iter().enumerate().map(|(at, literal)| other(literal, at)).collect();
    let mut probed = text.to_owned();
    let all = words(text);
    let mut places: Vec<(usize, usize)> =
        literals.iter().enumerate().flat_map(|(n, l)| l.at.iter().map(move |at| (*at, n))).collect();
    // From the end, so that places before stay what they are.
    places.sort_unstable_by(|a, b| b.cmp(a));
    for (at, n) in places {
        let (Some(word), Some(other)) = (all.get(at), others.get(n)) else { continue };
        let quote = if word.shape == Shape::Quoted { "\"" } else { "" };
        if probed.get(word.at.clone()).is_some() {
            // A possessive ending stays where it was: it is not in the word's place.
            probed.replace_range(word.at.clone(), &format!("{quote}{other}{quote}"));
        }
    }
    (probed, others)
}

fn other(literal: &Literal, at: usize) -> String {
    match &literal.class {
        Class::Integer(31) => {
            (1..=31).rev().map(|n| n.to_string()).filter(|n| *n != literal.text).nth(at % 29).unwrap_or_default()
        }
        Class::Integer(10_000) => format!("{}", 9_001 + at * 7),
        Class::Integer(_) => format!("{}", 90_000_001 + at * 7),
        Class::Decimal => format!("{}.25", 7_001 + at),
        Class::Id(prefix) => {
            let separator = literal.text.chars().find(|c| ['_', '-'].contains(c)).map(String::from).unwrap_or_default();
            format!("{prefix}{separator}90{at}7z{at}1")
        }
        Class::Uuid => format!("0f0e0d0c-0b0a-4908-8706-0504030{:05}", at % 100_000),
        Class::Email => format!("probe{at}@example.org"),
        Class::Day => format!("2031-{:02}-{:02}", 1 + at % 12, 2 + at % 20),
        Class::Moment => format!("2031-{:02}-{:02}T04:05:06Z", 1 + at % 12, 2 + at % 20),
        Class::Text => format!("probe text {at}"),
    }
}
