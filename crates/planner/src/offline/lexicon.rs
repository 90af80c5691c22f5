//! Words to tables and columns. Each entry keeps where it comes from and how far to trust it.

use super::catalog::{Catalog, ColumnId, ColumnKind, TableId, singular};
use super::english::{expand, is_stop};
use super::relations::{is_word, related};
use super::roles;
use super::text::{Shape, Token, split_name, stem};
use super::thesaurus::{phrases, synonyms};
use domain::SourceSchema;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Table(TableId),
    Column(ColumnId),
    /// Quantity × price: revenue that no column holds.
    Product(ColumnId, ColumnId),
}

/// How far each source of words is trusted. What an administrator wrote outranks everything.
pub(crate) mod weight {
    pub const CONTRACT: f32 = 1.05;
    pub const NAME: f32 = 1.0;
    /// The last word of a name, which is its noun: `price` for `unit_price`.
    pub const NOUN: f32 = 0.8;
    pub const REVENUE: f32 = 0.75;
    pub const THESAURUS: f32 = 0.7;
    /// Another word of a name: `created` for `created_at`.
    pub const PART: f32 = 0.6;
    /// Lost when another word of the same meaning was used.
    pub const RELATED: f32 = 0.8;
    pub const DESCRIPTION: f32 = 0.45;
    /// Lost when only the stem is the same.
    pub const INFLECTED: f32 = 0.85;
    /// Lost when a word was read with one letter changed.
    pub const MISSPELT: f32 = 0.85;
}

/// The longest name, in words, that is looked up.
pub(crate) const MAX_WORDS: usize = 5;

#[derive(Debug)]
struct Entry {
    target: Target,
    weight: f32,
    /// The phrase in the singular: "ordered" shares a stem with "orders" and is another word.
    surface: String,
}

#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    /// By the stems of the phrase.
    entries: HashMap<String, Vec<Entry>>,
    /// Whole names written as one word, or as they stand in the schema.
    joined: HashMap<String, Vec<Target>>,
    /// Single words of names, as they are written and as they are looked up, for misspellings.
    words: Vec<(String, String)>,
    /// Every word that stands in some phrase, so that most related words need not be looked up.
    used: HashSet<String>,
}

impl Lexicon {
    pub fn new(schema: &SourceSchema, catalog: &Catalog) -> Self {
        let mut lexicon = Self::default();
        for (id, table) in catalog.tables().zip(&schema.tables) {
            let target = Target::Table(id);
            let words = &catalog.table(id).words;
            lexicon.add_name(words, &table.name, target);
            lexicon.add_synonyms(&table.synonyms, target);
            for (column, meta) in catalog.table(id).columns.iter().zip(&table.columns) {
                let target = Target::Column(*column);
                let info = catalog.column(*column);
                lexicon.add_name(&info.words, &meta.name, target);
                if words.iter().all(|w| {
                    Some(w) != info.words.first() && singular(w) != info.words.first().map_or("", String::as_str)
                }) {
                    lexicon.add_column_forms(&info.words, info.kind, target);
                }
                lexicon.add_without_table(&info.words, words, target);
                lexicon.add_synonyms(&meta.synonyms, target);
                if catalog.table(id).display.as_slice() == [*column] {
                    lexicon.add_called(&meta.synonyms, Target::Table(id));
                }
                lexicon.add_description(&meta.description, target);
            }
        }
        for (role, columns) in roles::named(catalog) {
            let words = &catalog.table(role).words;
            lexicon.add(words, Target::Table(role), weight::NAME);
            for column in columns {
                let qualified: Vec<&String> = words.iter().chain(&catalog.column(*column).words).collect();
                lexicon.add(&qualified, Target::Column(*column), weight::NAME);
            }
        }
        lexicon.add_roles(catalog);
        lexicon.add_revenue(catalog);
        lexicon.words.sort();
        lexicon.words.dedup();
        lexicon
    }

    /// What the phrase of these stems, or of these words written as one, may name.
    pub fn get(&self, stems: &[&str], lowers: &[&str]) -> Vec<(Target, f32)> {
        let surface = surface(lowers);
        let mut found = Vec::new();
        for entry in self.entries.get(&stems.join(" ")).into_iter().flatten() {
            let trust = if entry.surface == surface { 1.0 } else { weight::INFLECTED };
            keep_best(&mut found, (entry.target, entry.weight * trust));
        }
        for target in self.joined.get(&lowers.concat()).into_iter().flatten() {
            keep_best(&mut found, (*target, weight::NAME));
        }
        found
    }

    /// What a word may name if one letter of it is wrong.
    pub fn misspelt(&self, lower: &str) -> Vec<(Target, f32)> {
        let word = singular(lower);
        if word.chars().count() < 5 {
            return Vec::new();
        }
        // "prerequisites" of a table `prereq`: cut short, and what was cut off is no word of its own.
        let cut = |w: &str| {
            w.len() >= 4 && word.len() > w.len() + 2 && word.strip_prefix(w).is_some_and(|rest| !is_word(rest))
        };
        let near = |w: &str| {
            cut(w) || w.len() >= 5 && w.chars().next() == word.chars().next() && strsim::osa_distance(w, &word) == 1
        };
        let near = self.words.iter().filter(|(written, _)| near(written));
        let entries = near.filter_map(|(_, key)| self.entries.get(key)).flatten();
        let trusted = entries.filter(|e| e.weight >= weight::NOUN);
        trusted.map(|e| (e.target, e.weight * weight::MISSPELT)).collect()
    }

    /// What a phrase may name if one of its words is replaced by a word of the same meaning.
    pub fn related(&self, words: &[Token]) -> Vec<(Target, f32)> {
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if word.shape != Shape::Word || is_stop(&word.lower) {
                continue;
            }
            for (other, score) in related(&word.lower).into_iter().filter(|(other, _)| self.used.contains(*other)) {
                let mut stems: Vec<String> = words.iter().map(|t| t.stem.clone()).collect();
                if let Some(slot) = stems.get_mut(at) {
                    *slot = stem(other);
                }
                let trusted = |e: &&Entry| e.weight >= weight::NOUN && e.surface.split(' ').nth(at) == Some(other);
                for entry in self.entries.get(&stems.join(" ")).into_iter().flatten().filter(trusted) {
                    keep_best(&mut found, (entry.target, entry.weight * (weight::RELATED + 0.2 * (score - 1.0))));
                }
            }
        }
        found
    }

    fn add<W: AsRef<str>>(&mut self, words: &[W], target: Target, weight: f32) {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let key = words.iter().map(|w| stem(w)).collect::<Vec<_>>().join(" ");
        if key.is_empty() {
            return;
        }
        let entry = Entry { target, weight, surface: surface(&words) };
        self.used.extend(entry.surface.split(' ').map(str::to_owned));
        let entries = self.entries.entry(key).or_default();
        match entries.iter_mut().find(|e| e.target == target && e.surface == entry.surface) {
            Some(known) => known.weight = known.weight.max(weight),
            None => entries.push(entry),
        }
    }

    fn add_name(&mut self, words: &[String], raw: &str, target: Target) {
        self.words.extend(words.iter().map(|w| (singular(w), stem(w))));
        self.add(words, target, weight::NAME);
        let tail = words.get(1..).filter(|tail| tail.len() == 1).and_then(|tail| tail.first()).cloned();
        for joined in [words.concat(), raw.to_lowercase()].into_iter().chain(tail.filter(|t| t.len() > 6)) {
            self.joined.entry(joined).or_default().push(target);
        }
        let Some((last, before)) = words.split_last() else { return };
        // What has a name goes by it: the manager is the manager's name.
        if let ([thing], "name" | "title") = (before, last.as_str()) {
            self.add(std::slice::from_ref(thing), target, weight::NOUN + 0.02);
        }
        // So has what has a code: the card type is its code.
        if before.len() > 1 && last == "code" {
            self.add(before, target, weight::NOUN + 0.02);
        }
        if matches!(last.as_str(), "phone" | "telephone" | "fax" | "mobile") {
            self.add(&[last.as_str(), "number"], target, weight::NAME);
        }
        if !before.is_empty() {
            self.add_parts(words, target);
        }
        self.add_phrases(words, target);
        for synonym in synonyms(&singular(last)) {
            let mut phrase: Vec<&str> = before.iter().map(String::as_str).collect();
            phrase.push(synonym);
            let trust = if before.is_empty() { weight::THESAURUS } else { weight::THESAURUS - 0.05 };
            self.add(&phrase, target, trust);
            if !before.is_empty() && last.len() > 2 {
                self.add(&[synonym], target, weight::THESAURUS - 0.15);
            }
        }
    }

    /// "forename" for a first name, also where the name goes on before it: `customer_first_name`.
    fn add_phrases(&mut self, words: &[String], target: Target) {
        for start in 0..words.len() {
            let (before, tail) = words.split_at(start);
            let tail: Vec<String> = tail.iter().map(|w| singular(w)).collect();
            for phrase in phrases(&tail.join(" ")) {
                let trust = if before.is_empty() { weight::NAME - 0.1 } else { weight::NOUN };
                self.add(&phrase.split(' ').collect::<Vec<_>>(), target, trust);
                let whole: Vec<&str> = before.iter().map(String::as_str).chain(phrase.split(' ')).collect();
                self.add(&whole, target, weight::NAME - 0.1);
            }
        }
    }

    /// Single words of a longer name, what it ends with and what it starts with: the more, the better.
    fn add_parts(&mut self, words: &[String], target: Target) {
        let share = |part: usize| 0.1 * (part as f32 / words.len() as f32);
        for (at, part) in words.iter().enumerate() {
            let base = if at + 1 == words.len() { weight::NOUN } else { weight::PART };
            if !is_stop(part) && part.len() > 1 {
                self.add(std::slice::from_ref(part), target, base + share(1));
            }
        }
        for start in 1..words.len().saturating_sub(1) {
            let tail = words.get(start..).unwrap_or_default();
            self.add(tail, target, weight::NOUN + share(tail.len()));
        }
        for end in 1..words.len() {
            let head = words.get(..end).unwrap_or_default();
            self.add(head, target, weight::PART + share(head.len()));
        }
    }

    /// Moments are also asked for by the noun of their verb, with or without "date" or "time".
    fn add_column_forms(&mut self, words: &[String], kind: ColumnKind, target: Target) {
        let [first, rest @ ..] = words else { return };
        let marker = |w: &String| matches!(w.as_str(), "at" | "on" | "date" | "time" | "timestamp");
        if kind == ColumnKind::Time && rest.iter().all(marker) {
            for noun in ["date", "time", "day"] {
                self.add(&[first.as_str(), noun], target, weight::NOUN);
            }
            self.add(&[first], target, weight::NOUN);
            self.add(&["date"], target, weight::PART - 0.1);
        }
        if kind == ColumnKind::Flag && matches!(first.as_str(), "is" | "has" | "was") {
            self.add(rest, target, weight::NAME);
        }
    }

    /// `customer_name` in `customers` is just its name.
    fn add_without_table(&mut self, words: &[String], table: &[String], target: Target) {
        let same = |w: &str, t: &str| stem(w) == stem(t) || w.len() >= 3 && t.starts_with(w);
        let shared = words.iter().zip(table).take_while(|(w, t)| same(w, t)).count();
        if shared > 0 && words.len() > shared {
            let trust = weight::NAME - if shared == table.len() { 0.02 } else { 0.04 };
            self.add(words.get(shared..).unwrap_or_default(), target, trust);
        }
    }

    fn add_synonyms(&mut self, synonyms: &[String], target: Target) {
        for synonym in synonyms {
            let words = split_name(synonym);
            if let [only] = words.as_slice() {
                self.words.push((singular(only), stem(only)));
            }
            self.add(&words, target, weight::CONTRACT);
        }
    }

    /// What a row is called by stands for the row: an `account` that is also a client makes accounts clients.
    fn add_called(&mut self, synonyms: &[String], table: Target) {
        let is_label =
            |s: &&String| !split_name(s).last().is_some_and(|w| ["name", "title", "label"].contains(&w.as_str()));
        for synonym in synonyms.iter().filter(is_label) {
            self.add(&split_name(synonym), table, weight::CONTRACT);
        }
    }

    /// `host_city_id` makes a host city one of the cities that it points at.
    fn add_roles(&mut self, catalog: &Catalog) {
        for edge in &catalog.edges {
            let [(column, _)] = edge.on.as_slice() else { continue };
            let Some(column) = catalog.column_named(edge.many, column) else { continue };
            let Some((last, role)) = catalog.column(column).words.split_last() else { continue };
            let target = &catalog.table(edge.one).words;
            let is_target = role.last().is_some_and(|w| target.iter().any(|t| stem(t) == stem(w)));
            if is_target && ["id", "code", "number", "key"].contains(&last.as_str()) {
                self.add(role, Target::Table(edge.one), weight::NOUN + 0.05);
            }
        }
    }

    /// Where no column is called revenue, a table's quantity × price is; failing that, its amount.
    fn add_revenue(&mut self, catalog: &Catalog) {
        let known = |t: &Target| matches!(t, Target::Column(c) if catalog.column(*c).is_measure());
        let held = REVENUE.iter().filter_map(|w| self.entries.get(&stem(w))).flatten();
        if held.into_iter().any(|e| e.weight >= weight::THESAURUS - 0.05 && known(&e.target)) {
            return;
        }
        let products: Vec<Target> =
            catalog.tables().filter_map(|t| product(catalog, t)).map(|(q, p)| Target::Product(q, p)).collect();
        let amounts = catalog.columns().filter(|c| is_amount(catalog, *c)).map(Target::Column);
        let targets = if products.is_empty() { amounts.collect() } else { products };
        for target in targets {
            for word in REVENUE {
                self.add(&[*word], target, weight::REVENUE);
            }
        }
    }

    fn add_description(&mut self, description: &str, target: Target) {
        for word in split_name(description).iter().flat_map(|w| expand(w)) {
            if word.len() > 3 && !is_stop(word) && !self.entries.contains_key(&stem(word)) {
                self.add(&[word], target, weight::DESCRIPTION);
            }
        }
    }
}

fn surface(words: &[&str]) -> String {
    words.iter().map(|w| singular(w)).collect::<Vec<_>>().join(" ")
}

/// What people call money that came in.
const REVENUE: &[&str] = &["revenue", "sales", "turnover", "spent", "spend", "spending"];

fn measure_of(catalog: &Catalog, table: TableId, nouns: &[&str]) -> Option<ColumnId> {
    let named = |c: &&ColumnId| catalog.column(**c).words.last().is_some_and(|w| nouns.contains(&w.as_str()));
    let mut found = catalog.table(table).columns.iter().filter(|c| catalog.column(**c).is_measure()).filter(named);
    let only = found.next()?;
    found.next().is_none().then_some(*only)
}

/// Quantity and price of one table.
pub(crate) fn product(catalog: &Catalog, table: TableId) -> Option<(ColumnId, ColumnId)> {
    let quantity = measure_of(catalog, table, &["quantity", "units"])?;
    let price = measure_of(catalog, table, &["price"])?;
    Some((quantity, price))
}

fn is_amount(catalog: &Catalog, column: ColumnId) -> bool {
    let info = catalog.column(column);
    info.is_measure() && info.words.last().is_some_and(|w| matches!(w.as_str(), "amount" | "total" | "value"))
}

fn keep_best(entries: &mut Vec<(Target, f32)>, (target, weight): (Target, f32)) {
    match entries.iter_mut().find(|(t, _)| *t == target) {
        Some((_, known)) => *known = known.max(weight),
        None => entries.push((target, weight)),
    }
}
