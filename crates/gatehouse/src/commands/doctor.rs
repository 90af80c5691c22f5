//! `gatehouse doctor`.

use super::{existing, flags, load};
use crate::cli::Doctor;
use crate::print::{self, Problem};
use gateway::doctor::{Verdict, examine};
use std::process::ExitCode;

pub async fn run(doctor: Doctor) -> Result<ExitCode, Problem> {
    existing(&doctor.data)?;
    let (config, _) = load(&flags(&doctor.data))?;
    let findings = examine(config).await;
    if doctor.json {
        print::json(&findings);
    } else {
        for finding in &findings {
            let word = match finding.verdict {
                Verdict::Ok => "ok",
                Verdict::Warn => "warn",
                Verdict::Fail => "FAIL",
            };
            print::line(format!("{word:<5} {:<10} {}", finding.check, finding.message));
        }
    }
    let failed = findings.iter().any(|f| f.verdict == Verdict::Fail);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
