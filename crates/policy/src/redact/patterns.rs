//! The rules, compiled.

use super::Sensitive;
use regex::{Regex, RegexBuilder};

/// A name of a machine, as anything that may stand where one stands.
const HOST: &str =
    r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*";
/// One that looks like a name that somebody gave: words and numbers with hyphens, or a word with a number after it.
const NAMED: &str = r"(?:[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|[A-Za-z]{2,}[0-9]{1,4})(?:\.[A-Za-z0-9-]+)*";
/// When a line was written, as the usual loggers say it: `Nov 12 03:14:07`, `Wed 2025-11-12 03:14:07 CET`, RFC 3339.
const TIME: &str = concat!(
    r"(?:(?:[A-Z][a-z]{2},? )?(?:(?:\p{L}{3,5}\.?|\d{1,2}月) {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2}),? (?:\d{4},? )?",
    r"\d\d:\d\d:\d\d(?:[.,]\d+)?(?: \d{4})?(?: [A-Z]{3,4})?",
    r"|(?:[A-Z][a-z]{2} )?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?: ?(?:Z|[A-Z]{3,4}|[+-]\d\d:?\d\d))?)"
);
/// A telephone number, however it is parted, where something says that it is one.
const DIGITS: &str = r"(?:\(?\+|\(|%2B)?[0-9](?:[ ()./-]{0,2}[0-9]){5,15}";
const USER: &str = r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*";
/// More than the rules need; a mistake in them is an error and not a full memory.
const MAX_BYTES: usize = 4 << 20;

pub(super) struct Rule {
    pub kind: Sensitive,
    /// Nothing but its shape says what it is.
    pub weak: bool,
    pub pattern: Regex,
}

pub(super) fn rules() -> Result<Vec<Rule>, regex::Error> {
    let lines = include_str!("rules.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(rule).collect()
}

fn rule(line: &str) -> Result<Rule, regex::Error> {
    let wrong = |what: &str| regex::Error::Syntax(format!("{what}: {line}"));
    let (kind, pattern) = line.split_once('\t').ok_or_else(|| wrong("no tab"))?;
    let weak = kind.ends_with('?');
    let kind = Sensitive::parse(kind.trim_end_matches('?')).ok_or_else(|| wrong("no such kind"))?;
    let pattern = pattern.replace("{HOST}", HOST).replace("{NAMED}", NAMED).replace("{USER}", USER);
    let pattern = pattern.replace("{TIME}", TIME).replace("{DIGITS}", DIGITS);
    let pattern = RegexBuilder::new(&pattern).size_limit(MAX_BYTES).build()?;
    Ok(Rule { kind, weak, pattern })
}

/// What stands for a value already.
pub(super) fn placeholder() -> Result<Regex, regex::Error> {
    Regex::new(r"<(?:EMAIL|PHONE|IP|MAC|HOST|TOKEN|USER)_([0-9]{1,9})>")
}

/// Words that may be a name that is known from elsewhere in the request.
pub(super) fn word() -> Result<Regex, regex::Error> {
    Regex::new(r"[A-Za-z0-9_][A-Za-z0-9_.-]*[A-Za-z0-9]")
}
