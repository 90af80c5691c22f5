//! Which placeholder stands for what.

use super::Sensitive;
use super::words::is_common;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

/// The values that were taken out of one request, by their placeholders.
///
/// Kept apart from the text, for people who may see the values. It holds what must not be shown: `Debug` tells numbers
/// only.
#[derive(Default, Clone)]
pub struct Masks {
    placeholders: HashMap<(Sensitive, String), String>,
    values: BTreeMap<String, String>,
    /// Placeholders that came with the text: somebody wrote them, and they stand for nothing of ours.
    foreign: BTreeSet<String>,
    last: HashMap<Sensitive, u32>,
    /// First labels of machines' full names.
    short_names: HashSet<String>,
}

impl Masks {
    /// Those of an earlier request, to turn its placeholders back.
    pub fn keeping(values: BTreeMap<String, String>) -> Self {
        Self { values, ..Self::default() }
    }

    /// The placeholder of a value: always the same within one request.
    pub(super) fn placeholder(&mut self, kind: Sensitive, value: &str) -> String {
        let key = (kind, normal(kind, value));
        if let Some(known) = self.placeholders.get(&key) {
            return known.clone();
        }
        let number = self.last.entry(kind).or_default();
        let fresh = loop {
            *number += 1;
            let fresh = format!("<{}_{number}>", kind.label());
            if !self.foreign.contains(&fresh) {
                break fresh;
            }
        };
        if kind == Sensitive::Host
            && let Some((short, _)) = key.1.split_once('.')
        {
            self.short_names.insert(short.to_owned());
        }
        self.placeholders.insert(key, fresh.clone());
        self.values.insert(fresh.clone(), value.to_owned());
        fresh
    }

    /// A placeholder that is in the text before anything was replaced. One of ours is ours; another is left alone.
    pub(super) fn meet(&mut self, placeholder: &str) {
        if !self.values.contains_key(placeholder) {
            self.foreign.insert(placeholder.to_owned());
        }
    }

    /// What a word stands for elsewhere in this request: a machine by its full or its short name, or a user. A name that
    /// is also a word of the language (`backup`, `gateway`) is known only where something says that it is one.
    pub(super) fn known(&self, word: &str) -> Option<Sensitive> {
        const SHORTEST: usize = 4;
        let word = word.to_ascii_lowercase();
        let known = |kind| self.placeholders.contains_key(&(kind, word.clone()));
        match () {
            () if word.len() < SHORTEST || is_common(&word) => None,
            () if known(Sensitive::Host) || self.short_names.contains(&word) => Some(Sensitive::Host),
            () if known(Sensitive::User) => Some(Sensitive::User),
            () => None,
        }
    }

    /// The text with the values back in it: for people who may see them, never for a model.
    pub fn restore(&self, text: &str) -> String {
        let mut restored = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            let (before, here) = rest.split_at(at);
            restored.push_str(before);
            let end = here.find('>').map_or(here.len(), |end| end + 1);
            let (candidate, after) = here.split_at(end);
            match self.values.get(candidate) {
                Some(value) => {
                    restored.push_str(value);
                    rest = after;
                }
                None => {
                    restored.push('<');
                    rest = here.strip_prefix('<').unwrap_or_default();
                }
            }
        }
        restored + rest
    }

    /// Placeholders and values, for whoever keeps them for the approver.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(placeholder, value)| (placeholder.as_str(), value.as_str()))
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masks").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Names of machines, addresses and e-mail are the same in any case; tokens are not.
fn normal(kind: Sensitive, value: &str) -> String {
    match kind {
        Sensitive::Token => value.to_owned(),
        Sensitive::Mac => value.to_ascii_lowercase().replace('-', ":"),
        Sensitive::Phone => value.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect(),
        _ => value.to_ascii_lowercase(),
    }
}
