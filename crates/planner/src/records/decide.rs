//! A plan, one question, or a refusal.

use super::literal::Now;
use super::router::{Instruction, Intent, Ranked, Routed, Settings, rank, routed};
use super::{Index, Trouble, clarify, read, refuse, shown, write};
use domain::change::{ChangePlan, Step};
use domain::{Clarification, Fault};

/// What became of an instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Planned {
    Plan {
        /// The source that holds the resource.
        source: String,
        plan: Box<ChangePlan>,
        /// The instruction as it was understood.
        reading: String,
    },
    Clarify(Clarification),
    Refuse(Fault),
}

/// Where an instruction was sent, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub routed: Routed,
    pub planned: Planned,
}

/// Routes an instruction and plans it, all by rules.
pub fn decide(index: &Index, text: &str, hints: &[String], settings: &Settings, now: Now) -> Decided {
    let instruction = Instruction::new(index, text);
    let ranked = rank(index, &instruction, hints);
    let routed = routed(index, &instruction, &ranked, settings);
    let outright = refuse::outright(index, text, &instruction);
    let planned = match outright {
        Some(trouble) => Planned::Refuse(refuse::fault(&trouble)),
        None => match unsure(index, &routed, settings) {
            Some(question) => Planned::Clarify(question),
            None => plan_ranked(index, (text, &instruction), &ranked, &routed, now),
        },
    };
    Decided { routed, planned }
}

/// Plans an instruction for resources that somebody else has chosen.
pub fn plan(index: &Index, text: &str, routed: &Routed, now: Now) -> Planned {
    let instruction = Instruction::new(index, text);
    if let Some(trouble) = refuse::outright(index, text, &instruction) {
        return Planned::Refuse(refuse::fault(&trouble));
    }
    let place = |name: &String| index.surface.resources.iter().position(|r| r.name == *name);
    let chosen = |resource: usize| Ranked { resource, score: 1.0, words: Vec::new() };
    let ranked: Vec<Ranked> = routed.resources.iter().filter_map(place).map(chosen).collect();
    plan_ranked(index, (text, &instruction), &ranked, routed, now)
}

/// The question about a write whose route is not sure enough (spec 002 §3.2).
pub(crate) fn unsure(index: &Index, routed: &Routed, settings: &Settings) -> Option<Clarification> {
    let unsure = routed.intent == Intent::Write && routed.confidence < settings.write_threshold;
    unsure.then(|| clarify::which_resource(&index.surface, &routed.resources))
}

/// Evidence that is as good as equal.
const TIE: f64 = 0.25;

fn plan_ranked(
    index: &Index,
    (text, instruction): (&str, &Instruction),
    ranked: &[Ranked],
    routed: &Routed,
    now: Now,
) -> Planned {
    let candidates: Vec<&Ranked> =
        ranked.iter().filter(|r| r.score > 0.0).take(routed.resources.len().max(1)).collect();
    let Some(best) = candidates.first() else {
        let unexplained = unexplained(instruction);
        return if unexplained.is_empty() || routed.intent == Intent::Write {
            Planned::Clarify(clarify::which_resource(&index.surface, &[]))
        } else {
            Planned::Refuse(refuse::fault(&Trouble::Unknown(unexplained)))
        };
    };
    let mut first: Option<Trouble> = None;
    let mut found: Vec<(f64, Step)> = Vec::new();
    for ranked in &candidates {
        let about = Instruction::about(index, text, ranked.resource, routed.intent);
        let step = match routed.intent {
            Intent::Read => read::plan(index, ranked.resource, &about, now).map(Step::Read),
            Intent::Write => write::plan(index, ranked.resource, &about, now),
        };
        match step {
            Ok(step) => found.push((ranked.score, step)),
            Err(trouble) => {
                first.get_or_insert(trouble);
            }
        }
        // A write goes where the evidence is, or nowhere.
        if routed.intent == Intent::Write {
            break;
        }
    }
    match found.as_slice() {
        [] => trouble(index, first.unwrap_or(Trouble::WhichResource)),
        [(score, _), (next, _), ..] if score - next < TIE => {
            let names: Vec<String> = found.iter().map(|(_, step)| step.resource().to_owned()).collect();
            Planned::Clarify(clarify::which_resource(&index.surface, &names))
        }
        // Another resource than the likeliest may explain every word; it must not be a far-fetched one.
        [(score, step), ..] if best.score - score < 2.0 => planned(index, step.clone()),
        _ => trouble(index, first.unwrap_or(Trouble::WhichResource)),
    }
}

fn planned(index: &Index, step: Step) -> Planned {
    let source = index.surface.resource(step.resource()).map(|r| r.source.clone()).unwrap_or_default();
    let plan = ChangePlan::of(step);
    Planned::Plan { source, reading: shown::in_words(&plan), plan: Box::new(plan) }
}

fn trouble(index: &Index, trouble: Trouble) -> Planned {
    match clarify::question(index, &trouble) {
        Some(question) => Planned::Clarify(question),
        None => Planned::Refuse(refuse::fault(&trouble)),
    }
}

/// Words that no resource has and grammar does not need.
fn unexplained(instruction: &Instruction) -> Vec<String> {
    let command = |at: usize| instruction.commands.iter().any(|c| c.at == at);
    let spans = instruction.spans.iter().enumerate();
    let content =
        spans.filter(|(at, s)| s.senses.is_empty() && !command(*at) && !super::english::is_filler(&s.lower()));
    content.filter(|(_, s)| s.shape() != Some(super::words::Shape::Mark)).map(|(_, s)| s.text()).collect()
}
