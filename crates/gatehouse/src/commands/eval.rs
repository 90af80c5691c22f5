//! `gatehouse eval`: questions whose answers are known, asked through the path like any others.

mod came;
mod compare;
mod figures;
mod houses;
mod question;
mod shape;

use crate::cli::Eval;
use crate::print::{self, Problem};
use came::Came;
use domain::{Ask, Caller, Door, Proposal, Purpose, Run, SessionId, Status, Wish};
use figures::{Report, Verdict, Verdicts};
use gateway::House;
use houses::Houses;
use question::{Known, Question};
use serde_json::Value;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

pub async fn run(eval: Eval) -> Result<ExitCode, Problem> {
    let questions = question::read(&eval.questions, eval.synonyms)?;
    let caller = Caller::new("local", &eval.role);
    let mut houses = Houses::new(&eval, &caller)?;
    let mut verdicts = Verdicts::default();
    let progress = std::io::stderr().is_terminal();
    for (done, question) in questions.iter().enumerate() {
        if progress && done % 25 == 0 {
            eprint!("\r{done} of {} questions", questions.len());
        }
        let (house, dataset) = houses.of(question).await?;
        verdicts.add(judge(&house, &caller, &dataset, question).await?);
    }
    if progress {
        eprint!("\r\x1b[K");
    }
    let report = verdicts.report(houses.planner());
    match eval.json {
        true => print::json(&report),
        false => report.show(),
    }
    Ok(conclude(&report, &eval))
}

fn conclude(report: &Report, eval: &Eval) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let asked = [
        ("right of all", report.all.right_of_all(), eval.min_right),
        ("right of answered", report.all.right_of_answered(), eval.min_precision),
        ("refused or asked back as it should be", report.withheld(), eval.min_withheld),
    ];
    for (what, reached, least) in asked {
        // Of no answer at all none is wrong.
        if reached.unwrap_or(1.0) < least {
            eprintln!("gatehouse: {what} is {:.3}, below {least}", reached.unwrap_or(0.0));
            code = ExitCode::from(1);
        }
    }
    if report.unjudged() > 0 {
        eprintln!("gatehouse: {} questions could not be judged: their `sql` does not run", report.unjudged());
        code = ExitCode::from(1);
    }
    code
}

async fn judge(house: &Arc<House>, caller: &Caller, dataset: &str, question: &Question) -> Result<Verdict, Problem> {
    let wish = Wish::Question { text: question.text.clone(), history: Vec::new() };
    let run = ask(house, caller, dataset, wish).await?;
    let came = Came::of(&run);
    let right = match &question.known {
        Known::Refusal => came == Came::Refused,
        Known::Clarification => came == Came::Asked,
        Known::Rows { rows, ordered } => came == Came::Answered && compare::same(rows, &rows_of(&run), *ordered),
        Known::Sql(sql) => {
            let proposal = Proposal::Sql { source: dataset.to_owned(), text: sql.clone() };
            let gold = ask(house, caller, dataset, Wish::Proposal(proposal)).await?;
            if gold.status != Status::Succeeded {
                let why = gold.error_json.map_or(gold.assistant_message, |fault| fault.to_string());
                return Ok(Verdict::unjudged(question, &run, why));
            }
            came == Came::Answered && compare::same(&rows_of(&gold), &rows_of(&run), shape::is_ordered(sql))
        }
    };
    Ok(Verdict::of(question, &run, came, right))
}

async fn ask(house: &Arc<House>, caller: &Caller, dataset: &str, wish: Wish) -> Result<Run, Problem> {
    let (session, source) = (SessionId::new(), dataset.to_owned());
    let ask = Ask { door: Door::Local, purpose: Purpose::Answer, source, wish, session, thread: None };
    Ok(house.start(caller.clone(), ask).reply().await?.run.clone())
}

fn rows_of(run: &Run) -> Vec<Vec<Value>> {
    let result = run.result_json.as_ref().and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let rows = result.and_then(|mut result| result.get_mut("rows").map(Value::take));
    rows.and_then(|rows| serde_json::from_value(rows).ok()).unwrap_or_default()
}
