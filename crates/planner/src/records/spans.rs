//! What each stretch of an instruction means: the longest phrases that the contracts know, literals, and plain words.

use super::Index;
use super::lexicon::Sense;
use super::words::{Shape, Word};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub words: Vec<Word>,
    /// Everything that it may mean; nothing for plain words and literals.
    pub senses: Vec<Sense>,
}

impl Span {
    /// The words, one space apart, lowercase.
    pub fn lower(&self) -> String {
        self.words.iter().map(|w| w.lower.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub fn text(&self) -> String {
        self.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The one word that it is.
    pub fn only(&self) -> Option<&Word> {
        match self.words.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    pub fn shape(&self) -> Option<Shape> {
        self.only().map(|w| w.shape)
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        self.only().is_some_and(|w| w.shape == Shape::Mark && w.text == mark)
    }

    /// A literal: something that stands for itself.
    pub fn literal(&self) -> Option<&Word> {
        self.only().filter(|w| !matches!(w.shape, Shape::Word | Shape::Mark))
    }

    /// Names the resource as a whole.
    pub fn names_resource(&self, resource: usize) -> bool {
        self.senses.contains(&Sense::Resource(resource))
    }

    pub fn resources(&self) -> impl Iterator<Item = usize> {
        self.senses.iter().filter_map(|s| if let Sense::Resource(r) = s { Some(*r) } else { None })
    }

    /// The field of a resource that it names.
    pub fn field_of(&self, wanted: usize) -> Option<(usize, bool)> {
        self.senses.iter().find_map(|s| match s {
            Sense::Field { resource, field, brief } if *resource == wanted => Some((*field, *brief)),
            _ => None,
        })
    }

    /// The values of fields of a resource that it names.
    pub fn values_of(&self, wanted: usize) -> impl Iterator<Item = (usize, &serde_json::Value)> {
        self.senses.iter().filter_map(move |s| match s {
            Sense::Value { resource, field, value, .. } if *resource == wanted => Some((*field, value)),
            _ => None,
        })
    }

    /// Said in the plural.
    pub fn is_plural(&self) -> bool {
        self.words.last().is_some_and(|w| {
            let end = w.lower.as_str();
            end.ends_with('s') && !end.ends_with("ss") && !end.ends_with("us") && !end.ends_with("is")
        })
    }
}

/// Cuts the words into spans, longest phrases first, over the senses that are `meant`.
pub(crate) fn annotate(index: &Index, words: &[Word], meant: &dyn Fn(&Sense) -> bool) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut rest = words;
    while let Some(first) = rest.first() {
        let found = match first.shape {
            Shape::Word => index.lexicon.longest(rest, meant),
            Shape::Quoted => quoted_value(index, first, meant).map(|senses| (1, senses)),
            _ => None,
        };
        let (length, senses) = found.unwrap_or_default();
        let (taken, left) = rest.split_at_checked(length.max(1)).unwrap_or((rest, &[]));
        spans.push(Span { words: taken.to_vec(), senses });
        rest = left;
    }
    spans
}

/// A quoted text that is exactly a value of the contracts: `'CLOSED'`.
fn quoted_value(index: &Index, word: &Word, meant: &dyn Fn(&Sense) -> bool) -> Option<Vec<Sense>> {
    let exact = |s: &&Sense| matches!(s, Sense::Value { value, .. } if value.as_str() == Some(&word.text));
    let (_, senses) = index.lexicon.longest(&super::words::words(&word.text), meant)?;
    let senses: Vec<Sense> = senses.iter().filter(exact).cloned().collect();
    (!senses.is_empty()).then_some(senses)
}
