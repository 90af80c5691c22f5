//! A file of questions and what is known of their answers.

use super::shape;
use crate::print::Problem;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// A line as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<Value>,
    question: String,
    synonym_question: Option<String>,
    dataset: Option<String>,
    db: Option<String>,
    #[serde(alias = "gold")]
    sql: Option<String>,
    rows: Option<Vec<Vec<Value>>>,
    #[serde(default)]
    ordered: bool,
    #[serde(default)]
    refuse: bool,
    #[serde(default)]
    clarify: bool,
    shape: Option<String>,
}

pub struct Question {
    pub id: String,
    pub text: String,
    pub dataset: Option<String>,
    /// A SQLite file beside the questions.
    pub db: Option<String>,
    pub known: Known,
    /// What it is counted under.
    pub shape: String,
}

/// What is right.
pub enum Known {
    /// What this query gives.
    Sql(String),
    Rows {
        rows: Vec<Vec<Value>>,
        ordered: bool,
    },
    /// The data does not tell.
    Refusal,
    /// A question back.
    Clarification,
}

pub fn read(file: &Path, synonyms: bool) -> Result<Vec<Question>, Problem> {
    let text = std::fs::read_to_string(file).map_err(|e| {
        Problem::usage(format!("cannot read `{}`: {e}", file.display()), "give a file of JSON lines, see `--help`")
    })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let questions = lines.map(|(i, line)| {
        let parsed =
            serde_json::from_str::<Line>(line).map_err(|e| e.to_string()).and_then(|l| l.question(i + 1, synonyms));
        parsed.map_err(|e| {
            Problem::usage(format!("line {} of `{}`: {e}", i + 1, file.display()), "see `gatehouse eval --help`")
        })
    });
    questions.filter_map(Result::transpose).collect()
}

impl Line {
    fn question(self, number: usize, synonyms: bool) -> Result<Option<Question>, String> {
        let text = match synonyms {
            true => self.synonym_question,
            false => Some(self.question),
        };
        let Some(text) = text else { return Ok(None) };
        let known = match (self.sql, self.rows, self.refuse, self.clarify) {
            (Some(sql), None, false, false) => Known::Sql(sql),
            (None, Some(rows), false, false) => Known::Rows { rows, ordered: self.ordered },
            (None, None, true, false) => Known::Refusal,
            (None, None, false, true) => Known::Clarification,
            _ => return Err("exactly one of `sql`, `rows`, `refuse` and `clarify` says what is right".to_owned()),
        };
        let shape = self.shape.unwrap_or_else(|| shape::of(&known).to_owned());
        let id = match self.id {
            Some(Value::String(id)) => id,
            Some(id) => id.to_string(),
            None => number.to_string(),
        };
        Ok(Some(Question { id, text, dataset: self.dataset, db: self.db, known, shape }))
    }
}
