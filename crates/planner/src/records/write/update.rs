//! "mark case_987 as IN_REVIEW": new values for one row.

use super::assign::Assigner;
use super::row;
use crate::records::english::Verb;
use crate::records::router::Instruction;
use crate::records::{Index, Now, Trouble};
use domain::change::{FilterOperator, Predicate, UpdateStep};

pub(super) fn plan(index: &Index, subject: usize, instruction: &Instruction, now: Now) -> Result<UpdateStep, Trouble> {
    let row = row::find(index, subject, &instruction.spans, now)?;
    let mut assigner = Assigner::new(index, subject, &instruction.spans, now)?;
    assigner.mark(row.spans.clone());
    verbs(&mut assigner, instruction)?;
    assigner.walk()?;
    let resource = assigner.resource;
    let unknown = assigner.unknown();
    if !unknown.is_empty() {
        return Err(Trouble::Unknown(unknown));
    }
    if let Some(field) = assigner.open.first() {
        let field = field.clone();
        return Err(Trouble::WhichValue { resource: resource.name.clone(), field, text: None });
    }
    if assigner.values.is_empty() {
        return Err(Trouble::NothingToChange { resource: resource.name.clone() });
    }
    let key = resource.key.first().cloned().unwrap_or_default();
    let filter = vec![Predicate::new(key, FilterOperator::Equal, row.key)];
    Ok(UpdateStep { resource: resource.name.clone(), filter, update: assigner.values, limit: 1 })
}

/// What the commands themselves say: "close" is a value, "assign" a field, "rename" a title.
fn verbs(assigner: &mut Assigner<'_>, instruction: &Instruction) -> Result<(), Trouble> {
    for command in &instruction.commands {
        let Some(span) = assigner.span(command.at) else { continue };
        assigner.clears |= command.verb == Verb::Remove;
        let word = span.lower();
        // A value said as a command stays a value: the walk finds it.
        if span.senses.is_empty() || crate::records::english::verb(&word).is_some() && command.leads {
            assigner.mark(command.at..command.at + 1);
        }
        let field = match word.as_str() {
            "rename" => assigner.resource.title_field(),
            _ => assigner.field_of_verb(&word),
        };
        let Some(field) = field else { continue };
        let rest = command.at + 1..assigner.spans.len();
        let to = rest.clone().find(|at| assigner.plain(*at) == "to");
        match to {
            Some(to) => assigner.assign_from(&field.name, to + 1)?,
            None => assigner.open.push(field.name.clone()),
        }
    }
    Ok(())
}
