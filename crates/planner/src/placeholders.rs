//! Personal values as a model sees them: placeholders, the same for the same value throughout a run, put back in the
//! answer of a caller who may read them.

use std::collections::HashMap;

const OPEN: char = '⟦';
const CLOSE: char = '⟧';

/// The placeholders of one run. Whoever runs the tools masks what comes out of flagged fields, puts back what the model
/// writes into a query, and restores the answer.
#[derive(Debug, Default)]
pub struct Placeholders {
    numbers: HashMap<String, usize>,
    values: Vec<String>,
}

impl Placeholders {
    /// What stands for a value of this field: `⟦email 1⟧`.
    pub fn mask(&mut self, field: &str, value: &str) -> String {
        let known = self.numbers.get(value).copied();
        let number = known.unwrap_or_else(|| {
            self.values.push(value.to_owned());
            self.numbers.insert(value.to_owned(), self.values.len());
            self.values.len()
        });
        let field: String = field.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
        format!("{OPEN}{field} {number}{CLOSE}")
    }

    /// The text with the values in it.
    pub fn restore(&self, text: &str) -> String {
        let mut restored = Restorer::default();
        restored.push(self, text) + &restored.finish()
    }

    /// A text without any of the values: what stands for them instead. The longest go first, so that none is left in parts.
    pub fn hide(&self, text: &str) -> String {
        let mut values: Vec<(usize, &String)> = self.values.iter().enumerate().filter(|(_, v)| !v.is_empty()).collect();
        values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        match values.into_iter().find(|(_, value)| text.contains(value.as_str())) {
            Some((at, value)) => {
                let parts: Vec<String> = text.split(value.as_str()).map(|part| self.hide(part)).collect();
                parts.join(&format!("{OPEN}value {}{CLOSE}", at + 1))
            }
            None => text.to_owned(),
        }
    }

    /// The same inside SQL, where a quote in a string is written twice.
    pub fn restore_quoted(&self, sql: &str) -> String {
        let values = self.values.iter().map(|value| value.replace('\'', "''")).collect();
        Self { numbers: HashMap::new(), values }.restore(sql)
    }

    fn value(&self, inside: &str) -> Option<&str> {
        let (_, number) = inside.rsplit_once(' ')?;
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        self.values.get(at).map(String::as_str)
    }
}

/// Restores a text that comes in pieces: a placeholder that is not yet whole waits for its end.
#[derive(Debug, Default)]
pub struct Restorer {
    held: String,
}

/// More than any placeholder of ours: what is longer is text.
const LONGEST: usize = 128;

impl Restorer {
    /// What can be passed on now.
    pub fn push(&mut self, placeholders: &Placeholders, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            match c {
                OPEN => {
                    // Another one begins: what was held is text.
                    out.push_str(&std::mem::take(&mut self.held));
                    self.held.push(c);
                }
                CLOSE if !self.held.is_empty() => {
                    let held = std::mem::take(&mut self.held);
                    match placeholders.value(held.trim_start_matches(OPEN)) {
                        Some(value) => out.push_str(value),
                        None => out.extend([held.as_str(), &CLOSE.to_string()]),
                    }
                }
                c if self.held.is_empty() => out.push(c),
                c => {
                    self.held.push(c);
                    if self.held.len() > LONGEST {
                        out.push_str(&std::mem::take(&mut self.held));
                    }
                }
            }
        }
        out
    }

    /// What was held, at the end of the text.
    pub fn finish(self) -> String {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known() -> Placeholders {
        let mut placeholders = Placeholders::default();
        placeholders.mask("email", "ann@example.com");
        placeholders.mask("email", "bob@example.com");
        placeholders
    }

    #[test]
    fn a_value_has_one_placeholder() {
        let mut placeholders = known();
        assert_eq!(placeholders.mask("email", "bob@example.com"), "⟦email 2⟧");
        assert_eq!(placeholders.mask("e⟧mail\n", "carl@example.com"), "⟦email 3⟧");
    }

    #[test]
    fn placeholders_are_put_back_and_other_text_is_left() {
        let cases = [
            ("write to ⟦email 1⟧ or ⟦email 2⟧.", "write to ann@example.com or bob@example.com."),
            ("⟦email 3⟧ ⟦email 0⟧ ⟦⟧ ⟧", "⟦email 3⟧ ⟦email 0⟧ ⟦⟧ ⟧"),
            ("⟦⟦email 1⟧", "⟦ann@example.com"),
            ("an end ⟦email", "an end ⟦email"),
        ];
        for (text, restored) in cases {
            assert_eq!(known().restore(text), restored);
        }
    }

    proptest! {
        /// However the model's text is cut, the same comes out, and nothing of it is lost.
        #[test]
        fn pieces_do_not_matter(text in "([⟦⟧ 0-3a-c]|⟦email [0-3]⟧){0,30}", size in 1usize..5) {
            let (known, mut restorer) = (known(), Restorer::default());
            let chars: Vec<char> = text.chars().collect();
            let mut out = String::new();
            for piece in chars.chunks(size) {
                out.push_str(&restorer.push(&known, &piece.iter().collect::<String>()));
            }
            out.push_str(&restorer.finish());
            prop_assert_eq!(out, known.restore(&text));
        }
    }
}
