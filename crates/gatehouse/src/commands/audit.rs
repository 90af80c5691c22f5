//! `gatehouse audit …`.

use super::{existing, flags, load};
use crate::cli::Audit;
use crate::print::{self, Problem};
use ledger::{ChainReport, Ledger};
use std::process::ExitCode;

pub async fn run(audit: Audit) -> Result<ExitCode, Problem> {
    let Audit::Verify { data, json } = audit;
    existing(&data)?;
    let (config, _) = load(&flags(&data))?;
    if !config.ledger.path.is_file() {
        let mut problem = Problem::usage(
            format!("there is no ledger `{}`", config.ledger.path.display()),
            "`ledger.path` or `--data` is another one than the server's",
        );
        problem.code = 5;
        return Err(problem);
    }
    let report = Ledger::verify_at(&config.ledger.path, &config.data.join("keys"))?;
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
