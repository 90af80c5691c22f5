//! Personal values as a model sees them: a placeholder for each cell, put back in the answer of a caller who may read
//! them. Placeholders say nothing of their values, not even that two of them are equal.

use crate::links::Links;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

const OPEN: char = '⟦';
const CLOSE: char = '⟧';
/// What stands for a value that is no field's.
const NO_FIELD: &str = "value";
/// Longer names of fields are cut.
const LABEL_CHARS: usize = 40;

/// The placeholders of one run.
#[derive(Debug, Default)]
pub struct Placeholders {
    /// The values of each label, in the order of their numbers.
    values: HashMap<String, Vec<String>>,
}

/// A value that somebody was shown in the place of a placeholder, and the placeholder's label.
pub type Shown = (String, String);

impl Placeholders {
    /// The label of a field's values.
    pub fn label(field: Option<&str>) -> String {
        let plain = field.unwrap_or_default().chars().filter(|c| c.is_alphanumeric() || *c == '_').take(LABEL_CHARS);
        let label: String = plain.collect();
        if label.is_empty() { NO_FIELD.to_owned() } else { label }
    }

    /// What stands for one more value under this label: `⟦email 1⟧`. An equal value has another one.
    pub fn mask(&mut self, label: &str, value: &str) -> String {
        let values = self.values.entry(label.to_owned()).or_default();
        values.push(value.to_owned());
        format!("{OPEN}{label} {}{CLOSE}", values.len())
    }

    /// The text with the values in it, except in links.
    pub fn restore(&self, text: &str) -> String {
        let mut restorer = Restorer::default();
        let begun = restorer.push(self, text);
        begun + &restorer.finish(self)
    }

    /// The values that a text has placeholders of.
    pub fn named_in(&self, text: &str) -> Vec<Shown> {
        let named = parts(text).into_iter().filter_map(|part| match part {
            Part::Placeholder(whole) => self.find(whole),
            Part::Text(_) => None,
        });
        named.map(|(label, value)| (label.to_owned(), value.to_owned())).collect()
    }

    /// A text with a placeholder for each of these values that stands in it as words of its own. The longest go first, so
    /// that none is left in parts.
    pub fn hide(&mut self, text: &str, shown: &[Shown]) -> String {
        let words: HashSet<&str> = words(text).collect();
        // Most values of earlier answers are not in this text: their first word tells.
        let may_be_there = |value: &str| self::words(value).next().is_none_or(|first| words.contains(first));
        let mut shown: Vec<&Shown> =
            shown.iter().filter(|(_, value)| !value.trim().is_empty() && may_be_there(value)).collect();
        shown.sort_by_key(|(_, value)| Reverse(value.len()));
        let mut parts = vec![Hidden::No(text)];
        for (label, value) in shown {
            parts = parts.into_iter().flat_map(|part| self.hide_in(part, label, value)).collect();
        }
        let written = parts.iter().map(|part| match part {
            Hidden::No(text) => *text,
            Hidden::Yes(placeholder) => placeholder,
        });
        written.collect()
    }

    /// One part of a text, cut where a value stands in it.
    fn hide_in<'t>(&mut self, part: Hidden<'t>, label: &str, value: &str) -> Vec<Hidden<'t>> {
        let Hidden::No(mut left) = part else { return vec![part] };
        let mut parts = Vec::new();
        while let Some((before, after)) = split_at_words(left, value) {
            parts.extend([Hidden::No(before), Hidden::Yes(self.mask(label, value))]);
            left = after;
        }
        parts.push(Hidden::No(left));
        parts
    }

    /// The value that a placeholder stands for, and its label.
    fn find(&self, placeholder: &str) -> Option<(&str, &str)> {
        let inside = placeholder.strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
        let (label, number) = inside.rsplit_once(' ')?;
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        let (label, values) = self.values.get_key_value(label)?;
        Some((label, values.get(at)?))
    }
}

/// A part of a text in which values are being hidden.
enum Hidden<'t> {
    No(&'t str),
    Yes(String),
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// What stands before and after the first place where a value stands as words of its own.
fn split_at_words<'t>(text: &'t str, value: &str) -> Option<(&'t str, &'t str)> {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(value).find_map(|(at, found)| {
        let (before, after) = (text.get(..at)?, text.get(at + found.len()..)?);
        (ends(before.chars().next_back()) && ends(after.chars().next())).then_some((before, after))
    })
}

enum Part<'t> {
    Text(&'t str),
    /// With its brackets; it may be none of ours.
    Placeholder(&'t str),
}

/// A text in its parts.
fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(end) = rest.find(CLOSE).map(|at| at + CLOSE.len_utf8()) {
        let (head, tail) = rest.split_at(end);
        let open = head.rfind(OPEN).unwrap_or(head.len());
        let (before, placeholder) = head.split_at(open);
        parts.extend([Part::Text(before), Part::Placeholder(placeholder)]);
        rest = tail;
    }
    parts.push(Part::Text(rest));
    parts
}

/// Restores a text that comes in pieces, word by word: what follows a placeholder may show that it is part of a link.
#[derive(Debug, Default)]
pub struct Restorer {
    /// A word without its end.
    held: String,
    links: Links,
}

/// More than any placeholder of ours: what is longer is text.
const LONGEST: usize = 256;

impl Restorer {
    /// What can be passed on now.
    pub fn push(&mut self, placeholders: &Placeholders, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            self.held.push(c);
            if c.is_whitespace() && !self.is_in_placeholder() {
                out.push_str(&self.word(placeholders));
            }
        }
        out
    }

    /// What was held, at the end of the text.
    pub fn finish(mut self, placeholders: &Placeholders) -> String {
        self.word(placeholders)
    }

    /// Whether a placeholder has begun and may still end.
    fn is_in_placeholder(&self) -> bool {
        let begun = self.held.rfind(OPEN).and_then(|at| self.held.get(at..));
        begun.is_some_and(|begun| !begun.contains([CLOSE, '\n']) && begun.len() <= LONGEST)
    }

    /// The word that was held, with its values.
    fn word(&mut self, placeholders: &Placeholders) -> String {
        let held = std::mem::take(&mut self.held);
        let (mut out, mut after) = (String::new(), held.as_str());
        for part in parts(&held) {
            let written = match part {
                Part::Text(text) => text,
                Part::Placeholder(whole) => whole,
            };
            after = after.get(written.len()..).unwrap_or_default();
            let found = match part {
                Part::Placeholder(whole) => placeholders.find(whole),
                Part::Text(_) => None,
            };
            let shown = match found {
                Some((_, value)) if !self.links.is_inside(&plain(after)) => value,
                _ => written,
            };
            match part {
                // The space in a placeholder ends no word: what follows it may be part of the same link.
                Part::Placeholder(whole) if shown == whole => self.links.take("x"),
                _ => self.links.take(shown),
            }
            out.push_str(shown);
        }
        out
    }
}

/// The rest of a word, a letter for each placeholder in it.
fn plain(rest: &str) -> String {
    let letters = parts(rest).into_iter().map(|part| match part {
        Part::Text(text) => text,
        Part::Placeholder("") => "",
        Part::Placeholder(_) => "x",
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known() -> Placeholders {
        let mut placeholders = Placeholders::default();
        placeholders.mask("email", "ann@example.com");
        placeholders.mask("email", "bob@example.com");
        placeholders.mask("note", "![x](http://evil.example/?q=");
        placeholders
    }

    #[test]
    fn each_cell_has_a_placeholder_of_its_own() {
        let mut placeholders = known();
        assert_eq!(placeholders.mask("email", "bob@example.com"), "⟦email 3⟧");
        assert_eq!(placeholders.mask("name", "bob@example.com"), "⟦name 1⟧");
    }

    #[test]
    fn labels_are_names_or_say_nothing() {
        let cases = [(Some("email"), "email"), (Some("e⟧ma il\n"), "email"), (Some("⟦⟧"), "value"), (None, "value")];
        for (field, label) in cases {
            assert_eq!(Placeholders::label(field), label);
        }
    }

    #[test]
    fn placeholders_are_put_back_and_other_text_is_left() {
        let cases = [
            ("write to ⟦email 1⟧ or ⟦email 2⟧.", "write to ann@example.com or bob@example.com."),
            ("⟦email 3⟧ ⟦email 0⟧ ⟦mail 1⟧ ⟦⟧ ⟧", "⟦email 3⟧ ⟦email 0⟧ ⟦mail 1⟧ ⟦⟧ ⟧"),
            ("⟦⟦email 1⟧", "⟦ann@example.com"),
            ("an end ⟦email", "an end ⟦email"),
            ("**⟦email 1⟧**, (⟦email 2⟧); `⟦email 1⟧`", "**ann@example.com**, (bob@example.com); `ann@example.com`"),
            ("| ⟦email 1⟧|⟦email 2⟧ |", "| ann@example.com|bob@example.com |"),
            ("⟦email 1⟧,⟦email 2⟧;⟦email 1⟧", "ann@example.com,bob@example.com;ann@example.com"),
            ("[⟦email 1⟧](http://x.example/)", "[ann@example.com](http://x.example/)"),
            ("5 < ⟦email 1⟧, 1/2 of\n⟦email 2⟧", "5 < ann@example.com, 1/2 of\nbob@example.com"),
            ("see http://x.example/a, ⟦email 1⟧", "see http://x.example/a, ann@example.com"),
            ("[a](b) ⟦email 1⟧ <b>⟦email 2⟧</b>", "[a](b) ann@example.com <b>bob@example.com</b>"),
        ];
        for (text, restored) in cases {
            assert_eq!(known().restore(text), restored);
        }
    }

    #[test]
    fn no_value_is_put_into_a_link() {
        let cases = include_str!("links.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut tried = 0;
        for case in cases {
            let text = case.replace("\\n", "\n");
            let restored = known().restore(&text);
            assert!(!restored.contains("@example.com"), "{case}: {restored}");
            tried += 1;
        }
        assert!(tried > 20);
    }

    #[test]
    fn values_that_were_shown_are_hidden_again() {
        let shown = |values: &[(&str, &str)]| -> Vec<Shown> {
            values.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect()
        };
        let shown = shown(&[("email", "ann@example.com"), ("n", "2"), ("name", "ann"), ("note", "")]);
        let mut placeholders = Placeholders::default();
        let hidden = placeholders.hide("In 2026 ann (ann@example.com) bought 2 of them, not 22.", &shown);
        assert_eq!(hidden, "In 2026 ⟦name 1⟧ (⟦email 1⟧) bought ⟦n 1⟧ of them, not 22.");
        assert_eq!(placeholders.restore(&hidden), "In 2026 ann (ann@example.com) bought 2 of them, not 22.");
        let named = placeholders.named_in("⟦name 1⟧ and ⟦name 7⟧");
        assert_eq!(named, [("name".to_owned(), "ann".to_owned())]);
    }

    #[test]
    fn values_of_many_answers_are_hidden_again() {
        let shown: Vec<Shown> = (0..100_000).map(|i| ("email".to_owned(), format!("p{i}@example.com"))).collect();
        let hidden = Placeholders::default().hide("From p7@example.com to p99999@example.com.", &shown);
        assert_eq!(hidden.matches("⟦email ").count(), 2, "{hidden}");
        assert!(!hidden.contains('@'), "{hidden}");
    }

    proptest! {
        /// However the model's text is cut, the same comes out, and nothing of it is lost.
        #[test]
        fn pieces_do_not_matter(text in "([⟦⟧ 0-3a-c/.:<\\]\\[()\n]|⟦email [0-3]⟧|⟦note 1⟧|//){0,30}", size in 1usize..5) {
            let (known, mut restorer) = (known(), Restorer::default());
            let chars: Vec<char> = text.chars().collect();
            let mut out = String::new();
            for piece in chars.chunks(size) {
                out.push_str(&restorer.push(&known, &piece.iter().collect::<String>()));
            }
            out.push_str(&restorer.finish(&known));
            prop_assert_eq!(out, known.restore(&text));
        }
    }
}
