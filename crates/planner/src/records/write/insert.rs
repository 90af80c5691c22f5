//! "record an outbound welcome email for case_987": a new row.

use super::assign::Assigner;
use crate::records::english::is_filler;
use crate::records::keys;
use crate::records::literal::Taken;
use crate::records::moments;
use crate::records::router::Instruction;
use crate::records::spans::Span;
use crate::records::surface::Field;
use crate::records::words::{Shape, Word, is_uuid};
use crate::records::{Index, Now, Trouble};
use domain::change::InsertStep;
use serde_json::{Value, json};

pub(super) fn plan(index: &Index, subject: usize, instruction: &Instruction, now: Now) -> Result<InsertStep, Trouble> {
    let mut assigner = Assigner::new(index, subject, &instruction.spans, now)?;
    for command in &instruction.commands {
        assigner.mark(command.at..command.at + 1);
    }
    ids(index, &mut assigner)?;
    assigner.walk()?;
    title(&mut assigner, instruction)?;
    moment(&mut assigner)?;
    let resource = assigner.resource;
    let unknown = assigner.unknown();
    if !unknown.is_empty() {
        return Err(Trouble::Unknown(unknown));
    }
    let required = |f: &&Field| !f.nullable && !f.generated && f.writable;
    let missing = resource.fields.iter().filter(required).filter(|f| !assigner.values.contains_key(&f.name));
    let mut fields: Vec<String> = missing.map(|f| f.name.clone()).collect();
    fields.extend(assigner.open.iter().filter(|f| !fields.contains(f)).cloned().collect::<Vec<_>>());
    if !fields.is_empty() {
        return Err(Trouble::Missing { resource: resource.name.clone(), fields });
    }
    Ok(InsertStep { resource: resource.name.clone(), values: assigner.values })
}

/// Ids of what the new row belongs to, and the number that people give it.
fn ids(index: &Index, assigner: &mut Assigner<'_>) -> Result<(), Trouble> {
    for at in 0..assigner.spans.len() {
        let Some(literal) = assigner.span(at).and_then(Span::literal).filter(|w| w.shape == Shape::Id) else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|b| assigner.span(b));
        let assigned = at.checked_sub(1).is_some_and(|b| assigner.plain(b) == "=");
        let of_field = |b: &Span| b.field_of(assigner.subject).is_some() && !b.names_resource(assigner.subject);
        if before.is_some_and(of_field) || assigned {
            continue;
        }
        let named = before.is_some_and(|b| b.names_resource(assigner.subject));
        let field = match keys::owner(&index.surface, &literal.text) {
            Some(owner) => index
                .surface
                .resources
                .get(owner)
                .and_then(|target| assigner.resource.pointer_to(&target.name, target.key.first()?)),
            None if named && !is_uuid(&literal.text) => match assigner.resource.natural_key.as_slice() {
                [only] => assigner.resource.field(only),
                _ => None,
            },
            None => None,
        };
        if let Some(field) = field {
            assigner.assign_from(&field.name, at)?;
            if before.is_some_and(|b| b.resources().next().is_some()) {
                assigner.mark(at - 1..at);
            }
        }
    }
    Ok(())
}

/// What the new row is called: a text in quotes, or the words before what it is ("welcome email").
fn title(assigner: &mut Assigner<'_>, instruction: &Instruction) -> Result<(), Trouble> {
    let Some(field) = assigner.resource.title_field().filter(|f| !assigner.values.contains_key(&f.name)) else {
        return Ok(());
    };
    let quoted =
        |at: &usize| !assigner.is_done(*at) && assigner.span(*at).is_some_and(|s| s.shape() == Some(Shape::Quoted));
    if let Some(at) = (0..assigner.spans.len()).find(quoted) {
        let lead = at.checked_sub(1).filter(|b| {
            ["about", "titled", "called", "named", "saying", "entitled", "regarding"]
                .contains(&assigner.plain(*b).as_str())
        });
        assigner.mark(lead.unwrap_or(at)..at);
        assigner.assign_from(&field.name, at)?;
        return Ok(());
    }
    let begins = instruction.commands.first().map_or(0, |c| c.at + 1);
    let mut said: Vec<(usize, String)> = Vec::new();
    for at in begins..assigner.spans.len() {
        let Some(span) = assigner.span(at) else { break };
        let lower = span.lower();
        let word = span.only().is_some_and(|w| w.shape == Shape::Word) && span.senses.is_empty();
        let noun = span.values_of(assigner.subject).next().is_some() || span.names_resource(assigner.subject);
        if !word && !noun {
            break;
        }
        if word && !is_filler(&lower) {
            said.push((at, span.text()));
        }
        // What comes behind the thing is no part of its name.
        let last = assigner.span(at + 1).is_none_or(|s| s.senses.is_empty() && is_filler(&s.lower()));
        if noun && !said.is_empty() && last {
            let text = said.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ");
            said.iter().for_each(|(at, _)| assigner.mark(*at..at + 1));
            return assigner.assign(field, json!(capitalised(&text)));
        }
    }
    Ok(())
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// A time that no field was named for is when it happened.
fn moment(assigner: &mut Assigner<'_>) -> Result<(), Trouble> {
    let Some(field) = assigner.resource.moment_field().filter(|f| f.writable) else { return Ok(()) };
    for at in 0..assigner.spans.len() {
        if assigner.is_done(at) || assigner.values.contains_key(&field.name) {
            continue;
        }
        let words: Vec<Word> = assigner.spans.iter().skip(at).take(6).flat_map(|s| s.words.clone()).collect();
        if let Some((day, taken)) = moments::day(&words, assigner.now.today()) {
            let taken = crate::records::literal::spans_of(assigner.spans.get(at..).unwrap_or_default(), taken);
            assigner.mark(at..at + taken);
            assigner.assign(field, Value::String(day.to_string()))?;
        } else if assigner.plain(at) == "now"
            && let Taken::Value(value, 1) = crate::records::literal::take(
                field,
                (assigner.subject, 0),
                assigner.spans.get(at..).unwrap_or_default(),
                assigner.now,
            )
        {
            assigner.mark(at..at + 1);
            assigner.assign(field, value)?;
        }
    }
    Ok(())
}
