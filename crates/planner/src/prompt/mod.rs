//! What a model is told before it is asked: its role and rules, and the schema that its caller may see.
//!
//! A prompt comes in the parts that are worth caching: first what is the same for everybody, then what this caller sees.
//! `view` is the source as policy shows it to the caller: what is hidden is not in it, and what is personal stays out.

mod schema;

use domain::SourceSchema;
use jiff::civil::Date;

const ANALYST: &str = include_str!("analyst.md");
const CHAT: &str = include_str!("chat.md");
const ANSWERING: &str = include_str!("answering.md");

/// Of the Analyst, whose model writes SQL (spec 000, AC-04).
pub fn analyst(view: &SourceSchema, today: Date) -> Vec<String> {
    vec![format!("{ANALYST}\n{ANSWERING}"), of_today(view, today)]
}

/// Of Chat, whose model writes plans, and SQL where that is asked for (spec 001 §6).
pub fn chat(view: &SourceSchema, today: Date) -> Vec<String> {
    vec![format!("{CHAT}\n{ANSWERING}"), of_today(view, today)]
}

/// The schema, and the date that "last month" counts from.
fn of_today(view: &SourceSchema, today: Date) -> String {
    format!("{}\nToday is {}.\n", schema::describe(view), today.strftime("%A, %Y-%m-%d"))
}
