//! Every case of `abuse.cases`, for real, in both tiers, as root and as an ordinary user.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use common::{As, Workplace, supervise_as, table};

fn check(user: As, tier: &str, place: &Workplace) {
    check_profile(user, tier, place, false);
}

fn check_profile(user: As, tier: &str, place: &Workplace, script: bool) {
    let lines = if script { table::script_lines() } else { table::lines() };
    let cases: Vec<&str> = lines.iter().map(|l| l.case).collect();
    let (report, results) = supervise_as(user, tier, place, &cases, script);
    assert_eq!(report["tier"], tier, "{report}");

    let mut wrong = Vec::new();
    let mut starts = Vec::new();
    for (line, result) in lines.iter().zip(&results) {
        assert_eq!(result["case"], line.case);
        starts.push(result["start_ms"].as_f64().unwrap());
        let said = result["said"][0].as_str().unwrap();
        if line.applies(&report) && !line.holds(said, &result["death"]) {
            wrong.push(format!("{}: wanted {}, got {result}", line.case, line.expectation));
        }
    }
    starts.sort_by(f64::total_cmp);
    let (half, most) = (starts[starts.len() / 2], starts[starts.len() * 95 / 100]);
    let profile = if script { "script, " } else { "" };
    let what = format!("abuse cases, {profile}{tier} as {}", format!("{user:?}").to_lowercase());
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

#[test]
fn scripts_as_root() {
    check_profile(As::Root, "T1", &Workplace::private(), true);
}

#[test]
fn scripts_as_user() {
    check_profile(As::User, "T1", &Workplace::public(), true);
}
