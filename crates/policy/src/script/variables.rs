//! What variables can hold, as far as a script itself says: all values that it gives them anywhere.

use super::walk::Walked;
use super::words::{Argument, Part};
use std::collections::BTreeMap;

/// Values of one word, at most.
const MAX_VALUES: usize = 32;

#[derive(Debug, Default)]
pub struct Variables {
    /// `None` for one that may hold anything.
    values: BTreeMap<String, Option<Vec<String>>>,
}

impl Variables {
    pub fn of(walked: &Walked) -> Self {
        let mut variables = Self::default();
        variables.values.insert("TMPDIR".to_owned(), Some(vec!["/tmp".to_owned()]));
        // Twice: a value may name a variable that is set further down.
        for _ in 0..2 {
            let mut next: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
            let assigned = walked.invocations.iter().flat_map(|invocation| &invocation.assignments);
            for (name, value) in assigned {
                add(&mut next, name, value.as_ref().and_then(|value| variables.resolve(value)));
            }
            for (name, items) in &walked.loops {
                let all = items.as_ref().and_then(|items| {
                    let values: Option<Vec<Vec<String>>> = items.iter().map(|item| variables.resolve(item)).collect();
                    values.map(|values| values.concat())
                });
                add(&mut next, name, all);
            }
            for invocation in &walked.invocations {
                let reads = invocation
                    .name
                    .as_ref()
                    .is_some_and(|name| matches!(name.raw.as_str(), "read" | "printf" | "getopts"));
                for argument in invocation.arguments.iter().filter(|_| reads) {
                    add(&mut next, &argument.raw, None);
                }
            }
            next.entry("TMPDIR".to_owned()).or_insert_with(|| Some(vec!["/tmp".to_owned()]));
            variables.values = next;
        }
        variables
    }

    /// All that a word can be, if that is known. Patterns stay patterns.
    pub fn resolve(&self, argument: &Argument) -> Option<Vec<String>> {
        let mut results = vec![String::new()];
        for part in &argument.parts {
            let choices: Vec<String> = match part {
                Part::Text { text, bare: true } => braces(text)?,
                Part::Text { text, bare: false } => vec![text.clone()],
                Part::Variable(name) => self.values.get(name)?.clone()?,
                Part::Unknown => return None,
            };
            results =
                results.iter().flat_map(|left| choices.iter().map(move |right| format!("{left}{right}"))).collect();
            if results.len() > MAX_VALUES {
                return None;
            }
        }
        Some(results)
    }
}

fn add(values: &mut BTreeMap<String, Option<Vec<String>>>, name: &str, more: Option<Vec<String>>) {
    let entry = values.entry(name.to_owned()).or_insert_with(|| Some(Vec::new()));
    match (entry.as_mut(), more) {
        (Some(known), Some(more)) if known.len() + more.len() <= MAX_VALUES => known.extend(more),
        _ => *entry = None,
    }
}

/// `{a,b}` outside of quotes, one level of it.
fn braces(text: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = text.split_once('{') else { return Some(vec![text.to_owned()]) };
    let (inside, after) = rest.split_once('}')?;
    if inside.contains('{') || after.contains('{') || inside.contains("..") {
        return None;
    }
    if !inside.contains(',') {
        return Some(vec![text.to_owned()]);
    }
    Some(inside.split(',').map(|choice| format!("{before}{choice}{after}")).collect())
}
