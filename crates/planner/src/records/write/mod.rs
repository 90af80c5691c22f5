//! Writes: from the words of an instruction to one INSERT or UPDATE step.
//!
//! As with reads, every word must be explained: it names the row, a field, a value, or is mere grammar.

mod assign;
mod insert;
mod row;
mod update;

use super::english::{Verb, is_bulk};
use super::router::Instruction;
use super::spans::Span;
use super::words::Shape;
use super::{Index, Now, Trouble, keys};
use domain::change::Step;

pub(crate) fn plan(index: &Index, subject: usize, instruction: &Instruction, now: Now) -> Result<Step, Trouble> {
    match instruction.commands.iter().map(|c| c.verb).find(|v| *v != Verb::Read) {
        Some(Verb::Insert) => insert::plan(index, subject, instruction, now).map(Step::Insert),
        Some(Verb::Update | Verb::Remove) => update::plan(index, subject, instruction, now).map(Step::Update),
        _ => Err(Trouble::Delete),
    }
}

/// What no write may be, whatever it is about.
pub(crate) fn forbidden(index: &Index, instruction: &Instruction) -> Option<Trouble> {
    let commands: Vec<Verb> = instruction.commands.iter().map(|c| c.verb).filter(|v| *v != Verb::Read).collect();
    let spans = &instruction.spans;
    let plain = |s: &&Span| s.senses.is_empty() && s.literal().is_none();
    if commands.contains(&Verb::Delete) || is_removal_of_row(instruction) {
        return Some(Trouble::Delete);
    }
    if let Some(command) = instruction.commands.iter().find(|c| c.verb == Verb::Other) {
        let said = spans.get(command.at).map(Span::text).unwrap_or_default();
        return Some(Trouble::Unknown(vec![said]));
    }
    if commands.contains(&Verb::Reckon) {
        return Some(Trouble::Unsaid("a value that is reckoned from the old one".to_owned()));
    }
    if spans.iter().filter(plain).any(|s| ["if", "unless", "whenever"].contains(&s.lower().as_str())) {
        return Some(Trouble::Unsaid("a change under a condition".to_owned()));
    }
    if commands.len() > 1 || spans.iter().any(|s| s.is_mark(";")) {
        return Some(Trouble::Several);
    }
    let update = commands.first() != Some(&Verb::Insert);
    let bulk = spans.iter().filter(plain).any(|s| is_bulk(&s.lower()));
    let plural =
        update && row_ids(index, spans) == 0 && spans.iter().any(|s| s.resources().next().is_some() && s.is_plural());
    (bulk || plural || (update && row_ids(index, spans) > 1)).then_some(Trouble::Bulk)
}

/// "remove case_12": the row itself, not a value of it.
fn is_removal_of_row(instruction: &Instruction) -> bool {
    let Some(command) = instruction.commands.iter().find(|c| c.verb == Verb::Remove) else { return false };
    let rest = instruction.spans.get(command.at + 1..).unwrap_or_default();
    let mut things = rest.iter().filter(|s| !s.senses.is_empty() || s.shape() == Some(Shape::Id));
    things.next().is_some_and(|s| s.senses.is_empty() || s.resources().next().is_some())
}

/// Ids that name rows by their look.
fn row_ids(index: &Index, spans: &[Span]) -> usize {
    let ids = spans.iter().filter_map(Span::literal).filter(|w| w.shape == Shape::Id);
    let mut rows: Vec<&str> = ids
        .filter(|w| keys::owner(&index.surface, &w.text).is_some() || super::words::is_uuid(&w.text))
        .map(|w| w.text.as_str())
        .collect();
    rows.sort_unstable();
    rows.dedup();
    rows.len()
}
