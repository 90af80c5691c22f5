//! `da ask`: a question to the server's Chat door.

use super::Context;
use crate::cli::Ask;
use crate::client::Client;
use crate::print;
use crate::problem::{Exit, Problem, Result};
use crate::show::{self, Format};
use serde_json::{Value, json};

pub fn run(context: &Context, args: &Ask) -> Result<()> {
    let client = context.client()?;
    let dataset = match &args.dataset {
        Some(dataset) => dataset.clone(),
        None => only_dataset(&client)?,
    };
    let reply = client.post("/chat", &json!({ "dataset_id": dataset, "message": args.question }))?.text();
    let run = super::catalog::parsed(&reply)?;
    let format = context.format(args.shown.format);
    if format == Format::Json {
        print::line(&reply)?;
    } else {
        tell(&run, format)?;
    }
    match text(&run, "/status") {
        "succeeded" => Ok(()),
        "clarify" => Err(question_back(&run)),
        _ => Err(refused(&run)),
    }
}

fn only_dataset(client: &Client) -> Result<String> {
    let reply: Value = client.get("/datasets")?.json()?;
    let datasets = reply.get("datasets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ids: Vec<&str> = datasets.iter().filter_map(|dataset| dataset.get("id")?.as_str()).collect();
    match ids.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(Problem::new(Exit::Denied, "no_dataset", "there is no dataset that you may see", "ask for access")),
        several => {
            let message = format!("which dataset? there are {}", several.join(", "));
            Err(Problem::invalid("which_dataset", message, format!("add `--dataset {}`", ids.first().unwrap_or(&""))))
        }
    }
}

/// Reading, plan and SQL, then the rows, then the answer in words.
fn tell(run: &Value, format: Format) -> Result<()> {
    let plan = run.pointer("/details/plan_json").filter(|plan| !plan.is_null()).map(Value::to_string);
    explained(text(run, "/details/reading"), plan.as_deref(), text(run, "/details/compiled_sql"));
    let columns = run.pointer("/result/columns").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = columns.iter().filter_map(Value::as_str).collect();
    let rows = run.pointer("/result/rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !names.is_empty() {
        let cell = |cell: &Value| match cell {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let rows = rows.iter().filter_map(Value::as_array).map(|row| row.iter().map(cell).collect()).collect();
        show::list(&names, rows, format)?;
    }
    match text(run, "/status") {
        "succeeded" => print::line(text(run, "/assistant_message")),
        _ => Ok(()),
    }
}

/// On stderr: the rows alone are the data.
pub fn explained(reading: &str, plan: Option<&str>, sql: &str) {
    for (what, says) in [("reading", reading), ("plan", plan.unwrap_or_default()), ("sql", sql)] {
        if !says.is_empty() {
            eprintln!("{what:<8} {says}");
        }
    }
}

fn question_back(run: &Value) -> Problem {
    let choices =
        run.pointer("/clarification/choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
    clarify(text(run, "/clarification/question"), &choices)
}

pub fn clarify(question: &str, choices: &[&str]) -> Problem {
    let hint = match choices {
        [] => "ask again, and say which".to_owned(),
        choices => format!("ask again, and say which: {}", choices.join(" | ")),
    };
    Problem::invalid("clarify", question, hint)
}

fn refused(run: &Value) -> Problem {
    let exit = match text(run, "/result/error/type") {
        "RUNNER_INTERNAL_ERROR" | "RUNNER_TIMEOUT" => Exit::Server,
        _ => Exit::Invalid,
    };
    let message = text(run, "/result/error/message");
    Problem::new(exit, text(run, "/result/error/code"), message, text(run, "/result/error/hint"))
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
