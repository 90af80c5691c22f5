//! What variables can hold, as far as a script itself says: all values that it gives them anywhere.

use super::walk::Walked;
use super::words::{Argument, Part};
use std::collections::{BTreeMap, BTreeSet};

/// What makes a file or a directory of its own in /tmp.
const MADE: [&str; 2] = ["$(mktemp)", "$(mktemp -d)"];
/// Values of one word, at most.
const MAX_VALUES: usize = 32;

#[derive(Debug, Default)]
pub struct Variables {
    /// `None` for one that may hold anything.
    values: BTreeMap<String, Option<Vec<String>>>,
    /// Those that are set to text together with what was read.
    composed: BTreeSet<String>,
    /// Whether the script says itself what parts words: `IFS`.
    own_separator: bool,
}

impl Variables {
    pub fn of(walked: &Walked) -> Self {
        let assigned = || walked.invocations.iter().flat_map(|invocation| &invocation.assignments);
        let mut variables = Self { own_separator: assigned().any(|(name, _)| name == "IFS"), ..Self::default() };
        variables.values.insert("TMPDIR".to_owned(), Some(vec!["/tmp".to_owned()]));
        // Twice: a value may name a variable that is set further down.
        for _ in 0..2 {
            let mut next: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
            for (name, value) in assigned() {
                let made = value.as_ref().filter(|value| MADE.contains(&value.raw.trim_matches('"')));
                let made = made.map(|_| vec!["/tmp/tmp.made".to_owned()]);
                add(&mut next, name, made.or_else(|| value.as_ref().and_then(|value| variables.resolve(value))));
            }
            for (name, items) in &walked.loops {
                let all = items.as_ref().and_then(|items| {
                    let values: Option<Vec<Vec<String>>> = items.iter().map(|item| variables.words(item)).collect();
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
            let composed = assigned().filter(|(_, value)| value.as_ref().is_none_or(|v| variables.is_composed(v)));
            variables.composed = composed.map(|(name, _)| name.clone()).collect();
        }
        variables
    }

    /// The words that one word becomes where a loop goes through them: outside of quotes a value is split.
    fn words(&self, argument: &Argument) -> Option<Vec<String>> {
        let values = self.resolve(argument)?;
        if !argument.splits {
            return Some(values);
        }
        Some(values.iter().flat_map(|value| value.split_whitespace()).map(str::to_owned).collect())
    }

    /// Whether a word holds something that was read and put together with other text: `"$(cat x).example.org"`.
    pub fn is_composed(&self, argument: &Argument) -> bool {
        let text = argument.parts.iter().any(|part| matches!(part, Part::Text { text, .. } if !text.is_empty()));
        let composed = |name: &String| self.composed.contains(name);
        let inside = argument.parts.iter().any(|part| matches!(part, Part::Variable(name) if composed(name)));
        self.resolve(argument).is_none() && (text || argument.parts.len() > 1 || inside)
    }

    /// All that a word can be, if that is known. Patterns stay patterns.
    pub fn resolve(&self, argument: &Argument) -> Option<Vec<String>> {
        // Where it is split by other signs than spaces, nobody knows what it becomes.
        if argument.splits && self.own_separator && argument.literal().is_none() {
            return None;
        }
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

/// `{a,b}` and `{1..3}` outside of quotes, within each other too. None where they are more than anybody means.
pub fn braces(text: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = text.split_once('{') else { return Some(vec![text.to_owned()]) };
    let Some(end) = matching(rest) else { return Some(vec![text.to_owned()]) };
    let (inside, after) = (rest.get(..end)?, rest.get(end + 1..)?);
    let tails = braces(after)?;
    let choices: Vec<String> = match alternatives(inside) {
        Some(parts) => parts.iter().map(|part| braces(part)).collect::<Option<Vec<_>>>()?.concat(),
        None => braces(inside)?.into_iter().map(|inside| format!("{{{inside}}}")).collect(),
    };
    let all = choices.iter().flat_map(|choice| tails.iter().map(move |tail| format!("{before}{choice}{tail}")));
    let all: Vec<String> = all.take(MAX_VALUES + 1).collect();
    (all.len() <= MAX_VALUES).then_some(all)
}

/// Where the bracket that is open ends.
fn matching(rest: &str) -> Option<usize> {
    let mut open = 1_usize;
    rest.char_indices().find_map(|(at, c)| {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        (open == 0).then_some(at)
    })
}

/// What stands between commas that are in no other brackets, or a row of numbers.
fn alternatives(inside: &str) -> Option<Vec<String>> {
    if let Some((first, last)) = inside.split_once("..")
        && let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>())
    {
        let row = first.min(last)..=first.max(last);
        return Some(row.take(MAX_VALUES + 1).map(|n| n.to_string()).collect());
    }
    let mut parts = vec![String::new()];
    let mut open = 0_usize;
    for c in inside.chars() {
        match c {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            Some(_) if c == ',' && open == 0 => parts.push(String::new()),
            Some(part) => part.push(c),
            None => {}
        }
    }
    (parts.len() > 1).then_some(parts)
}
