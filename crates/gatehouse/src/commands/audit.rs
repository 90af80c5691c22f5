//! `gatehouse audit …`.

use super::{flags, load};
use crate::cli::Audit;
use crate::print::{self, Problem};
use ledger::Ledger;
use std::process::ExitCode;

pub async fn run(audit: Audit) -> Result<ExitCode, Problem> {
    let Audit::Verify { data, json } = audit;
    let (config, _) = load(&flags(&data))?;
    let report = Ledger::open(&config.ledger.path, &config.data.join("keys"))?.verify().await?;
    if json {
        print::json(&report);
    } else {
        match &report.flaw {
            None => print::line(format!("whole: {} entries, {} signed heads", report.entries, report.heads)),
            Some(flaw) => print::line(format!("broken: {flaw}")),
        }
    }
    Ok(if report.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
