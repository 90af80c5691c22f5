//! `gatehouse audit …`.

use super::{existing, load_without_sources};
use crate::cli::{Audit, Data};
use crate::print::{self, Problem};
use gateway::config::Config;
use ledger::{ChainReport, Home, Ledger};
use std::io::Write;
use std::process::ExitCode;

pub async fn run(audit: Audit) -> Result<ExitCode, Problem> {
    match audit {
        Audit::Verify { data, json } => verify(&data, json),
        Audit::Export { data } => export(&data),
    }
}

/// The ledger that is there already: one that is not is a mistake, not a start.
fn home(data: &Data) -> Result<(Config, Home), Problem> {
    existing(data)?;
    let config = load_without_sources(data)?;
    let home = config.ledger_home()?;
    if let Home::File(path) = &home
        && !path.is_file()
    {
        let mut problem = Problem::usage(
            format!("there is no ledger `{}`", path.display()),
            "`ledger.path` or `--data` is another one than the server's",
        );
        problem.code = 5;
        return Err(problem);
    }
    Ok((config, home))
}

/// The chain on stdout, a line an entry.
fn export(data: &Data) -> Result<ExitCode, Problem> {
    let (_, home) = home(data)?;
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let entries = Ledger::export_chain(&home, &mut out)?;
    out.flush()?;
    eprintln!("{entries} entries");
    Ok(ExitCode::SUCCESS)
}

fn verify(data: &Data, json: bool) -> Result<ExitCode, Problem> {
    let (config, home) = home(data)?;
    let report = Ledger::verify_at(&home, &config.keys(), config.ledger.head_interval)?;
    if json {
        print::json(&report);
    } else {
        match &report.flaw {
            None => print::line(whole(&report)),
            Some(flaw) => print::line(format!("broken: {flaw}")),
        }
    }
    Ok(if report.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What was looked at, and what no look at this machine can tell.
fn whole(report: &ChainReport) -> String {
    let mut text = format!("whole: {} entries, {} signed heads", report.entries, report.heads);
    if let Some(since) = &report.unsigned_since {
        let tail = match report.entries - report.signed {
            1 => "the last one".to_owned(),
            new => format!("the last {new}"),
        };
        text += &format!("; no head covers {tail} yet, since {since}: until one does, a change there would not show");
    }
    if report.exported.is_none() && report.heads > 0 {
        text += "; there are no exported heads beside it: an older copy of the whole ledger would not show";
    }
    text
}
