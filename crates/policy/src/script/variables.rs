//! What variables can hold, as far as a script itself says: all values that it gives them anywhere.

use super::addresses;
use super::walk::{Invocation, Walked};
use super::words::{Argument, Part};
use std::collections::{BTreeMap, BTreeSet};

/// What makes a file or a directory of its own in /tmp.
const MADE: [&str; 2] = ["$(mktemp)", "$(mktemp -d)"];
/// What the shell sets by itself, whatever a script has set it to.
const OF_THE_SHELL: &str = "\
    _ REPLY MAPFILE PWD OLDPWD OPTARG OPTIND RANDOM SRANDOM SECONDS LINENO PPID UID EUID GROUPS HOSTNAME HOSTTYPE \
    MACHTYPE OSTYPE SHLVL COLUMNS LINES DIRSTACK FUNCNAME PIPESTATUS EPOCHSECONDS EPOCHREALTIME HISTCMD";
/// Values of one word, at most.
const MAX_VALUES: usize = 32;

#[derive(Debug, Default)]
pub struct Variables {
    /// `None` for one that may hold anything.
    values: BTreeMap<String, Option<Vec<String>>>,
    /// Those that hold names of files as a pattern finds them.
    found: BTreeSet<String>,
    /// Those that hold an address that the device itself uses.
    addresses: BTreeSet<String>,
    /// Whether `$1` and the like are always written out where functions are called.
    plain_calls: bool,
    /// Whether the script says itself what parts words: `IFS`.
    own_separator: bool,
}

impl Variables {
    /// `given` is the manifest's environment.
    pub fn of(walked: &Walked, given: &BTreeMap<String, String>) -> Self {
        let assigned = || walked.invocations.iter().flat_map(|invocation| &invocation.assignments);
        let late: BTreeSet<String> = walked
            .invocations
            .iter()
            .flat_map(set_late)
            .chain(walked.set.iter().cloned())
            .chain(OF_THE_SHELL.split(' ').map(str::to_owned))
            .collect();
        let looped = walked.loops.iter().map(|(name, _)| name);
        let own_separator = assigned().map(|(name, _)| name).chain(&late).chain(looped).any(|name| name == "IFS");
        let mut variables = Self { own_separator, ..Self::default() };
        variables.values.insert("TMPDIR".to_owned(), Some(vec!["/tmp".to_owned()]));
        // Twice: a value may name a variable that is set further down.
        for _ in 0..2 {
            let mut next: BTreeMap<String, Option<Vec<String>>> =
                given.iter().map(|(name, value)| (name.clone(), Some(vec![value.clone()]))).collect();
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
            late.iter().for_each(|name| add(&mut next, name, None));
            next.entry("TMPDIR".to_owned()).or_insert_with(|| Some(vec!["/tmp".to_owned()]));
            variables.values = next;
            variables.found = variables.found_by(walked);
        }
        let other = |name: &str| late.contains(name) || walked.loops.iter().any(|(looped, _)| looped == name);
        let is_address = |value: &Option<Argument>| value.as_ref().is_some_and(|value| addresses::is_own(&value.raw));
        let all = |name: &str| assigned().filter(|(set, _)| set == name).all(|(_, value)| is_address(value));
        let names = assigned().map(|(name, _)| name).filter(|name| all(name) && !other(name));
        variables.addresses = names.filter(|name| !given.contains_key(*name)).cloned().collect();
        variables.plain_calls = variables.calls_are_plain(walked);
        variables
    }

    /// Those that hold names of files as a pattern finds them.
    fn found_by(&self, walked: &Walked) -> BTreeSet<String> {
        let finds = |word: &Argument| word.has_wildcard() || self.is_found(word);
        let looped = walked.loops.iter().filter(|(_, items)| items.iter().flatten().any(finds)).map(|(name, _)| name);
        let assigned = walked.invocations.iter().flat_map(|invocation| &invocation.assignments);
        let passed_on = assigned.filter(|(_, value)| value.as_ref().is_some_and(|value| self.is_found(value)));
        looped.chain(passed_on.map(|(name, _)| name)).cloned().collect()
    }

    /// Whether a word is made of names of files that a pattern finds.
    pub fn is_found(&self, argument: &Argument) -> bool {
        let (bare, found) = (argument.splits && self.pattern_in(argument), |name: &String| self.found.contains(name));
        bare || argument.parts.iter().any(|part| matches!(part, Part::Variable(name) if found(name)))
    }

    /// Whether a word may be told to other machines: it is written out, or is an address that the device uses anyway.
    pub fn may_be_told(&self, argument: &Argument) -> bool {
        let own = match argument.parts.as_slice() {
            [Part::Variable(name)] => self.addresses.contains(name),
            [Part::Unknown] => {
                let raw = argument.raw.trim_matches('"');
                let parameter = raw.len() == 2 && raw.starts_with('$') && raw.ends_with(|c: char| c.is_ascii_digit());
                addresses::is_own(&argument.raw) || (parameter && self.plain_calls)
            }
            _ => false,
        };
        let file = argument.has_wildcard() && !argument.raw.contains("://");
        own || (self.resolve(argument).is_some() && !file && !self.is_found(argument))
    }

    /// Nothing else may set `$1` then.
    fn calls_are_plain(&self, walked: &Walked) -> bool {
        let function = |name: &str| walked.functions.iter().any(|(_, function)| function == name);
        let calls = walked.invocations.iter().filter_map(|call| Some((call.name.as_ref()?.raw.as_str(), call)));
        let mut calls = calls.filter(|(name, _)| function(name) || matches!(*name, "set" | "shift"));
        let plain = |word: &Argument| !word.splits && !word.has_pattern() && self.may_be_told(word);
        calls.all(|(name, call)| name != "shift" && call.arguments.iter().all(plain))
    }

    /// Outside of quotes a value is a pattern too.
    fn pattern_in(&self, argument: &Argument) -> bool {
        self.resolve(argument).is_none_or(|values| values.iter().any(|value| value.contains(['*', '?', '['])))
    }

    /// The words that one word becomes where a loop goes through them: outside of quotes a value is split.
    fn words(&self, argument: &Argument) -> Option<Vec<String>> {
        let values = self.resolve(argument)?;
        if !argument.splits {
            return Some(values);
        }
        Some(values.iter().flat_map(|value| value.split_whitespace()).map(str::to_owned).collect())
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

/// Variables that a command sets to what is only known when it runs, or in a way that the syntax does not show.
fn set_late(invocation: &Invocation) -> Vec<String> {
    let name = invocation.name.as_ref().map(|name| name.raw.as_str()).unwrap_or_default();
    let reads = matches!(name, "read" | "getopts" | "mapfile" | "readarray");
    let declares = matches!(name, "declare" | "typeset" | "export" | "local" | "readonly");
    let words = invocation.arguments.iter().filter(|_| reads || declares);
    let named = words.filter_map(|word| {
        let text = word.prefix();
        // `-aNAME` is an option and a name in one.
        let text = match text.strip_prefix('-') {
            Some(option) => option.split_once('a').map_or("", |(_, name)| name).to_owned(),
            None => text,
        };
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
        let (stem, rest) = text.split_at_checked(end)?;
        // `declare NAME` gives it no value; what the syntax shows as an assignment is read as one.
        let written = word.raw.starts_with(&format!("{stem}=")) || word.raw.starts_with(&format!("{stem}+="));
        let assigned = written && invocation.assignments.iter().any(|(name, _)| name == stem);
        let shown = declares && (rest.is_empty() || assigned);
        (!stem.is_empty() && !shown).then(|| stem.to_owned())
    });
    named.collect()
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

/// `1..3`, `01..10`, `a..f`, each with a step that is not looked at: more than there are, never fewer.
fn row(inside: &str) -> Option<Vec<String>> {
    let (first, rest) = inside.split_once("..")?;
    let last = rest.split("..").next().unwrap_or_default();
    if let (Ok(from), Ok(to)) = (first.parse::<i32>(), last.parse::<i32>()) {
        let padded = [first, last].iter().any(|end| end.len() > 1 && end.trim_start_matches('-').starts_with('0'));
        let width = if padded { first.len().max(last.len()) } else { 0 };
        let row = from.min(to)..=from.max(to);
        return Some(row.take(MAX_VALUES + 1).map(|n| format!("{n:0width$}")).collect());
    }
    let one = |end: &str| Some(end.chars().next()?).filter(|_| end.chars().count() == 1);
    let (from, to) = (one(first)?, one(last)?);
    Some((from.min(to)..=from.max(to)).take(MAX_VALUES + 1).map(String::from).collect())
}

/// What stands between commas that are in no other brackets, or a row.
fn alternatives(inside: &str) -> Option<Vec<String>> {
    if let Some(row) = row(inside) {
        return Some(row);
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
