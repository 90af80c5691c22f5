//! What a model is told before it is asked: its role and rules, and the schema that its caller may see.

mod schema;

use domain::SourceSchema;

/// Of spec 000, AC-04: role, rules, and how to answer what is no question about data.
const ANALYST: &str = include_str!("analyst.md");

/// The system prompt of an analyst, in the parts that are worth caching: what is the same for everybody, then what this
/// caller sees. `view` is the source as policy shows it to the caller: what is hidden is not in it.
pub fn analyst(view: &SourceSchema) -> Vec<String> {
    vec![ANALYST.trim().to_owned(), schema::describe(view)]
}
