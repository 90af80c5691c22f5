//! The one question that is asked back.

use super::surface::{Field, Surface};
use super::{Index, Trouble};
use domain::Clarification;

/// The question about a trouble, if a question helps.
pub(crate) fn question(index: &Index, trouble: &Trouble) -> Option<Clarification> {
    let surface = &index.surface;
    let asked = match trouble {
        Trouble::WhichResource => which_resource(surface, &[]),
        Trouble::WhichRow { resource } => {
            let of = surface.resource(resource)?;
            ask(format!("Which row of `{resource}` is meant: what is its `{}`?", of.key.join("`, `")), &[])
        }
        Trouble::WhichField { text, fields } => ask(format!("Which field is `{text}` meant for?"), fields),
        Trouble::WhichValue { resource, field, text } => {
            which_value(surface.resource(resource)?.field(field)?, text.as_deref())
        }
        Trouble::Unfit { field, text } => {
            let known = surface.resources.iter().find_map(|r| r.field(field).filter(|f| !f.values.is_empty()))?;
            which_value(known, Some(text))
        }
        Trouble::NothingToChange { resource } => {
            let of = surface.resource(resource)?;
            let writable: Vec<&str> = of.fields.iter().filter(|f| f.writable).map(|f| f.name.as_str()).collect();
            ask(format!("What is to be changed, and to which value? Fields: {}.", writable.join(", ")), &[])
        }
        Trouble::Missing { resource, fields } => missing(surface, resource, fields)?,
        _ => return None,
    };
    Some(asked)
}

/// Which of these resources, or of all.
pub(crate) fn which_resource(surface: &Surface, among: &[String]) -> Clarification {
    let all: Vec<String> = surface.resources.iter().map(|r| r.name.clone()).collect();
    let choices = if among.is_empty() { all } else { among.to_vec() };
    let question = match choices.as_slice() {
        [only] => format!("Is this about `{only}`, and about which row and which values?"),
        _ => "Which resource is meant, and which of its rows and values?".to_owned(),
    };
    ask(question, &choices)
}

fn which_value(field: &Field, text: Option<&str>) -> Clarification {
    let name = &field.name;
    let question = match text {
        Some(text) => format!("`{text}` is no value of `{name}`: which value is meant?"),
        None => format!("Which value is `{name}` to have?"),
    };
    ask(question, &field.values)
}

fn missing(surface: &Surface, resource: &str, fields: &[String]) -> Option<Clarification> {
    let of = surface.resource(resource)?;
    let listed = |name: &String| match of.field(name) {
        Some(field) if !field.values.is_empty() => format!("`{name}` ({})", field.values.join(", ")),
        _ => format!("`{name}`"),
    };
    let list: Vec<String> = fields.iter().map(listed).collect();
    let question = format!("A new row of `{resource}` needs {}: which values?", list.join(", "));
    let choices = match fields {
        [only] => of.field(only).map(|f| f.values.clone()).unwrap_or_default(),
        _ => Vec::new(),
    };
    Some(ask(question, &choices))
}

fn ask(question: String, choices: &[String]) -> Clarification {
    Clarification { question, choices: choices.to_vec() }
}
