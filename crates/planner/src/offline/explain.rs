//! Why a question was read as it was.

use super::Index;
use super::draft::Draft;
use super::spans::{Meaning, Span};
use serde::Serialize;

/// Every span of the question with its candidate meanings.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Explain {
    pub spans: Vec<ExplainedSpan>,
    /// The reading that won, in words; none where the question was not answered.
    pub reading: Option<String>,
    /// The next best reading, if the closest choice had gone the other way.
    pub runner_up: Option<String>,
    /// By how much the closest choice was won.
    pub margin: Option<f32>,
    /// Share of the words that took part in the plan or are known to carry no condition.
    pub explained: f32,
}

/// A stretch of words and what it may mean, with scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedSpan {
    pub text: String,
    pub meanings: Vec<(String, f32)>,
}

pub(crate) fn explain(index: &Index, spans: &[Span], draft: &Draft) -> Explain {
    let spans: Vec<ExplainedSpan> = spans.iter().map(|s| explained(index, s)).collect();
    let missing = draft.unexplained.len() + draft.beyond.len();
    let explained = 1.0 - missing as f32 / spans.len().max(1) as f32;
    Explain { spans, explained, ..Explain::default() }
}

fn explained(index: &Index, span: &Span) -> ExplainedSpan {
    let catalog = &index.catalog;
    let column = |c| format!("{}.{}", catalog.table(catalog.column(c).table).name, catalog.column(c).name);
    let meaning = |m: &Meaning| match m {
        Meaning::Table(t, w) => (format!("table {}", catalog.table(*t).name), *w),
        Meaning::Column(c, w) => (format!("column {}", column(*c)), *w),
        Meaning::Product(q, p, w) => (format!("{} × {}", column(*q), column(*p)), *w),
        Meaning::Value(o, w) => (format!("value `{}` of {}", o.value, column(o.column)), *w),
        Meaning::Literal(_) => ("quoted text".to_owned(), 1.0),
        Meaning::Number(n) => (format!("number {}", n.value), 1.0),
        Meaning::Weekdays(_) => ("days of the week".to_owned(), 1.0),
        Meaning::Time(_) => ("period".to_owned(), 1.0),
        Meaning::Unit(u) => (format!("unit {}", super::output::unit_name(*u)), 1.0),
        Meaning::Cue(cue) => (format!("{cue:?}").to_lowercase(), 1.0),
        Meaning::Superlative(measures, _) | Meaning::Comparative(measures, _) => {
            (format!("measured by {}", measures.join(" or ")), 1.0)
        }
        Meaning::Stop => ("carries no condition".to_owned(), 1.0),
        Meaning::Verb => ("a verb".to_owned(), 0.5),
        Meaning::Unknown => ("unknown".to_owned(), 0.0),
    };
    ExplainedSpan { text: span.text.clone(), meanings: span.meanings.iter().map(meaning).collect() }
}
