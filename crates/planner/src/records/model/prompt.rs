//! What a model is told: rules, and the contracts of the routed resources as the role sees them. No data, and no field
//! that is personal.

use crate::records::surface::{Field, Resource, Surface};
use domain::change::FilterOperator;
use domain::{FieldType, Op};
use serde_json::{Map, Value, json};

const RULES: &str = include_str!("rules.md");
const ROUTING: &str = include_str!("routing.md");

/// The planner's prompt for these resources.
pub fn planning(surface: &Surface, resources: &[String], today: jiff::civil::Date) -> Vec<String> {
    let known = resources.iter().filter_map(|name| surface.resource(name));
    let contracts: Vec<String> = known.map(|r| contract(r, resources).to_string()).collect();
    vec![RULES.to_owned(), format!("Contracts\n{}\n\nToday is {today}.", contracts.join("\n"))]
}

/// The router's prompt: every resource in a line.
pub fn routing(surface: &Surface) -> Vec<String> {
    let line = |r: &Resource| {
        let also = if r.synonyms.is_empty() { String::new() } else { format!(" Also: {}.", r.synonyms.join(", ")) };
        let ops: Vec<&str> = r.ops.iter().map(|op| op.as_str()).collect();
        one_line(&format!("- {}: {}.{also} {}", r.name, r.describe, ops.join(" ")))
    };
    let lines: Vec<String> = surface.resources.iter().map(line).collect();
    vec![ROUTING.to_owned(), format!("Resources\n{}", lines.join("\n"))]
}

/// One contract, in as few words as it can be told in.
fn contract(resource: &Resource, among: &[String]) -> Value {
    let fields: Map<String, Value> = resource
        .fields
        .iter()
        .filter(|f| !f.pii)
        .map(|f| (f.name.clone(), json!(one_line(&described(resource, f)))))
        .collect();
    let joins: Vec<Value> = resource
        .joins
        .iter()
        .filter(|j| among.contains(&j.target))
        .map(|j| {
            let on = j.on.iter().map(|(l, r)| json!({"leftField": l, "rightField": r})).collect::<Vec<_>>();
            json!({"target_resource": j.target, "on": on, "type": "inner"})
        })
        .collect();
    let fields_told = fields.len();
    let mut told = json!({
        "resource": resource.name, "version": resource.version, "ops_allowed": resource.ops, "key": resource.key,
        "fields": fields, "max_rows": resource.limits.max_rows,
    });
    let order: Vec<&String> = resource.order.iter().filter(|name| is_told(resource, name)).collect();
    if order.len() < fields_told {
        crate::model::set(&mut told, "order_allowed", json!(order));
    }
    if !joins.is_empty() {
        crate::model::set(&mut told, "joins_allowed", json!(joins));
    }
    told
}

fn is_told(resource: &Resource, name: &str) -> bool {
    resource.field(name).is_some_and(|f| !f.pii)
}

/// Type, what may be done with it, the values that it takes, the operators where they are not its type's.
fn described(resource: &Resource, field: &Field) -> String {
    let mut parts = vec![word(field.kind).to_owned()];
    if !field.readable {
        parts.push("not readable".to_owned());
    }
    let writes = resource.ops.iter().any(|op| *op != Op::Read);
    if field.writable && writes {
        parts.push(if field.nullable { "writable" } else { "writable required" }.to_owned());
    }
    if !field.values.is_empty() {
        parts.push(field.values.join("|"));
    }
    let operators = resource.filters.get(&field.name).map(Vec::as_slice).unwrap_or_default();
    if operators != baseline(field.kind) {
        let listed: Vec<&str> = operators.iter().map(|op| op.as_str()).collect();
        parts.push(if listed.is_empty() { "no filter".to_owned() } else { format!("only {}", listed.join(" ")) });
    }
    parts.join(", ")
}

/// The operators that the rules name for a type (spec 002 §10).
fn baseline(kind: FieldType) -> &'static [FilterOperator] {
    use FilterOperator as O;
    match kind {
        FieldType::String | FieldType::Text => &[O::Equal, O::NotEqual, O::Like, O::ILike, O::In],
        FieldType::Number | FieldType::Decimal | FieldType::Integer => {
            &[O::Equal, O::NotEqual, O::Greater, O::GreaterOrEqual, O::Less, O::LessOrEqual, O::In, O::Between]
        }
        FieldType::Date | FieldType::Timestamp | FieldType::Time => {
            &[O::Equal, O::Greater, O::GreaterOrEqual, O::Less, O::LessOrEqual, O::Between]
        }
        _ => &[O::Equal],
    }
}

fn word(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Uuid => "uuid",
        FieldType::Number | FieldType::Decimal => "number",
        FieldType::Integer => "integer",
        FieldType::Boolean => "boolean",
        FieldType::Date => "date",
        FieldType::Timestamp => "timestamp",
        FieldType::Json | FieldType::List | FieldType::Struct => "json",
        _ => "text",
    }
}

/// Texts of contracts may not begin a line of their own.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
