//! `gatehouse audit …`.

use super::{existing, load_without_sources};
use crate::cli::{Audit, Data};
use crate::print::{self, Problem};
use gateway::config::Config;
use ledger::{ChainReport, Home, Ledger, Reexport};
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
        print::line(told(&report));
    }
    Ok(if report.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The verdict. That exported heads were lost once is told with either.
fn told(report: &ChainReport) -> String {
    let mut text = match &report.flaw {
        None => whole(report),
        Some(flaw) => format!("broken: {flaw}"),
    };
    if let Some(lost) = &report.reexported {
        let Reexport { seq, at, times } = lost;
        let times = if *times == 1 { String::new() } else { format!("; {times} times in all") };
        text += &format!(
            "; heads were missing in `audit-heads.jsonl` on {at} (entry {seq}{times}) and exported anew: an older copy of the \
             whole ledger, put back before that, would not show"
        );
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::{Flaw, FlawKind};

    #[test]
    fn told_says_each_time_that_exported_heads_were_lost() {
        let report = |flaw, times| ChainReport {
            entries: 9,
            signed: 9,
            unsigned_since: None,
            heads: 4,
            exported: Some(4),
            reexported: (times > 0).then(|| Reexport { seq: 7, at: "2026-11-17T14:00:12Z".to_owned(), times }),
            capsules: 3,
            pruned: 0,
            flaw,
        };
        let flaw = Flaw { seq: Some(2), kind: FlawKind::EntryChanged, message: "it cannot be read".to_owned() };
        insta::assert_snapshot!(told(&report(None, 0)), @"whole: 9 entries, 4 signed heads");
        insta::assert_snapshot!(told(&report(None, 1)), @"whole: 9 entries, 4 signed heads; heads were missing in `audit-heads.jsonl` on 2026-11-17T14:00:12Z (entry 7) and exported anew: an older copy of the whole ledger, put back before that, would not show");
        insta::assert_snapshot!(told(&report(Some(flaw), 2)), @"broken: entry 2: it cannot be read; heads were missing in `audit-heads.jsonl` on 2026-11-17T14:00:12Z (entry 7; 2 times in all) and exported anew: an older copy of the whole ledger, put back before that, would not show");
    }
}
