//! Personal values on their way to a model and back.

use domain::{Fault, Run};
use planner::Placeholders;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a caller reads in the place of a value that is not there. A model is not told which ones these are.
const NOTHING: &str = "(none)";

#[derive(Default)]
pub struct Masks {
    pub placeholders: Placeholders,
}

/// A result as it was recorded.
#[derive(Deserialize)]
struct Stored<'a> {
    columns: Vec<String>,
    #[serde(borrow)]
    rows: Vec<Vec<&'a RawValue>>,
}

/// A masked result as a model is told it. How many rows there are in all is not said.
#[derive(Serialize)]
struct Told<'a> {
    run_id: domain::RunId,
    status: domain::Status,
    columns: &'a [String],
    rows: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// Resources of which policy showed only some rows.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    filtered_by: &'a [String],
}

impl Masks {
    /// A result with a placeholder for each of its cells, whatever is in them, in as many rows as go into `most` bytes.
    /// `fields` are those that its columns are.
    pub fn mask(&mut self, run: &Run, fields: &[Option<String>], most: usize) -> Result<String, Fault> {
        let lost = || Fault::internal("tool.masks");
        let recorded = run.result_json.as_deref().ok_or_else(lost)?;
        let stored: Stored<'_> = serde_json::from_str(recorded.get()).map_err(|_| lost())?;
        // Fields that do not match the columns one by one label none of them.
        let fields = if fields.len() == stored.columns.len() { fields } else { &[] };
        let field = |at: usize| fields.get(at).and_then(Option::as_deref);
        let labels: Vec<String> = (0..stored.columns.len()).map(|at| Placeholders::label(field(at))).collect();
        let (mut rows, mut bytes) = (Vec::new(), 0usize);
        for row in &stored.rows {
            let masked = row.iter().zip(&labels).map(|(cell, label)| self.placeholders.mask(label, &text(cell)));
            let masked: Vec<String> = masked.collect();
            bytes += masked.iter().map(|cell| cell.len() + 3).sum::<usize>() + 2;
            if bytes > most {
                break;
            }
            rows.push(masked);
        }
        let cut = rows.len() < stored.rows.len();
        let note = cut.then_some("only the first rows are shown: ask for fewer rows or columns");
        let (run_id, status, filtered_by) = (run.run_id, run.status, run.filtered_by.as_slice());
        let told = Told { run_id, status, columns: &labels, rows, note, filtered_by };
        serde_json::to_string(&told).map_err(|_| lost())
    }
}

/// A cell as it is put into an answer, with every digit.
fn text(cell: &RawValue) -> String {
    match serde_json::from_str::<Option<String>>(cell.get()) {
        Ok(Some(text)) => text,
        Ok(None) => NOTHING.to_owned(),
        Err(_) => cell.get().to_owned(),
    }
}
