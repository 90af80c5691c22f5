//! A plan with places for literals.

use super::lift::{Class, Literal};
use domain::ChangePlan;
use jiff::civil::Date;
use serde_json::{Value, json};

/// A plan in JSON, and which of its values is which literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template {
    plan: Value,
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, PartialEq)]
struct Slot {
    pointer: String,
    literal: usize,
    form: Form,
}

/// How a literal stands in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Lower,
    Number,
    Contains,
    Starts,
    Ends,
    DayAfter,
    DayEnd,
}

const FORMS: [Form; 8] =
    [Form::Text, Form::Lower, Form::Number, Form::Contains, Form::Starts, Form::Ends, Form::DayAfter, Form::DayEnd];

impl Form {
    fn of(self, text: &str) -> Option<Value> {
        let escaped = || text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let day = || text.parse::<Date>().ok();
        Some(match self {
            Self::Text => json!(text),
            Self::Lower => json!(text.to_lowercase()),
            Self::Number => match text.parse::<i64>() {
                Ok(whole) => json!(whole),
                Err(_) => json!(text.parse::<f64>().ok()?),
            },
            Self::Contains => json!(format!("%{}%", escaped())),
            Self::Starts => json!(format!("{}%", escaped())),
            Self::Ends => json!(format!("%{}", escaped())),
            Self::DayAfter => json!(day()?.tomorrow().ok()?.to_string()),
            Self::DayEnd => json!(format!("{}T23:59:59.999999Z", day()?)),
        })
    }
}

impl Template {
    /// From the plan of a probe, whose literals are all different and stand nowhere but where they were put.
    pub fn of_probe(plan: &ChangePlan, literals: &[Literal], probes: &[String]) -> Option<Self> {
        let plan = serde_json::to_value(plan).ok()?;
        let mut slots = Vec::new();
        leaves(&plan, String::new(), &mut |pointer, leaf| {
            let found = literals.iter().zip(probes).enumerate().find_map(|(n, (literal, probe))| {
                FORMS
                    .into_iter()
                    .find(|form| fits(literal, *form) && form.of(probe).as_ref() == Some(leaf))
                    .map(|f| (n, f))
            });
            if let Some((literal, form)) = found {
                slots.push(Slot { pointer: pointer.to_owned(), literal, form });
            }
        });
        Some(Self { plan, slots })
    }

    /// From a plan that cannot be probed: every literal must be a value of it as it is written, and no part of another.
    pub fn by_value(plan: &ChangePlan, literals: &[Literal]) -> Option<Self> {
        let value = serde_json::to_value(plan).ok()?;
        let mut slots: Vec<Slot> = Vec::new();
        let mut clear = true;
        leaves(&value, String::new(), &mut |pointer, leaf| {
            let text = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
            for (n, literal) in literals.iter().enumerate() {
                let same =
                    [Form::Text, Form::Number].into_iter().find(|form| form.of(&literal.text).as_ref() == Some(leaf));
                match same {
                    Some(form) => slots.push(Slot { pointer: pointer.to_owned(), literal: n, form }),
                    None => clear &= !text.contains(&literal.text),
                }
            }
        });
        let used = |n: usize| slots.iter().any(|slot| slot.literal == n);
        (clear && (0..literals.len()).all(used)).then_some(Self { plan: value, slots })
    }

    /// The plan with these literals.
    pub fn fill(&self, literals: &[Literal]) -> Option<ChangePlan> {
        let mut plan = self.plan.clone();
        for slot in &self.slots {
            *plan.pointer_mut(&slot.pointer)? = slot.form.of(&literals.get(slot.literal)?.text)?;
        }
        serde_json::from_value(plan).ok()
    }
}

/// Whether a literal of this class may stand in this form.
fn fits(literal: &Literal, form: Form) -> bool {
    match form {
        Form::DayAfter | Form::DayEnd => literal.class == Class::Day,
        Form::Number => matches!(literal.class, Class::Integer(_) | Class::Decimal),
        Form::Lower => literal.class == Class::Uuid,
        _ => true,
    }
}

/// Every scalar, with its place.
fn leaves(value: &Value, pointer: String, tell: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                leaves(inner, format!("{pointer}/{key}"), tell);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| leaves(inner, format!("{pointer}/{at}"), tell));
        }
        scalar => tell(&pointer, scalar),
    }
}
