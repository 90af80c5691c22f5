//! The embedded planner: a semantic parser over a schema, its values and its contract's synonyms.
//!
//! It answers, asks one question, or refuses and names the words that it did not understand. It
//! never guesses. The stages, each in its own file:
//!
//! 1. [`text`] splits the question into words; [`lexicon`] and [`values`] know the schema's words
//!    and the data's values; [`spans`] marks which words mean what.
//! 2. [`grammar`] reads the spans into a [`draft`]; [`followup`] merges it with the thread.
//! 3. [`bind`] ties each noun to one column, giving a [`query`].
//! 4. [`compile`] joins ([`joins`]), nests ([`nest`]), sets in relation ([`relation`], [`steps`]), picks the
//!    best of each group ([`best`], [`first`]) and writes the plan.
//! 5. [`decide`] answers, asks or refuses; [`reading`] says in words what was understood, and
//!    [`answer`] what came of it.

mod answer;
mod best;
mod bind;
mod catalog;
mod clarify;
mod compile;
mod conditions;
mod cues;
mod decide;
mod degrees;
mod draft;
mod ellipsis;
pub(crate) mod english;
mod explain;
mod first;
mod followup;
mod grammar;
mod joins;
mod keys;
mod lexicon;
mod members;
mod nest;
pub(crate) mod numbers;
mod output;
mod query;
mod reading;
mod refuse;
mod relation;
mod relations;
mod roles;
mod sets;
mod shape;
mod spans;
pub(crate) mod sql;
mod steps;
pub(crate) mod text;
mod thesaurus;
pub(crate) mod time;
pub(crate) mod time_words;
mod values;
mod wanted;

pub use answer::{AnswerInput, sentence};
pub use explain::{Explain, ExplainedSpan};
pub use keys::inferred_keys;
pub use wanted::{What, wanted_values};

use domain::{Clarification, Fault, QueryPlan, SourceSchema, Turn};
use serde::{Deserialize, Serialize};

/// Everything the planner knows of one source as one caller sees it.
#[derive(Debug)]
pub struct Index {
    catalog: catalog::Catalog,
    lexicon: lexicon::Lexicon,
    values: values::ValueIndex,
    /// Not all values that were wanted are known.
    cut_short: bool,
}

impl Index {
    /// `schema` is the caller's view; `values` what was read of the columns of [`wanted_values`].
    pub fn new(schema: &SourceSchema, values: &[ColumnValues]) -> Self {
        let schema = &*members::written_out(schema);
        let catalog = catalog::Catalog::new(schema, values);
        let lexicon = lexicon::Lexicon::new(schema, &catalog);
        let values = values::ValueIndex::new(schema, &catalog, values);
        Self { catalog, lexicon, values, cut_short: false }
    }

    /// The index of values that could not all be read: whatever comes of a question says so.
    pub fn cut_short(self) -> Self {
        Self { cut_short: true, ..self }
    }
}

/// What was read of one column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnValues {
    pub table: String,
    pub column: String,
    /// Different values, for text columns.
    pub values: Vec<String>,
    /// False when there are more values than were read.
    pub complete: bool,
    /// The ends of the range, for columns of dates and numbers.
    pub min: Option<String>,
    pub max: Option<String>,
}

/// What a question is asked in.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The thread so far, oldest first.
    pub history: &'a [Turn],
    pub today: jiff::civil::Date,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Planned {
    Plan {
        plan: Box<QueryPlan>,
        /// The question as it was understood: "total amount per region in 2024, largest first".
        reading: String,
        explain: Explain,
    },
    /// The caller wrote SQL.
    Sql {
        text: String,
    },
    Clarify(Clarification),
    Refuse(Fault),
}

/// Plans one question.
pub fn plan(index: &Index, question: &str, context: &Context<'_>) -> Planned {
    decide::plan(index, question, context)
}

/// Why a question is read as it is: spans, candidates with scores, the reading and its runner-up.
/// For questions that are asked back or refused, everything up to where reading stopped.
pub fn explain(index: &Index, question: &str, context: &Context<'_>) -> Explain {
    decide::explained(index, question, context)
}

#[cfg(test)]
mod tests;
