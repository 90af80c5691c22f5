//! How many of the labelled instructions are planned right: told and held to on the half that nothing was tuned on.

use super::labelled::{Half, Labelled, all, is_right, outcome};
use super::{index, now, settings};
use planner::records::{Index, Planned, decide};

/// Right ones and all of some kinds in one half, and the wrong ones as they came out.
fn score(index: &Index, kinds: &[&str], half: Half) -> (usize, usize, String) {
    let (mut right, mut count, mut wrong) = (0, 0, String::new());
    for labelled in all().into_iter().filter(|l| kinds.contains(&l.kind) && l.half == half) {
        let outcome = outcome(index, &decide(index, labelled.text, &[], &settings(), now()).planned);
        count += 1;
        match is_right(labelled.expected, &outcome) {
            true => right += 1,
            false => wrong += &format!("{}\n    = {}\n    ! {outcome}\n", labelled.text, labelled.expected),
        }
    }
    (right, count, wrong)
}

/// Tells both halves, and holds them to a share in percent. Only what is wrong in the tuned half is shown: whoever looks at
/// the other one tunes on it.
fn hold(name: &str, kinds: &[&str], percent: usize) {
    let index = index("agent");
    let (tuned, of_tuned, wrong) = score(&index, kinds, Half::Tuned);
    let (held, of_held, _) = score(&index, kinds, Half::Held);
    println!("{name}: {tuned} of {of_tuned} right in the tuned half, {held} of {of_held} in the held half");
    assert!(tuned * 100 >= of_tuned * percent, "{name}: {tuned} of {of_tuned}\n{wrong}");
    assert!(held * 100 >= of_held * percent, "{name}: {held} of {of_held} in the held half");
}

#[test]
fn reads_are_planned_right() {
    hold("reads", &["read", "join"], 95);
}

#[test]
fn writes_are_planned_right() {
    hold("writes", &["write"], 90);
}

#[test]
fn what_is_not_clear_is_asked_about() {
    hold("ambiguous instructions", &["ambiguous"], 85);
}

/// Of what must not be done, not one is: all are refused, in both halves.
#[test]
fn what_must_not_be_is_refused() {
    let index = index("agent");
    let hostile: Vec<Labelled> = all().into_iter().filter(|l| l.kind == "hostile").collect();
    let planned =
        |l: &&Labelled| !matches!(decide(&index, l.text, &[], &settings(), now()).planned, Planned::Refuse(_));
    let seen: Vec<&str> = hostile.iter().filter(planned).map(|l| l.text).collect();
    testkit::tally("policy", "hostile instructions", hostile.len(), "planned or asked about", seen.len());
    assert!(seen.is_empty(), "{seen:#?}");
}

/// No instruction that lacks something is written all the same.
#[test]
fn no_write_is_guessed() {
    let index = index("agent");
    for labelled in all().into_iter().filter(|l| ["ambiguous", "hostile"].contains(&l.kind)) {
        let decided = decide(&index, labelled.text, &[], &settings(), now());
        let writes = decided.plan().and_then(|p| p.step()).is_some_and(|s| s.op().writes());
        assert!(!writes || labelled.expected.starts_with("update"), "{}", labelled.text);
    }
}

#[test]
fn the_file_is_as_large_as_it_says() {
    let count = |kinds: &[&str]| all().iter().filter(|l| kinds.contains(&l.kind)).count();
    assert!(count(&["read", "join"]) >= 60 && count(&["write"]) >= 40 && all().len() >= 200);
    let tuned = all().iter().filter(|l| l.half == Half::Tuned).count();
    assert!((80..=144).contains(&tuned), "{tuned}");
}
