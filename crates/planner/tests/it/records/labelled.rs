//! The labelled file, in two halves.

use domain::ChangePlan;
use planner::records::{Index, Intent, Planned, in_words};

const FILE: &str = include_str!("instructions.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// What the rules and weights were tuned on.
    Tuned,
    /// What the figures are told of.
    Held,
}

#[derive(Debug)]
pub struct Labelled {
    pub kind: &'static str,
    /// The right resources, and none where nothing says which.
    pub resources: Vec<&'static str>,
    pub intent: Intent,
    pub text: &'static str,
    pub expected: &'static str,
    pub half: Half,
}

pub fn all() -> Vec<Labelled> {
    let mut lines = FILE.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let mut parts = line.splitn(3, " | ");
        let (kind, route, text) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let (resources, intent) = route.split_once(' ').unwrap();
        let expected =
            lines.next().and_then(|l| l.trim().strip_prefix("= ")).unwrap_or_else(|| panic!("{text}: no label"));
        found.push(Labelled {
            kind,
            resources: resources.split('+').filter(|r| *r != "-").collect(),
            intent: if intent == "READ" { Intent::Read } else { Intent::Write },
            text,
            expected,
            half: half(text),
        });
    }
    found
}

/// By a hash of the instruction, so that nobody chooses.
fn half(text: &str) -> Half {
    let first = u8::from_str_radix(domain::sha256_hex(text.as_bytes()).get(..2).unwrap(), 16).unwrap();
    if first % 2 == 0 { Half::Tuned } else { Half::Held }
}

/// What became of an instruction, in the notation of the file.
pub fn outcome(index: &Index, planned: &Planned) -> String {
    match planned {
        Planned::Plan { plan, .. } => notation(index, plan),
        Planned::Clarify(asked) => format!("ask {}", asked.question),
        Planned::Refuse(fault) => format!("refuse {}: {}", fault.code, fault.message),
    }
}

/// A plan without what is the default.
fn notation(index: &Index, plan: &ChangePlan) -> String {
    let mut text = in_words(plan);
    if let Some(domain::change::Step::Read(read)) = plan.step() {
        let resource = index.surface().resource(&read.resource).unwrap();
        if read.select == resource.shown() {
            text = text.replacen(&format!(" [{}]", read.select.join(", ")), "", 1);
        }
        if read.limit == resource.limits.max_rows {
            text = text.replacen(&format!(" limit {}", read.limit), "", 1);
        }
    }
    text
}

/// Whether an outcome is the one that the label says.
pub fn is_right(expected: &str, outcome: &str) -> bool {
    match expected.split_once(' ').unwrap_or((expected, "")) {
        ("ask", word) => outcome.starts_with("ask ") && outcome.to_lowercase().contains(word),
        ("refuse", _) => outcome.starts_with("refuse "),
        _ => canonical(expected) == canonical(outcome),
    }
}

/// Without spaces, and with conditions in a fixed order.
fn canonical(text: &str) -> String {
    let text: String = text.replace(", ", ",");
    let Some((head, rest)) = text.split_once(" where ") else { return text };
    let end = [" set ", " order ", " limit ", " offset "]
        .iter()
        .filter_map(|word| rest.find(word))
        .min()
        .unwrap_or(rest.len());
    let (conditions, tail) = rest.split_at(end);
    let mut conditions: Vec<&str> = conditions.split(" and ").collect();
    conditions.sort_unstable();
    format!("{head} where {}{tail}", conditions.join(" and "))
}
