//! Words to resources, fields and values, over the contracts of one role.

use super::english::equivalents;
use super::surface::{Field, Resource, Surface};
use super::words::{Word, root};
use crate::offline::text::split_name;
use domain::FieldType;
use std::collections::HashMap;

/// What a phrase may mean. Numbers are places in the surface.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sense {
    Resource(usize),
    /// A field, by its whole name or, if `brief`, by a part of it that is enough.
    Field {
        resource: usize,
        field: usize,
        brief: bool,
    },
    /// A value of a field that lists its values, or a flag.
    Value {
        resource: usize,
        field: usize,
        value: serde_json::Value,
        /// In words that are not the contract's.
        loose: bool,
    },
}

impl Sense {
    pub fn resource(&self) -> usize {
        match self {
            Self::Resource(resource) | Self::Field { resource, .. } | Self::Value { resource, .. } => *resource,
        }
    }
}

/// The longest phrase, in words, that is looked up.
const MOST_WORDS: usize = 5;

#[derive(Debug)]
struct Entry {
    sense: Sense,
    /// The phrase as it stands in the contract, lowercase and in the singular: "open" and "opened" have one root and are two words.
    surface: String,
}

/// Phrases by the roots of their words.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    entries: HashMap<String, Vec<Entry>>,
}

impl Lexicon {
    pub fn new(surface: &Surface) -> Self {
        let mut lexicon = Self::default();
        for (at, resource) in surface.resources.iter().enumerate() {
            lexicon.add_resource(at, resource);
            for (field_at, field) in resource.fields.iter().enumerate() {
                lexicon.add_field(at, field_at, field);
                lexicon.add_values(at, field_at, field);
            }
        }
        lexicon
    }

    /// The longest phrase that begins here and means something of the resources that are `meant`.
    pub fn longest(&self, words: &[Word], meant: &dyn Fn(&Sense) -> bool) -> Option<(usize, Vec<Sense>)> {
        let most = words.len().min(MOST_WORDS);
        (1..=most).rev().find_map(|length| {
            let roots: Vec<&str> = words.get(..length)?.iter().map(|w| w.root.as_str()).collect();
            let raw = words.first().filter(|_| length == 1).map(|w| w.lower.clone());
            let found = self.entries.get(&roots.join(" ")).or_else(|| self.entries.get(&raw?))?;
            let said = singular(&words.get(..length)?.iter().map(|w| w.lower.as_str()).collect::<Vec<_>>().join(" "));
            let meant: Vec<&Entry> = found.iter().filter(|e| meant(&e.sense)).collect();
            // What is said exactly so is meant, not what merely has its root.
            let exact = meant.iter().any(|e| e.surface == said);
            let kept = meant.iter().filter(|e| !exact || e.surface == said).map(|e| e.sense.clone());
            let mut senses: Vec<Sense> = Vec::new();
            kept.for_each(|sense| {
                if !senses.contains(&sense) {
                    senses.push(sense)
                }
            });
            (!senses.is_empty()).then_some((length, senses))
        })
    }

    fn add(&mut self, phrase: &[String], sense: Sense) {
        self.add_key(key(phrase), phrase.join(" "), sense);
    }

    fn add_key(&mut self, key: String, surface: String, sense: Sense) {
        if !key.is_empty() {
            let entries = self.entries.entry(key).or_default();
            let same = |known: &Entry| match (&known.sense, &sense) {
                (Sense::Field { resource: a, field: b, .. }, Sense::Field { resource: c, field: d, .. }) => {
                    (a, b) == (c, d)
                }
                (known, new) => known == new,
            };
            let surface = singular(&surface);
            if !entries.iter().any(|known| same(known) && known.surface == surface) {
                entries.push(Entry { sense, surface });
            }
        }
    }

    fn add_resource(&mut self, at: usize, resource: &Resource) {
        let sense = Sense::Resource(at);
        self.add_key(resource.name.to_lowercase(), resource.name.to_lowercase(), sense.clone());
        for name in std::iter::once(&resource.name).chain(&resource.synonyms) {
            self.add(&split_name(name), sense.clone());
        }
    }

    fn add_field(&mut self, resource: usize, at: usize, field: &Field) {
        let whole = Sense::Field { resource, field: at, brief: false };
        let brief = Sense::Field { resource, field: at, brief: true };
        let name = split_name(&field.name);
        self.add_key(field.name.to_lowercase(), field.name.to_lowercase(), whole.clone());
        self.add(&name, whole.clone());
        for synonym in &field.synonyms {
            self.add(&split_name(synonym), if field.kind.is_temporal() { brief.clone() } else { whole.clone() });
            self.add_doer(synonym, &whole);
        }
        // `client_id` is the client, `created_at` when it was created.
        if let Some((last, head @ [_, ..])) = name.split_last()
            && ["id", "at", "on", "no"].contains(&last.as_str())
        {
            self.add(head, brief.clone());
        }
        if field.kind.is_temporal() {
            self.add_dates(&name, field, &whole);
        }
    }

    /// "creation date", "date sent", "due date".
    fn add_dates(&mut self, name: &[String], field: &Field, whole: &Sense) {
        let heads = name.first().into_iter().chain(field.synonyms.iter());
        for head in heads {
            let head = split_name(head);
            for word in ["date", "time", "day"] {
                let word = [word.to_owned()];
                self.add(&[head.as_slice(), &word].concat(), whole.clone());
                self.add(&[&word, head.as_slice()].concat(), whole.clone());
            }
            for word in ["at", "on"] {
                self.add(&[head.as_slice(), &[word.to_owned()]].concat(), Sense::clone(whole));
            }
        }
    }

    /// Who is a `handler` has it "handled by".
    fn add_doer(&mut self, synonym: &str, whole: &Sense) {
        if let Some(deed) = synonym.strip_suffix("er").filter(|deed| deed.len() > 2 && !deed.contains(' ')) {
            self.add(&[format!("{deed}ed"), "by".to_owned()], whole.clone());
        }
    }

    fn add_values(&mut self, resource: usize, at: usize, field: &Field) {
        if field.kind == FieldType::Boolean {
            let sense = |flag: bool| Sense::Value { resource, field: at, value: flag.into(), loose: false };
            let names = std::iter::once(&field.name).chain(&field.synonyms).map(|name| split_name(name));
            for mut name in names {
                if name.first().is_some_and(|first| first == "is" || first == "has") {
                    name.remove(0);
                }
                self.add(&name, sense(true));
                if let Some(first) = name.first_mut() {
                    *first = format!("un{first}");
                }
                self.add(&name, sense(false));
            }
        }
        for value in &field.values {
            let sense = |loose| Sense::Value { resource, field: at, value: value.as_str().into(), loose };
            let words = split_name(value);
            self.add_key(value.to_lowercase(), value.to_lowercase(), sense(false));
            self.add(&words, sense(false));
            let own = |other: &str| field.values.iter().any(|v| split_name(v).join(" ") == other);
            for other in equivalents(&words.join(" ")).filter(|other| !own(other)) {
                self.add(&split_name(other), sense(true));
            }
        }
    }
}

/// As far as telling words apart goes.
fn singular(phrase: &str) -> String {
    phrase.strip_suffix('s').unwrap_or(phrase).to_owned()
}

fn key(words: &[String]) -> String {
    words.iter().map(|w| root(w)).collect::<Vec<_>>().join(" ")
}
