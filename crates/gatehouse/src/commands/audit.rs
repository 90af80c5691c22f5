//! `gatehouse audit …`.

use super::{existing, flags, load};
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
    let (config, _) = load(&flags(data))?;
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
    let report = Ledger::verify_at(&home, &config.keys())?;
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

fn whole(report: &ChainReport) -> String {
    let text = format!("whole: {} entries, {} signed heads", report.entries, report.heads);
    match report.entries - report.signed {
        0 => text,
        new => format!("{text}; no head covers the last {new} yet"),
    }
}
