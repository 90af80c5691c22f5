//! Every case of `abuse.cases`, for real, in both tiers, as root and as an ordinary user.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use common::{As, Workplace, supervise};
use serde_json::Value;

/// EPERM and EACCES.
const REFUSED: [&str; 2] = ["(os error 1)", "(os error 13)"];

/// One line of the table.
struct Line<'a> {
    case: &'a str,
    expectation: &'a str,
    unless: Option<&'a str>,
    tier: Option<&'a str>,
}

fn parse(line: &str) -> Line<'_> {
    let (case, rest) = line.split_once(char::is_whitespace).unwrap();
    let (rest, tier) = rest.split_once(" in ").map_or((rest, None), |(rest, tier)| (rest, Some(tier)));
    let (rest, unless) = rest.split_once(" unless ").map_or((rest, None), |(rest, limit)| (rest, Some(limit)));
    Line { case, expectation: rest.trim(), unless, tier }
}

impl Line<'_> {
    fn applies(&self, report: &Value) -> bool {
        let unenforced = report["unenforced"].as_array().unwrap();
        self.tier.is_none_or(|tier| report["tier"] == tier)
            && self.unless.is_none_or(|limit| !unenforced.contains(&Value::from(limit)))
    }

    fn holds(&self, result: &Value) -> bool {
        let said = result["said"].as_str().unwrap();
        let failed = |errors: &[&str]| said.starts_with("refused: ") && errors.iter().any(|e| said.contains(e));
        match self.expectation {
            "refused" => return failed(&REFUSED),
            "out of reach" => return failed(&REFUSED) || failed(&["(os error 2)", "(os error 18)", "(os error 30)"]),
            _ => {}
        }
        if let Some(text) = self.expectation.strip_prefix("fails with ") {
            return failed(&[text]);
        }
        if let Some(text) = self.expectation.strip_prefix("allowed ") {
            return said.strip_prefix("allowed: ") == Some(text);
        }
        if let Some(most) = self.expectation.strip_prefix("at most ") {
            let got: Option<u64> = said.strip_prefix("allowed: ").and_then(|n| n.parse().ok());
            return said.starts_with("refused: ") || got.is_some_and(|got| got <= most.parse().unwrap());
        }
        if let Some(death) = self.expectation.strip_prefix("died ") {
            return result["death"] == death;
        }
        panic!("no such expectation: {}", self.expectation)
    }
}

fn check(user: As, tier: &str, place: &Workplace) {
    let lines: Vec<Line> =
        include_str!("abuse.cases").lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(parse).collect();
    let cases: Vec<&str> = lines.iter().map(|l| l.case).collect();
    let (report, results) = supervise(user, tier, place, &cases);
    assert_eq!(report["tier"], tier, "{report}");

    let mut wrong = Vec::new();
    let mut starts = Vec::new();
    for (line, result) in lines.iter().zip(&results) {
        assert_eq!(result["case"], line.case);
        starts.push(result["start_ms"].as_f64().unwrap());
        if line.applies(&report) && !line.holds(result) {
            wrong.push(format!("{}: wanted {}, got {result}", line.case, line.expectation));
        }
    }
    starts.sort_by(f64::total_cmp);
    let (half, most) = (starts[starts.len() / 2], starts[starts.len() * 95 / 100]);
    let what = format!("abuse cases, {tier} as {}", format!("{user:?}").to_lowercase());
    let tried = lines.iter().filter(|line| line.applies(&report)).count();
    testkit::tally("jail", &what, tried, "escapes", wrong.len());
    eprintln!("{tier} as {user:?}: {} cases, a start takes {half:.1} ms (p95 {most:.1} ms); {report}", lines.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn t1_as_root() {
    // Below a directory that only root can enter: staging makes it reachable.
    check(As::Root, "T1", &Workplace::private());
}

#[test]
fn t2_as_root() {
    check(As::Root, "T2", &Workplace::public());
}

#[test]
fn t1_as_user() {
    check(As::User, "T1", &Workplace::public());
}

#[test]
fn t2_as_user() {
    check(As::User, "T2", &Workplace::public());
}
