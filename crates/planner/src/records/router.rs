//! Which resources an instruction is about, and whether it writes: rules over the words of the contracts.
//!
//! Each resource collects evidence: its name, its fields, its values, ids that look like its own, and, for little, the
//! caller's hints. What it could not explain counts against it. How far the best is ahead, and what is left unexplained,
//! say how sure the route is.

use super::command::{Command, commands};
use super::confidence::{Signs, confidence};
use super::english::{Verb, is_preposition, verb};
use super::lexicon::Sense;
use super::spans::{Span, annotate};
use super::words::{Shape, is_uuid, words};
use super::{Index, keys};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Intent {
    Read,
    Write,
}

/// Spec 002 §3.2.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Routed {
    /// Most likely first.
    pub resources: Vec<String>,
    pub confidence: f64,
    pub reason: String,
    pub intent: Intent,
}

/// How many resources are handed on, and how sure a write must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub resources: usize,
    /// When the words imply a join.
    pub resources_joined: usize,
    pub write_threshold: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { resources: 2, resources_joined: 3, write_threshold: 0.80 }
    }
}

/// An instruction with what its words may mean.
pub(crate) struct Instruction {
    pub spans: Vec<Span>,
    pub commands: Vec<Command>,
}

impl Instruction {
    pub fn new(index: &Index, text: &str) -> Self {
        Self::over(index, text, &|_| true)
    }

    /// As it reads for one resource: in its words, and in those of what a read of it may join.
    pub fn about(index: &Index, text: &str, resource: usize, intent: Intent) -> Self {
        let of = index.surface.resources.get(resource);
        let joins = |r: usize| {
            let name = index.surface.resources.get(r).map(|r| r.name.as_str());
            of.is_some_and(|of| of.joins.iter().any(|j| Some(j.target.as_str()) == name))
        };
        let meant = |sense: &Sense| {
            let spoken = intent == Intent::Read || matches!(sense, Sense::Resource(_));
            sense.resource() == resource || (spoken && joins(sense.resource()))
        };
        Self::over(index, text, &meant)
    }

    fn over(index: &Index, text: &str, meant: &dyn Fn(&Sense) -> bool) -> Self {
        let spans = annotate(index, &words(text), meant);
        let commands = commands(&spans);
        Self { spans, commands }
    }

    /// Whether a span is nothing but a command: "find" finds no finding.
    pub fn is_command(&self, at: usize) -> bool {
        let said = self.spans.get(at).map(Span::lower).unwrap_or_default();
        self.commands.iter().any(|c| c.at == at) && (verb(&said).is_some() || said == "give")
    }

    pub fn intent(&self) -> Intent {
        if self.commands.iter().all(|c| c.verb == Verb::Read) { Intent::Read } else { Intent::Write }
    }
}

pub fn route(index: &Index, text: &str, hints: &[String], settings: &Settings) -> Routed {
    let instruction = Instruction::new(index, text);
    let ranked = rank(index, &instruction, hints);
    routed(index, &instruction, &ranked, settings)
}

/// A resource with the evidence for it.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub resource: usize,
    pub score: f64,
    /// The words that speak for it.
    pub words: Vec<String>,
}

/// All resources, most likely first.
pub(crate) fn rank(index: &Index, instruction: &Instruction, hints: &[String]) -> Vec<Ranked> {
    let mut all: Vec<Ranked> =
        (0..index.surface.resources.len()).map(|resource| Ranked { resource, score: 0.0, words: Vec::new() }).collect();
    let subject = subject_part(instruction);
    for (at, span) in instruction.spans.iter().enumerate().filter(|(at, _)| !instruction.is_command(*at)) {
        let weight = if subject.contains(&at) { 2.0 } else { 1.0 };
        for ranked in &mut all {
            let said = evidence(index, instruction, span, ranked.resource);
            ranked.score += if said > 0.0 { said * weight } else { said };
            // Literals are not told: reasons are logged and kept.
            let word =
                if span.senses.is_empty() { "the look of an id".to_owned() } else { format!("`{}`", span.lower()) };
            if said > 0.0 && !ranked.words.contains(&word) {
                ranked.words.push(word);
            }
        }
    }
    for ranked in &mut all {
        let name = index.surface.resources.get(ranked.resource).map(|r| r.name.as_str()).unwrap_or_default();
        if hints.iter().any(|hint| hint.eq_ignore_ascii_case(name)) {
            ranked.score += 0.7;
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.resource.cmp(&b.resource)));
    all
}

/// The spans of what is asked for or changed: from the command to the first preposition.
fn subject_part(instruction: &Instruction) -> std::ops::Range<usize> {
    let leads = instruction.commands.first().filter(|c| c.leads).map_or(0, |c| c.at + 1);
    let rest = instruction.spans.get(leads..).unwrap_or_default();
    let begins = rest.iter().position(|s| !s.senses.is_empty() || s.literal().is_some()).unwrap_or(0);
    let ends = |s: &Span| {
        s.senses.is_empty() && (is_preposition(&s.lower()) && s.lower() != "and" || s.shape() == Some(Shape::Mark))
    };
    let length = rest.get(begins..).unwrap_or_default().iter().position(ends).unwrap_or(rest.len());
    leads + begins..leads + begins + length
}

/// What one span says for or against a resource.
fn evidence(index: &Index, instruction: &Instruction, span: &Span, resource: usize) -> f64 {
    // "page 2" is a page of rows, whatever has pages.
    if span.lower() == "page" {
        return 0.0;
    }
    if let Some(literal) = span.literal().filter(|_| span.senses.is_empty()) {
        return if literal.shape == Shape::Id { identified(index, &literal.text, resource) } else { 0.0 };
    }
    let owners = |test: fn(&Sense) -> bool| {
        let mut owners: Vec<usize> = span.senses.iter().filter(|s| test(s)).map(Sense::resource).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    };
    let kinds = [
        (owners(|s| matches!(s, Sense::Resource(_))), 3.0),
        (owners(|s| matches!(s, Sense::Value { .. })), 1.5),
        (owners(|s| matches!(s, Sense::Field { .. })), 1.0),
    ];
    let for_it =
        kinds.iter().filter(|(owners, _)| owners.contains(&resource)).map(|(owners, w)| w / owners.len() as f64);
    let best = for_it.fold(0.0, f64::max);
    if best > 0.0 || span.senses.is_empty() {
        return best;
    }
    let joined = |target: usize| {
        let name = index.surface.resources.get(target).map(|r| r.name.as_str());
        let of = index.surface.resources.get(resource);
        of.is_some_and(|r| r.joins.iter().any(|j| Some(j.target.as_str()) == name))
    };
    let covered = match instruction.intent() {
        Intent::Read => span.senses.iter().any(|s| joined(s.resource())),
        Intent::Write => span.resources().any(joined),
    };
    if covered { 0.0 } else { -2.0 }
}

fn identified(index: &Index, id: &str, resource: usize) -> f64 {
    let Some(of) = index.surface.resources.get(resource) else { return 0.0 };
    if is_uuid(id) {
        let keyed = of.key_field().is_some_and(|f| f.kind == domain::FieldType::Uuid);
        return if keyed { 0.5 } else { -0.5 };
    }
    let Some(owner) = keys::owner(&index.surface, id) else { return 0.0 };
    let points = || {
        let target = index.surface.resources.get(owner)?;
        of.pointer_to(&target.name, target.key.first()?)
    };
    if owner == resource {
        2.0
    } else if points().is_some() {
        0.5
    } else {
        -1.0
    }
}

pub(crate) fn routed(index: &Index, instruction: &Instruction, ranked: &[Ranked], settings: &Settings) -> Routed {
    let intent = instruction.intent();
    let name = |r: &Ranked| index.surface.resources.get(r.resource).map(|r| r.name.clone()).unwrap_or_default();
    let best = ranked.first().filter(|r| r.score > 0.0);
    let joined = best.map(|best| joined_by(index, instruction, best.resource)).unwrap_or_default();
    let joins = intent == Intent::Read && !joined.is_empty();
    let most = if joins { settings.resources_joined } else { settings.resources };
    // The best, what it must join, and whatever else there is evidence for.
    let needed = |r: &&Ranked| joins && joined.contains(&r.resource);
    let likely = |r: &&Ranked| r.score > 0.0;
    let ordered = best.into_iter().chain(ranked.iter().filter(needed)).chain(ranked.iter().filter(likely));
    let mut resources: Vec<String> = Vec::new();
    for resource in ordered.map(name) {
        if resources.len() < most && !resources.contains(&resource) {
            resources.push(resource);
        }
    }
    let signs = signs_of(instruction, ranked);
    let reason = match best {
        Some(best) => format!("`{}` for {}", name(best), best.words.join(", ")),
        None => "no words of any resource".to_owned(),
    };
    Routed { resources, confidence: confidence(&signs), reason, intent }
}

/// The resources that the best one must join: something is asked for that only they have.
fn joined_by(index: &Index, instruction: &Instruction, best: usize) -> Vec<usize> {
    let Some(of) = index.surface.resources.get(best) else { return Vec::new() };
    let target = |r: usize| index.surface.resources.get(r).is_some_and(|t| of.joins.iter().any(|j| j.target == t.name));
    let own = |s: &Span| s.senses.iter().any(|sense| sense.resource() == best);
    let foreign = instruction.spans.iter().filter(|s| !own(s)).flat_map(|s| s.senses.iter().map(Sense::resource));
    foreign.filter(|r| target(*r)).collect()
}

/// What the confidence of a route is reckoned from.
pub fn signs(index: &Index, text: &str, hints: &[String]) -> Signs {
    let instruction = Instruction::new(index, text);
    signs_of(&instruction, &rank(index, &instruction, hints))
}

fn signs_of(instruction: &Instruction, ranked: &[Ranked]) -> Signs {
    let score = |at: usize| ranked.get(at).map_or(0.0, |r| r.score.max(0.0));
    let has_id = instruction.spans.iter().any(|s| s.shape() == Some(Shape::Id));
    let rowless = instruction.intent() == Intent::Write && !has_id;
    Signs { best: score(0), margin: score(0) - score(1), rowless }
}
