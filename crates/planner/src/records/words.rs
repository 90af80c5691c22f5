//! An instruction in words: names, literals, marks, each with its place in the text.

use crate::offline::text::{Shape as OfflineShape, Token, stem};
use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// As it was written, without quotes and possessive endings.
    pub text: String,
    pub lower: String,
    pub root: String,
    pub shape: Shape,
    /// Its bytes in the instruction, quotes included.
    pub at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Shape {
    Word,
    /// Starts with a digit or a currency sign.
    Number,
    /// `2024-03-01`, with or without a time of day.
    Moment,
    /// Names one thing by its look: `case_987`, `C-2024-0042`, a UUID.
    Id,
    Email,
    Quoted,
    Mark,
}

/// Nobody gives one instruction in so many words.
const MOST_WORDS: usize = 200;

pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if found.len() >= MOST_WORDS {
            break;
        }
        let next = at + c.len_utf8();
        at = if let Some(end) = quoted_end(text, at, c) {
            let inner = text.get(next..end).unwrap_or_default();
            let close = text.get(end..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            found.push(word(inner.trim(), Shape::Quoted, at..end + close));
            end + close
        } else if c.is_alphanumeric() || "$€£".contains(c) || is_minus(text, at) {
            chunk(text, at, &mut found)
        } else {
            if let Some(mark) = mark(text, at, c) {
                found.push(word(mark, Shape::Mark, at..at + mark.len()));
                at + mark.len()
            } else {
                next
            }
        };
    }
    found
}

fn word(text: &str, shape: Shape, at: Range<usize>) -> Word {
    let lower = text.to_lowercase();
    let root = if shape == Shape::Word { root(&lower) } else { lower.clone() };
    Word { text: text.to_owned(), lower, root, shape, at }
}

/// The root that forms of one word share.
pub(crate) fn root(lower: &str) -> String {
    // "analyses" are several of an analysis.
    if let Some(bare) = lower.strip_suffix("yses") {
        return stem(&format!("{bare}ysis"));
    }
    // The creation of a thing is when it was created.
    match lower.strip_suffix("ation").filter(|bare| bare.len() > 1) {
        Some(bare) => stem(&format!("{bare}ate")),
        None => stem(lower),
    }
}

/// Marks that say something: what is assigned or compared, and where a part ends.
fn mark(text: &str, at: usize, c: char) -> Option<&'static str> {
    let rest = text.get(at..).unwrap_or_default();
    const SIGNS: [&str; 12] = ["!=", "<>", ">=", "<=", "==", "=", ">", "<", ",", ";", ":", "*"];
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Some(sign);
    }
    // A full stop at the very end says nothing.
    let ends = "\n.".contains(c) && rest.chars().any(char::is_alphanumeric);
    if ends { Some(if c == '.' { "." } else { "\n" }) } else { rest.starts_with("--").then_some("--") }
}

fn is_minus(text: &str, at: usize) -> bool {
    let opens =
        text.get(..at).and_then(|before| before.chars().next_back()).is_none_or(|c| c.is_whitespace() || c == '=');
    let rest = text.get(at..).unwrap_or_default();
    opens && rest.strip_prefix('-').is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()))
}

/// Where the quotation that opens here closes. An apostrophe is not a quotation.
fn quoted_end(text: &str, at: usize, open: char) -> Option<usize> {
    let close = match open {
        '"' | '\'' | '`' => open,
        '“' | '„' => '”',
        '‘' => '’',
        _ => return None,
    };
    let opens = text.get(..at)?.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    let inner = at + open.len_utf8();
    let closes = |(offset, c): (usize, char)| {
        let after = text.get(inner + offset + c.len_utf8()..).and_then(|rest| rest.chars().next());
        (c == close && after.is_none_or(|n| !n.is_alphanumeric())).then_some(inner + offset)
    };
    if opens { text.get(inner..)?.char_indices().find_map(closes) } else { None }
}

/// A run without spaces: one literal, or the words of a compound.
fn chunk(text: &str, start: usize, found: &mut Vec<Word>) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let mut end = 0;
    for (offset, c) in rest.char_indices() {
        let follows =
            rest.get(offset + c.len_utf8()..).and_then(|r| r.chars().next()).is_some_and(char::is_alphanumeric);
        let digits = rest.get(..offset).is_some_and(|b| b.ends_with(|c: char| c.is_ascii_digit()))
            && rest.get(offset + 1..).is_some_and(|a| a.starts_with(|c: char| c.is_ascii_digit()));
        let inside = match c {
            '_' | '%' => true,
            '-' | '@' | '.' | '\'' | '’' | '/' | '+' => follows,
            ',' | ':' => digits,
            '$' | '€' | '£' => offset == 0,
            c => c.is_alphanumeric(),
        };
        // `ends`: the minus of a negative number opens it.
        if !(inside || offset == 0 && c == '-') {
            break;
        }
        end = offset + c.len_utf8();
    }
    let whole = rest.get(..end).unwrap_or_default();
    let bare = ["'s", "’s", "'S"].iter().find_map(|s| whole.strip_suffix(s)).unwrap_or(whole);
    match shape(bare) {
        Shape::Word => compound(bare, start, found),
        shape => found.push(word(bare, shape, start..start + bare.len())),
    }
    start + end.max(1)
}

/// "follow-up" is two words, `case_no` is one.
fn compound(text: &str, start: usize, found: &mut Vec<Word>) {
    let mut at = 0;
    for part in text.split(['-', '/', '.', '+', '@']) {
        if !part.is_empty() {
            found.push(word(part.trim_end_matches('%'), Shape::Word, start + at..start + at + part.len()));
        }
        at += part.len() + 1;
    }
}

fn shape(text: &str) -> Shape {
    let has = |test: fn(char) -> bool| text.chars().any(test);
    let (digit, letter) = (has(|c| c.is_ascii_digit()), has(char::is_alphabetic));
    if is_uuid(text) {
        return Shape::Id;
    }
    if text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')) {
        return Shape::Email;
    }
    if is_moment(text) {
        return Shape::Moment;
    }
    if !digit {
        return Shape::Word;
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || "$€£-".contains(c)) && !(letter && text.contains(['_', '-']))
    {
        return Shape::Number;
    }
    // `q3` is a quarter.
    if text.len() > 2 && letter { Shape::Id } else { Shape::Word }
}

pub(crate) fn is_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// A day, or a day and a time, as ISO 8601 writes them.
pub(crate) fn is_moment(text: &str) -> bool {
    let day = text.get(..10).filter(|day| day.len() == 10).and_then(|day| day.parse::<jiff::civil::Date>().ok());
    let rest = text.get(10..).unwrap_or_default();
    let timed = || text.parse::<jiff::Timestamp>().is_ok() || text.parse::<jiff::civil::DateTime>().is_ok();
    day.is_some() && (rest.is_empty() || (rest.starts_with(['T', 't']) && timed()))
}

/// The same words as the offline planner's readers of numbers and periods take them.
pub(crate) fn tokens(words: &[Word]) -> Vec<Token> {
    let shape = |word: &Word| match word.shape {
        Shape::Word | Shape::Id | Shape::Email => OfflineShape::Word,
        Shape::Number | Shape::Moment => OfflineShape::Number,
        Shape::Quoted => OfflineShape::Quoted,
        Shape::Mark => OfflineShape::Mark,
    };
    let token =
        |w: &Word| Token { text: w.text.clone(), lower: w.lower.clone(), stem: w.root.clone(), shape: shape(w) };
    words.iter().map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_become_words() {
        let read =
            |text: &str| words(text).into_iter().map(|w| format!("{:?} {}", w.shape, w.text)).collect::<Vec<_>>();
        assert_eq!(
            read("Set case_19's claim to 12,500.50, please."),
            ["Word Set", "Id case_19", "Word claim", "Word to", "Number 12,500.50", "Mark ,", "Word please"]
        );
        assert_eq!(
            read("case_id=case_4; follow-up 2025-08-19T09:00:00Z by a.b@example.com"),
            [
                "Word case_id",
                "Mark =",
                "Id case_4",
                "Mark ;",
                "Word follow",
                "Word up",
                "Moment 2025-08-19T09:00:00Z",
                "Word by",
                "Email a.b@example.com"
            ]
        );
        assert_eq!(
            read("in Q2 “it's” 10k C-2024-0042"),
            ["Word in", "Word Q2", "Quoted it's", "Number 10k", "Id C-2024-0042"]
        );
        assert_eq!(
            read("x'; DELETE -- y. Z"),
            ["Word x", "Mark ;", "Word DELETE", "Mark --", "Word y", "Mark .", "Word Z"]
        );
        assert_eq!(read("'); DROP"), ["Mark ;", "Word DROP"]);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "close “a b” case_1 — 5 ÄÖ";
        for word in words(text) {
            let there = text.get(word.at.clone()).unwrap();
            assert!(there.contains(&word.text), "{there} {}", word.text);
        }
    }
}
