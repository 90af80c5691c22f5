//! What an instruction commands: the verbs said as commands, wherever they stand.

use super::english::{Verb, is_courtesy, verb};
use super::lexicon::Sense;
use super::spans::Span;
use super::words::{Shape, Word, root};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Command {
    pub verb: Verb,
    /// The span that it stands in.
    pub at: usize,
    /// It is the first word, courtesy aside.
    pub leads: bool,
}

/// All commands, in order. None at all is a noun phrase: something to be read.
pub(crate) fn commands(spans: &[Span]) -> Vec<Command> {
    let mut found = Vec::new();
    let lead = leading(spans);
    for (at, span) in spans.iter().enumerate() {
        let leads = lead == Some(at);
        if let Some(verb) = command_at(spans, at, span, leads) {
            found.push(Command { verb, at, leads });
        }
    }
    found
}

/// The first span that is more than courtesy.
fn leading(spans: &[Span]) -> Option<usize> {
    spans.iter().position(|s| {
        !s.only().is_some_and(|w| w.shape == Shape::Word && is_courtesy(&w.lower) || w.shape == Shape::Mark)
    })
}

fn command_at(spans: &[Span], at: usize, span: &Span, leads: bool) -> Option<Verb> {
    let first = span.words.first().filter(|w| w.shape == Shape::Word)?;
    if leads {
        return leading_verb(spans, at, span, first);
    }
    let before = at.checked_sub(1).and_then(|b| spans.get(b)).map(Span::lower).unwrap_or_default();
    // "and file name" goes on; "please update" begins.
    let begins = ["then", ";", ".", "please", "\n"].contains(&before.as_str()) && span.words.len() == 1;
    let known = verb(&first.lower).filter(|_| begins || span.senses.is_empty());
    // To take away is never meant in passing.
    if known == Some(Verb::Delete) {
        return known;
    }
    if begins || ["and", ",", "also"].contains(&before.as_str()) {
        return known.filter(|v| *v != Verb::Read).or_else(|| by_value(span));
    }
    passive(spans, at, first)
}

fn leading_verb(spans: &[Span], at: usize, span: &Span, first: &Word) -> Option<Verb> {
    let next = spans.get(at + 1).map(Span::lower).unwrap_or_default();
    match first.lower.as_str() {
        "give" => Some(if ["me", "us", "them"].contains(&next.as_str()) { Verb::Read } else { Verb::Update }),
        // "open matters" are matters; "open a new matter" makes one.
        "open" if !["a", "an", "another", "new", "one"].contains(&next.as_str()) => None,
        // A phrase of the contracts that only begins like a command: "file name".
        _ if span.words.len() > 1 => None,
        lower => verb(lower).or_else(|| by_value(span)),
    }
}

/// "close" makes something `CLOSED`, "complete" something `COMPLETED`.
fn by_value(span: &Span) -> Option<Verb> {
    let word = span.only()?;
    let done = |s: &Sense| match s {
        Sense::Value { value, .. } => value.as_str().is_some_and(|v| {
            let value = v.to_lowercase();
            value.ends_with("ed")
                && !word.lower.ends_with("ed")
                && !word.lower.ends_with('s')
                && root(&value) == word.root
        }),
        _ => false,
    };
    span.senses.iter().any(done).then_some(Verb::Update)
}

/// "should be marked", "needs to be set".
fn passive(spans: &[Span], at: usize, first: &Word) -> Option<Verb> {
    let before = |back: usize| at.checked_sub(back).and_then(|b| spans.get(b)).map(Span::lower).unwrap_or_default();
    let asked = before(1) == "be" && ["should", "must", "to", "can", "shall"].contains(&before(2).as_str());
    let stripped = ["ed", "d"].iter().filter_map(|ending| first.lower.strip_suffix(ending));
    let plain = std::iter::once(first.lower.as_str()).chain(stripped);
    plain.filter(|_| asked).find_map(verb).filter(|v| *v != Verb::Read)
}
