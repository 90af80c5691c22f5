//! `gatehouse replay`: what today's planner, or other contracts, would make of runs on record.

use super::{existing, flags, load};
use crate::cli::Replay;
use crate::print::{self, Problem};
use domain::RunId;
use gateway::{Difference, House, Replayed, Verdict};
use std::process::ExitCode;

pub async fn run(replay: Replay) -> Result<ExitCode, Problem> {
    existing(&replay.data)?;
    let (mut config, _) = load(&flags(&replay.data))?;
    if let Some(contracts) = &replay.against {
        config.contracts_dir = std::path::absolute(contracts)?;
        if !config.contracts_dir.is_dir() {
            let message = format!("there is no directory `{}`", contracts.display());
            return Err(Problem::usage(message, "`--against` names a directory of contracts"));
        }
    }
    let house = House::open(config)?;
    let mut all = Vec::new();
    for id in &replay.runs {
        let id: RunId = id
            .parse()
            .map_err(|_| Problem::usage(format!("`{id}` is not a run id"), "`GET /runs` and the log name them"))?;
        all.push(house.replay(id).await?);
    }
    house.engines.close();
    match replay.json {
        true => print::json(&all),
        false => all.iter().for_each(show),
    }
    let differs = all.iter().any(|replayed| replayed.difference != Difference::None);
    Ok(if differs { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn show(replayed: &Replayed) {
    let Replayed { run_id, role, difference, question, then, now, .. } = replayed;
    print::line(format!("{run_id}  {role}  {}", difference.as_str()));
    if let Some(question) = question {
        print::line(format!("  asked  {question}"));
    }
    print::line(format!("  then   {}", words(then)));
    if *difference != Difference::None {
        print::line(format!("  now    {}", words(now)));
    }
}

fn words(verdict: &Verdict) -> String {
    match verdict {
        // A change is several statements, a line each.
        Verdict::Allowed { statement, .. } => statement.replace('\n', "\n         "),
        Verdict::Refused { code } => format!("refused: {code}"),
        Verdict::Asked { question } => format!("asked back: {question}"),
    }
}
