//! `gatehouse plan`: a question to a plan and its SQL, without a server.
//!
//! A file is read as any source is: in a sandboxed worker, through the path, on a ledger of its own
//! that is thrown away.

use super::local::{Scratch, file_source, open_named};
use crate::cli::Plan;
use crate::print::{self, Problem};
use domain::{Caller, Door, Fault, Limits, Proposal, QueryPlan};
use engines::{Source, SourceKind};
use gateway::{House, Planned};
use planner::offline::Explain;
use policy::Approved;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// A result of a plan is not run here, so that its LIMIT need not protect anybody.
const NO_LIMIT: Limits = Limits { rows: 1_000_000_000, bytes: u64::MAX, seconds: 30 };

#[derive(Deserialize)]
struct Line {
    id: serde_json::Value,
    db: String,
    question: String,
}

#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    status: &'static str,
    sql: Option<String>,
    plan: Option<QueryPlan>,
    reading: Option<String>,
    /// The question back, or why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Explain>,
}

pub async fn run(plan: Plan) -> Result<ExitCode, Problem> {
    if let Some(batch) = &plan.batch {
        return run_batch(batch, &plan).await;
    }
    let (Some(source), Some(question)) = (&plan.source, &plan.question) else {
        return Err(Problem::usage("nothing to plan", "give `--source` and a question, or `--batch`"));
    };
    let scratch = Scratch::new()?;
    let house = match Path::new(source).is_file() {
        true => scratch.house()?.over(file_source(source))?,
        false => open_named(source, &plan.data)?,
    };
    let caller = Caller::new("local", &plan.role);
    let mut answer = answer(&house, &caller, source, question).await?;
    if plan.explain {
        answer.explain = Some(house.explain_question(&caller, Door::Local, source, question).await?);
    }
    let code = if answer.status == "answered" { ExitCode::SUCCESS } else { ExitCode::from(2) };
    if plan.json {
        print::json(&answer)
    } else {
        show(&answer)
    }
    Ok(code)
}

/// One line in, one line out, in order. Each database is opened once.
async fn run_batch(batch: &str, plan: &Plan) -> Result<ExitCode, Problem> {
    let scratch = Scratch::new()?;
    let base = scratch.house()?;
    let caller = Caller::new("local", &plan.role);
    let mut houses: HashMap<String, Arc<House>> = HashMap::new();
    let input: Box<dyn BufRead> = match batch {
        "-" => Box::new(std::io::stdin().lock()),
        file => Box::new(std::io::BufReader::new(std::fs::File::open(file)?)),
    };
    for (number, text) in input.lines().enumerate() {
        let text = text?;
        if text.trim().is_empty() {
            continue;
        }
        let line: Line = match serde_json::from_str(&text) {
            Ok(line) => line,
            Err(error) => {
                let message = format!("line {}: {error}; a line is {{\"id\", \"db\", \"question\"}}", number + 1);
                let answer = Answer { message: Some(message), id: Some(serde_json::Value::Null), ..blank("refused") };
                print::line(serde_json::to_string(&answer).unwrap_or_default());
                continue;
            }
        };
        let house = match houses.get(&line.db) {
            Some(house) => house.clone(),
            None => {
                let house =
                    base.over(Source { kind: SourceKind::Sqlite(line.db.clone().into()), name: line.db.clone() })?;
                houses.insert(line.db.clone(), house.clone());
                house
            }
        };
        let mut answer = match answer(&house, &caller, &line.db, &line.question).await {
            Ok(answer) => answer,
            Err(fault) => refused(&fault),
        };
        answer.id = Some(line.id);
        print::line(serde_json::to_string(&answer).unwrap_or_default());
    }
    Ok(ExitCode::SUCCESS)
}

async fn answer(house: &Arc<House>, caller: &Caller, dataset: &str, question: &str) -> Result<Answer, Fault> {
    match house.plan_question(caller, Door::Local, dataset, question, &[]).await {
        Ok(Planned::Clarify(clarification)) => {
            Ok(Answer { message: Some(clarification.question), choices: clarification.choices, ..blank("clarify") })
        }
        Ok(Planned::Proposal { proposal, reading }) => {
            let dataset = house.datasets.get(dataset).ok_or_else(|| Fault::internal("plan.dataset"))?;
            let schema = house.schema(dataset).await?;
            let approved = house.policy().check(caller, &schema, &proposal, &NO_LIMIT)?;
            let plan = match proposal {
                Proposal::Query { plan, .. } => Some(*plan),
                Proposal::Sql { .. } | Proposal::Scan { .. } | Proposal::Change { .. } => None,
            };
            Ok(Answer { sql: Some(runnable(&approved)), plan, reading, ..blank("answered") })
        }
        Err(fault) if fault.kind == domain::Kind::NotUnderstood => Ok(refused(&fault)),
        Err(fault) => Err(fault),
    }
}

fn blank(status: &'static str) -> Answer {
    Answer { id: None, status, sql: None, plan: None, reading: None, message: None, choices: Vec::new(), explain: None }
}

fn refused(fault: &Fault) -> Answer {
    Answer { message: Some(format!("{}; {}", fault.message, fault.hint)), ..blank("refused") }
}

fn runnable(approved: &Approved) -> String {
    approved.sql_with_values()
}

fn show(answer: &Answer) {
    if let Some(explain) = &answer.explain {
        show_explained(explain);
    }
    if let Some(reading) = &answer.reading {
        print::line(format!("reading  {reading}"));
    }
    if let Some(plan) = &answer.plan {
        print::line(format!("plan     {}", serde_json::to_string(plan).unwrap_or_default()));
    }
    if let Some(sql) = &answer.sql {
        print::line(format!("sql      {sql}"));
    }
    if let Some(message) = &answer.message {
        print::line(format!("{}: {message}", answer.status));
    }
    for choice in &answer.choices {
        print::line(format!("  - {choice}"));
    }
}

fn show_explained(explain: &Explain) {
    let meanings = |meanings: &[(String, f32)]| {
        let each: Vec<String> = meanings.iter().map(|(meaning, score)| format!("{meaning} ({score:.2})")).collect();
        each.join(", ")
    };
    let rows: Vec<_> = explain.spans.iter().map(|span| vec![span.text.clone(), meanings(&span.meanings)]).collect();
    print::table(&["words", "may mean"], &rows);
    print::line("");
    if let (Some(other), Some(margin)) = (&explain.runner_up, explain.margin) {
        print::line(format!("next     {other}  (by {margin:.2} less)"));
    }
}
