//! Planning by a model: structured output, read strictly, with one turn to repair its form and no more.

mod answer;
pub mod prompt;
mod wrong;

use super::decide::{Decided, Planned, unsure};
use super::literal::Now;
use super::router::{Intent, Routed, Settings, route};
use super::{Index, refuse};
use crate::agent::{Agent, Spent};
use crate::records::router::Instruction;
use domain::{Fault, Kind};
use serde_json::Value;
use wrong::Wrong;

/// What a model made of an instruction, and what that has cost.
#[derive(Debug)]
pub struct Asked {
    pub decided: Result<Decided, Fault>,
    pub spent: Spent,
}

/// Routes by rules, and by `router` where the rules are not sure; then plans by `planner`. What is refused outright never
/// reaches a model.
pub async fn ask(
    planner: &Agent,
    router: Option<&Agent>,
    index: &Index,
    (text, hints): (&str, &[String]),
    settings: &Settings,
    now: Now,
) -> Asked {
    let mut spent = Spent::default();
    let decided = decide(planner, router, index, (text, hints), settings, now, &mut spent).await;
    Asked { decided, spent }
}

async fn decide(
    planner: &Agent,
    router: Option<&Agent>,
    index: &Index,
    (text, hints): (&str, &[String]),
    settings: &Settings,
    now: Now,
    spent: &mut Spent,
) -> Result<Decided, Fault> {
    let mut routed = route(index, text, hints, settings);
    if let Some(trouble) = refuse::outright(index, text, &Instruction::new(index, text)) {
        return Ok(Decided { routed, planned: Planned::Refuse(refuse::fault(&trouble)) });
    }
    if let Some(router) = router.filter(|_| routed.confidence < settings.write_threshold) {
        routed = second_opinion(router, index, (text, hints), routed, settings, spent).await?;
    }
    if let Some(question) = unsure(index, &routed, settings) {
        return Ok(Decided { routed, planned: Planned::Clarify(question) });
    }
    if routed.resources.is_empty() {
        let question = super::clarify::which_resource(&index.surface, &[]);
        return Ok(Decided { routed, planned: Planned::Clarify(question) });
    }
    let system = prompt::planning(&index.surface, &routed.resources, now.today());
    let read = |reply: &str| answer::planned(&index.surface, &routed.resources, reply);
    let planned = converse(planner, &system, text.to_owned(), answer::plan_schema(), read, spent).await?;
    Ok(Decided { planned: kept_to_intent(planned, &routed), routed })
}

/// A plan that writes is none for an instruction that reads: what the router has not looked at as a write is not one.
fn kept_to_intent(planned: Planned, routed: &Routed) -> Planned {
    match &planned {
        Planned::Plan { plan, .. } if routed.intent == Intent::Read && plan.step().is_some_and(|s| s.op().writes()) => {
            let message = "an instruction that reads was planned as one that writes";
            Planned::Refuse(
                Fault::new(Kind::NotUnderstood, "records.intent", message)
                    .hint("say it as a command to change something"),
            )
        }
        _ => planned,
    }
}

/// The small model's route. Where it agrees with the rules, both together are surer than one; where it does not, nobody is
/// sure.
async fn second_opinion(
    router: &Agent,
    index: &Index,
    (text, hints): (&str, &[String]),
    rules: Routed,
    settings: &Settings,
    spent: &mut Spent,
) -> Result<Routed, Fault> {
    let system = prompt::routing(&index.surface);
    let question = match hints {
        [] => text.to_owned(),
        _ => format!("{text}\n\nHints: {}", hints.join(", ")),
    };
    let schema = answer::route_schema(&index.surface);
    let read = |reply: &str| answer::routed(&index.surface, settings.resources_joined, reply);
    let model = converse(router, &system, question, schema, read, spent).await?;
    let agrees = model.intent == rules.intent && model.resources.first() == rules.resources.first();
    let confidence = match (agrees, rules.resources.is_empty()) {
        (true, _) => 1.0 - (1.0 - rules.confidence) * (1.0 - model.confidence),
        // The rules had nothing to say.
        (false, true) => model.confidence,
        (false, false) => rules.confidence.min(model.confidence),
    };
    // Whether something is written is what the words command; a model may only say that it is not a read.
    let intent = if rules.intent == Intent::Write { Intent::Write } else { model.intent };
    Ok(Routed { confidence, intent, ..model })
}

/// One question, and one more turn if the answer has not the form that was asked for.
async fn converse<T>(
    agent: &Agent,
    system: &[String],
    question: String,
    schema: Value,
    read: impl Fn(&str) -> Result<T, Wrong>,
    spent: &mut Spent,
) -> Result<T, Fault> {
    agent.structured(system, question, schema, read, spent).await?.map_err(|wrong| {
        tracing::warn!(wrong = wrong.without_values(), "a model's plan has not the form of a plan");
        Fault::new(Kind::NotUnderstood, "records.model_answer", "the model's plan could not be read")
            .hint("say it in other words")
    })
}
