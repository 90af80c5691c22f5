//! Small schemas of different trades, and plans written like SQL so that people can read them.

pub mod render;
pub mod schemas;

use planner::offline::{Context, Index, Planned, plan};

pub const TODAY: jiff::civil::Date = jiff::civil::Date::constant(2025, 5, 14);

/// What became of a question, as the snapshots show it.
pub fn outcome(index: &Index, question: &str, history: &[domain::Turn]) -> String {
    match plan(index, question, &Context { history, today: TODAY }) {
        Planned::Plan { plan, reading, .. } => format!("{reading}\n    {}", render::sql(&plan)),
        Planned::Sql { text } => format!("sql: {text}"),
        Planned::Clarify(c) => format!("? {} [{}]", c.question, c.choices.join(" | ")),
        Planned::Refuse(fault) => format!("! {}: {}", fault.code, fault.message),
    }
}

/// Questions of a data file: one a line, `#` for remarks.
pub fn questions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'))
}
