//! The rule base: what is known about ailing devices, as data.

use crate::diagnostics::Diagnostics;
use crate::facts::{Fact, Facts, facts};
use crate::finding::{Finding, RunbookCall, Severity};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Lines that stand for a finding; more say nothing new.
const MAX_EVIDENCE: usize = 5;

/// One rule of `data/rules.yaml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: String,
    /// `{field}` stands for a field of the first fact that fits, or for what a pattern calls so: `(?<field>…)`.
    pub title: String,
    pub severity: Severity,
    pub confidence: f64,
    /// The kind of fact that it is about.
    pub over: String,
    /// What all of these fields must be.
    #[serde(default, rename = "where")]
    pub tests: BTreeMap<String, Test>,
    /// How many facts must fit.
    #[serde(default = "one")]
    pub count: usize,
    /// It is a finding if none fits, although somebody looked.
    #[serde(default)]
    pub none: bool,
    /// Not offered where one of its parameters can't be filled.
    #[serde(default)]
    pub runbook: Option<RunbookCall>,
}

fn one() -> usize {
    1
}

/// What a field must be.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Test {
    min: Option<f64>,
    max: Option<f64>,
    is: Option<Value>,
    not: Option<Value>,
    any: Vec<Value>,
    matches: Option<String>,
}

/// All rules, with their patterns compiled.
#[derive(Debug)]
pub struct RuleBase {
    rules: Vec<(Rule, BTreeMap<String, Regex>)>,
}

impl RuleBase {
    /// The rules that come with the house.
    pub fn built_in() -> Result<Self, String> {
        Self::parse(include_str!("../data/rules.yaml"))
    }

    pub fn parse(yaml: &str) -> Result<Self, String> {
        let rules: Vec<Rule> = serde_saphyr::from_str(yaml).map_err(|e| format!("the rules can't be read: {e}"))?;
        let compile = |rule: Rule| {
            let patterns = rule.tests.iter().filter_map(|(field, test)| Some((field.clone(), test.matches.clone()?)));
            let patterns = patterns.map(|(field, pattern)| Ok((field, Regex::new(&pattern)?)));
            let patterns: Result<_, regex::Error> = patterns.collect();
            patterns.map(|patterns| (rule.clone(), patterns)).map_err(|e| format!("rule `{}`: {e}", rule.id))
        };
        Ok(Self { rules: rules.into_iter().map(compile).collect::<Result<_, _>>()? })
    }

    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(rule, _)| rule)
    }

    /// What ails the device, the worst and surest first.
    pub fn analyse(&self, diagnostics: &Diagnostics) -> Vec<Finding> {
        let facts = facts(diagnostics);
        let mut found: Vec<Finding> =
            self.rules.iter().flat_map(|(rule, patterns)| find(rule, patterns, &facts)).collect();
        found.sort_by(|a, b| {
            (b.severity, b.confidence).partial_cmp(&(a.severity, a.confidence)).unwrap_or(std::cmp::Ordering::Equal)
        });
        found
    }
}

/// One finding a thing; lines of logs together make one.
fn find(rule: &Rule, patterns: &BTreeMap<String, Regex>, facts: &Facts) -> Vec<Finding> {
    let Some(kind) = facts.get(rule.over.as_str()) else { return Vec::new() };
    let fits =
        |fact: &&Fact| rule.tests.iter().all(|(name, test)| holds(test, patterns.get(name), fact.fields.get(name)));
    let fitting: Vec<&Fact> = kind.iter().filter(fits).collect();
    if rule.none {
        let nothing = Fact { fields: serde_json::Map::new(), line: String::new() };
        return if fitting.is_empty() { vec![finding(rule, &nothing, kind.iter().collect())] } else { Vec::new() };
    }
    match fitting.first() {
        Some(first) if fitting.len() >= rule.count && (rule.over == "log" || rule.count > 1) => {
            vec![finding(rule, &named(first, patterns), fitting.clone())]
        }
        Some(_) if fitting.len() >= rule.count => {
            fitting.iter().map(|fact| finding(rule, &named(fact, patterns), vec![fact])).collect()
        }
        _ => Vec::new(),
    }
}

/// With what the patterns name in it, as fields of their own.
fn named(fact: &Fact, patterns: &BTreeMap<String, Regex>) -> Fact {
    let mut fact = fact.clone();
    for (field, pattern) in patterns {
        let Some(text) = fact.fields.get(field).and_then(Value::as_str).map(str::to_owned) else { continue };
        let Some(captures) = pattern.captures(&text) else { continue };
        let found = pattern.capture_names().flatten().filter_map(|name| Some((name, captures.name(name)?)));
        fact.fields.extend(found.map(|(name, value)| (name.to_owned(), value.as_str().into())));
    }
    fact
}

fn finding(rule: &Rule, fact: &Fact, lines: Vec<&Fact>) -> Finding {
    let evidence = lines.iter().map(|fact| fact.line.clone()).filter(|line| !line.is_empty()).take(MAX_EVIDENCE);
    let runbook = rule.runbook.as_ref().map(|call| RunbookCall {
        id: call.id.clone(),
        parameters: call.parameters.iter().map(|(name, value)| (name.clone(), filled(value, fact))).collect(),
    });
    let runbook = runbook.filter(|call| !call.parameters.values().any(|value| value.contains('{')));
    Finding {
        id: rule.id.clone(),
        title: filled(&rule.title, fact),
        severity: rule.severity,
        confidence: rule.confidence,
        evidence: evidence.collect(),
        runbook,
    }
}

/// `{field}` replaced by what the fact says.
fn filled(text: &str, fact: &Fact) -> String {
    let mut result = text.to_owned();
    for (name, value) in &fact.fields {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        result = result.replace(&format!("{{{name}}}"), &shown);
    }
    result
}

fn holds(test: &Test, pattern: Option<&Regex>, value: Option<&Value>) -> bool {
    let Some(value) = value else { return false };
    let number = value.as_f64();
    let above = test.min.is_none_or(|min| number.is_some_and(|n| n >= min));
    let below = test.max.is_none_or(|max| number.is_some_and(|n| n <= max));
    let same = test.is.as_ref().is_none_or(|wanted| wanted == value);
    let other = test.not.as_ref().is_none_or(|unwanted| unwanted != value);
    let any = test.any.is_empty() || test.any.contains(value);
    let matches = pattern.is_none_or(|pattern| value.as_str().is_some_and(|text| pattern.is_match(text)));
    above && below && same && other && any && matches
}
