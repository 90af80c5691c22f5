//! The values that a question may name, and the columns that own them.

use super::ColumnValues;
use super::catalog::{Catalog, ColumnId, ColumnKind};
use super::text::{fold, stem};
use domain::SourceSchema;
use std::collections::{HashMap, HashSet};

/// A value of a column, as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Owned {
    pub column: ColumnId,
    pub value: String,
    /// Only some of its words were said: "Novak" of Jana Novak.
    pub part: bool,
}

/// The longest value, in words, that is recognised.
pub(crate) const MAX_WORDS: usize = 8;

/// The most different values that a column of categories has.
const CATEGORY: usize = 60;

#[derive(Debug, Default)]
pub(crate) struct ValueIndex {
    folded: HashMap<String, Vec<Owned>>,
    /// One-word values by their stem: "laptops" for `Laptop`.
    stems: HashMap<String, Vec<Owned>>,
    /// Values of several words by the stem of each.
    parts: HashMap<String, Vec<Owned>>,
    /// Columns of which some values are known.
    known: HashSet<ColumnId>,
    /// Columns of which every value is known.
    complete: HashSet<ColumnId>,
    /// How many different values a column that is known in full has.
    counts: HashMap<ColumnId, usize>,
    /// Columns with few different values: their values are words of everyday talk.
    categories: HashSet<ColumnId>,
}

impl ValueIndex {
    pub fn new(schema: &SourceSchema, catalog: &Catalog, values: &[ColumnValues]) -> Self {
        let mut index = Self::default();
        for (id, table) in catalog.tables().zip(&schema.tables) {
            for (column, meta) in catalog.table(id).columns.iter().zip(&table.columns) {
                let known = values.iter().find(|v| v.table == table.name && v.column == meta.name);
                let complete = known.is_some_and(|k| k.complete) || !meta.values.is_empty();
                if catalog.column(*column).kind != ColumnKind::Text {
                    continue;
                }
                if known.is_some() {
                    index.known.insert(*column);
                }
                if complete {
                    index.complete.insert(*column);
                }
                let count = known.map_or(0, |k| k.values.len()).max(meta.values.len());
                if complete {
                    index.counts.insert(*column, count);
                }
                if complete && count <= CATEGORY {
                    index.categories.insert(*column);
                }
                let sexes = catalog.column(*column).words.iter().any(|w| w == "sex" || w == "gender");
                for value in known.map(|k| k.values.as_slice()).unwrap_or_default().iter().chain(&meta.values) {
                    index.add(*column, value);
                    for word in if sexes { sex_words(value) } else { &[] } {
                        let owned = Owned { column: *column, value: value.clone(), part: false };
                        push_new(index.folded.entry((*word).to_owned()).or_default(), owned);
                    }
                }
            }
        }
        index
    }

    fn add(&mut self, column: ColumnId, value: &str) {
        let folded = fold(value);
        for alias in SAME_NAMES.iter().filter(|g| g.contains(&folded.as_str())).flat_map(|g| g.iter()) {
            let owned = Owned { column, value: value.to_owned(), part: false };
            push_new(self.folded.entry((*alias).to_owned()).or_default(), owned);
        }
        if folded.is_empty() || folded.split(' ').count() > MAX_WORDS {
            return;
        }
        let owned = Owned { column, value: value.to_owned(), part: false };
        if !folded.contains(' ') && self.categories.contains(&column) {
            push_new(self.stems.entry(stem(&folded)).or_default(), owned.clone());
        }
        // Nobody calls an address of mail by a word of it.
        if folded.contains(' ') && !value.contains('@') {
            let part = Owned { part: true, ..owned.clone() };
            for word in folded.split(' ').filter(|w| w.chars().count() > 2) {
                push_new(self.parts.entry(stem(word)).or_default(), part.clone());
            }
        }
        push_new(self.folded.entry(folded).or_default(), owned);
    }

    /// Values that have all of these words among theirs, of columns that are known in full.
    pub fn with_words(&self, stems: &[&str]) -> Vec<Owned> {
        let of = |stem: &&str| self.parts.get(*stem).map(Vec::as_slice).unwrap_or_default();
        let Some((first, rest)) = stems.split_first() else { return Vec::new() };
        let has_all = |o: &&Owned| self.complete.contains(&o.column) && rest.iter().all(|s| of(s).contains(o));
        of(first).iter().filter(has_all).cloned().collect()
    }

    pub fn exact(&self, folded: &str) -> &[Owned] {
        self.folded.get(folded).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn by_stem(&self, stem: &str) -> &[Owned] {
        self.stems.get(stem).map(Vec::as_slice).unwrap_or_default()
    }

    /// Values of one word with one letter different, for longer words only.
    pub fn misspelt(&self, folded: &str) -> Vec<Owned> {
        let first = folded.chars().next();
        let near = |key: &str| {
            key.chars().next() == first
                && key.len() >= 5
                && !key.contains(' ')
                && strsim::osa_distance(key, folded) == 1
        };
        if folded.chars().count() < 5 {
            return Vec::new();
        }
        let mut found: Vec<Owned> = self.folded.iter().filter(|(k, _)| near(k)).flat_map(|(_, o)| o.clone()).collect();
        found.sort_by(|a, b| (a.column, &a.value).cmp(&(b.column, &b.value)));
        found
    }

    /// How many values a column has in all, where they are known.
    pub fn count(&self, column: ColumnId) -> Option<usize> {
        self.counts.get(&column).copied()
    }

    pub fn is_category(&self, column: ColumnId) -> bool {
        self.categories.contains(&column)
    }

    /// Whether any value of a column was read.
    pub fn is_known(&self, column: ColumnId) -> bool {
        self.known.contains(&column)
    }

    pub fn is_complete(&self, column: ColumnId) -> bool {
        self.complete.contains(&column)
    }
}

/// Names of one and the same country.
const SAME_NAMES: &[&[&str]] = &[
    &["us", "usa", "u s", "u s a", "united states", "united states of america"],
    &["uk", "u k", "united kingdom"],
    &["uae", "united arab emirates"],
    &["eu", "european union"],
];

/// What a code for a sex stands for.
fn sex_words(value: &str) -> &'static [&'static str] {
    match value.to_lowercase().as_str() {
        "f" | "female" | "w" => &["female", "females", "woman", "women", "girl", "girls"],
        "m" | "male" => &["male", "males", "man", "men", "boy", "boys"],
        _ => &[],
    }
}

fn push_new(list: &mut Vec<Owned>, owned: Owned) {
    if !list.contains(&owned) {
        list.push(owned);
    }
}
