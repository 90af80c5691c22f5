//! What came of a question, in words.

use crate::path::Reply;
use domain::{Fault, Kind, Run, Status};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Rows of a result that are shown below the sentence about it.
const ROWS_SHOWN: usize = 10;
/// More digits after the point are rounded: the record has them all.
const MOST_DECIMALS: usize = 6;
/// Longer cells are cut.
const CELL_CHARS: usize = 60;

#[derive(Debug, Clone)]
pub struct Answer {
    pub text: String,
    /// Resources of which policy showed only some rows.
    pub filtered_by: Vec<String>,
    /// Whether it is an answer, and not why there is none.
    pub succeeded: bool,
    /// That a model read and wrote for it.
    pub tokens: (u64, u64),
}

impl Answer {
    /// What an analyst would tell (also that it cannot, and why), or the fault that is an error to the client.
    pub fn of(reply: &Reply) -> Result<Self, Fault> {
        let run = &reply.run;
        let text = match run.status {
            Status::Succeeded => told(run),
            Status::Clarify => asked_back(run),
            Status::Cancelled => return Err(cancelled()),
            Status::Refused | Status::Failed => match &run.error_json {
                Some(fault) if !can_be_told(fault.kind) => return Err(fault.clone()),
                _ => run.assistant_message.clone(),
            },
        };
        let tokens = run.model.as_ref().map_or((0, 0), |model| (model.prompt_tokens, model.completion_tokens));
        let succeeded = run.status == Status::Succeeded;
        Ok(Self { text, filtered_by: run.filtered_by.clone(), succeeded, tokens })
    }

    /// The text as it is streamed: a line at a time.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        self.text.split_inclusive('\n')
    }
}

/// Whether the question is to blame, so that an answer in words helps more than an error.
fn can_be_told(kind: Kind) -> bool {
    kind.model_can_fix() && kind != Kind::Timeout
}

fn cancelled() -> Fault {
    Fault::new(Kind::Unavailable, "request_cancelled", "the request was cancelled before it was answered")
}

fn asked_back(run: &Run) -> String {
    let choices = run.clarification.iter().flat_map(|clarification| &clarification.choices);
    choices.fold(run.assistant_message.clone(), |text, choice| format!("{text}\n- {choice}"))
}

/// A model writes its own answer; the offline planner's is a sentence, with the rows that it is about.
fn told(run: &Run) -> String {
    let table = (run.planner.as_deref() == Some("offline")).then(|| table(run)).flatten();
    match table {
        Some(table) => format!("{}\n\n{table}", run.assistant_message),
        None => run.assistant_message.clone(),
    }
}

#[derive(Deserialize)]
struct Stored<'a> {
    columns: Vec<String>,
    row_count: usize,
    #[serde(borrow)]
    rows: Vec<Vec<&'a RawValue>>,
}

/// The first rows as a table of text; none where the sentence has said it all.
fn table(run: &Run) -> Option<String> {
    let stored: Stored<'_> = serde_json::from_str(run.result_json.as_deref()?.get()).ok()?;
    if stored.row_count < 2 {
        return None;
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut table = line(stored.columns.iter().map(|name| plain(name)).collect());
    table.push_str(&line(vec!["---".to_owned(); stored.columns.len()]));
    for row in stored.rows.iter().take(ROWS_SHOWN) {
        table.push_str(&line(row.iter().map(|cell| shown(cell)).collect()));
    }
    if stored.row_count > ROWS_SHOWN {
        table.push_str(&format!("\n{ROWS_SHOWN} of {} rows are shown.\n", stored.row_count));
    }
    Some(table.trim_end().to_owned())
}

/// Text loses its quotes, and a sum of fractions the digits that come of adding them in binary.
fn shown(cell: &RawValue) -> String {
    let json = cell.get();
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return plain(&text);
    }
    match (json.split_once('.'), json.parse::<f64>()) {
        (Some((_, digits)), Ok(number)) if digits.len() > MOST_DECIMALS && !json.contains(['e', 'E']) => {
            let rounded = format!("{number:.MOST_DECIMALS$}");
            rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => plain(json),
    }
}

/// Text that breaks no table.
fn plain(text: &str) -> String {
    let mut plain: String = text.chars().take(CELL_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(CELL_CHARS).is_some() {
        plain.push('…');
    }
    plain.replace('\\', "\\\\").replace('|', "\\|")
}
