//! What a check costs: µs for each predicate of the case files, alone (parse, lower, render) and as a whole scan, and what
//! sqlglot takes to parse, walk and render the same.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark prints, and stops at the first error"
)]

use domain::{Caller, Dialect, Flavour, SourceSchema};
use policy::Policy;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

#[path = "../tests/promise/events.rs"]
mod events;

const ROUNDS: usize = 200;
/// What design §11 means by a typical predicate.
const TYPICAL: &str = "event_date >= DATE '2026-01-01' AND country_code = 'CZ' AND platform IN ('web', 'ios')";

fn main() {
    let (policy, caller) = (events::policy(), Caller::new("ann@example.com", "analyst"));
    let source = events::source(Dialect::DuckDb);
    println!("{:<34} {:>10} {:>10} {:>10}", "µs each", "median", "mean", "slowest");
    for flavour in Flavour::ALL {
        let bench = Bench { policy: &policy, caller: &caller, source: &source, flavour };
        let all = accepted(flavour);
        print(flavour, "typical predicate", &bench.predicates(&[TYPICAL.to_owned()]));
        print(flavour, &format!("{} predicates", all.len()), &bench.predicates(&all));
        if let Some(theirs) = sqlglot(flavour, &[TYPICAL.to_owned()]) {
            print(flavour, "typical predicate, sqlglot", &theirs);
        }
        if let Some(theirs) = sqlglot(flavour, &all) {
            print(flavour, &format!("{} predicates, sqlglot", theirs.len()), &theirs);
        }
        print(flavour, "typical scan, approved", &bench.scans(&[TYPICAL.to_owned()]));
        print(flavour, &format!("{} scans", all.len()), &bench.scans(&all));
    }
}

struct Bench<'a> {
    policy: &'a Policy,
    caller: &'a Caller,
    source: &'a SourceSchema,
    flavour: Flavour,
}

impl Bench<'_> {
    /// The least time of each predicate alone.
    fn predicates(&self, texts: &[String]) -> Vec<f64> {
        let check = |text: &str| {
            let scan = events::filtered(self.flavour, text);
            self.policy.canonical_scan(self.caller, self.source, &scan).expect("it is accepted");
        };
        texts.iter().map(|text| least(|| check(text))).collect()
    }

    /// The least time from a scan to what an engine may run, or to its refusal.
    fn scans(&self, texts: &[String]) -> Vec<f64> {
        let check = |text: &str| {
            let scan = events::filtered(self.flavour, text);
            drop(events::check(self.policy, self.caller, Dialect::DuckDb, scan));
        };
        texts.iter().map(|text| least(|| check(text))).collect()
    }
}

/// sqlglot, where it can be had. It does not read all of them.
fn sqlglot(flavour: Flavour, texts: &[String]) -> Option<Vec<f64>> {
    const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let made = Command::new(format!("{PROJECT}/scripts/python-deps")).arg("bench").output().ok()?;
    let python = String::from_utf8(made.stdout).ok().filter(|_| made.status.success())?;
    let mut child = Command::new(python.trim())
        .arg(format!("{PROJECT}/tests/python/predicates_sqlglot.py"))
        .arg(flavour.as_str())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all((texts.join("\n") + "\n").as_bytes()).ok()?;
    let told = String::from_utf8(child.wait_with_output().ok()?.stdout).ok()?;
    Some(told.lines().filter_map(|line| line.parse().ok()).collect())
}

fn accepted(flavour: Flavour) -> Vec<String> {
    let file = format!("{}/tests/cases/scan/accept/{}.txt", env!("CARGO_MANIFEST_DIR"), flavour.as_str());
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(str::to_owned).collect()
}

fn least(work: impl Fn()) -> f64 {
    let once = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..ROUNDS).map(once).fold(f64::INFINITY, f64::min)
}

fn print(flavour: Flavour, what: &str, times: &[f64]) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let slowest = sorted.last().copied().unwrap_or_default();
    println!("{:<34} {median:>10.1} {mean:>10.1} {slowest:>10.1}", format!("{}: {what}", flavour.as_str()));
}
