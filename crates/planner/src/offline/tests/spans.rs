use super::company;
use crate::offline::spans::Span;

/// The stretches that a question is cut into, those that carry nothing left out.
fn stretches(question: &str) -> Vec<String> {
    let said = |s: &&Span| !s.is_stop();
    company().read(question).spans.iter().filter(said).map(|s| s.text.clone()).collect()
}

#[test]
fn the_longest_stretch_that_means_something_wins() {
    for (question, expected) in [
        ("the unit price of the Desk Lamp", vec!["unit price", "of", "Desk Lamp"]),
        ("total number of order lines", vec!["total number of", "order lines"]),
        ("orders in the past 6 months", vec!["orders", "in", "the past 6 months"]),
        ("customers with at least 2 orders", vec!["customers", "with", "at least", "2", "orders"]),
    ] {
        assert_eq!(stretches(question), expected, "{question}");
    }
}

#[test]
fn every_meaning_of_a_stretch_is_kept() {
    let index = company();
    let read = index.read("names");
    let columns: Vec<String> = read.spans[0].columns().map(|(c, _)| index.name_of(c)).collect();
    for owner in ["customers.name", "products.name", "employees.name"] {
        assert!(columns.iter().any(|c| c == owner), "{columns:?}");
    }
}

#[test]
fn words_of_no_meaning_are_said_to_be_unknown() {
    let read = company().read("blorbs per tier");
    assert!(read.spans[0].is_unknown());
    assert_eq!(read.draft.unexplained, ["blorbs"]);
}

#[test]
fn numbers_periods_and_values_are_told_apart() {
    let index = company();
    let read = index.read("orders over 2024 in 2024 that are completed");
    let kinds: Vec<(bool, bool, bool)> = read
        .spans
        .iter()
        .filter(|s| s.text == "2024" || s.text == "completed")
        .map(|s| (s.number().is_some(), s.time().is_some(), s.values().next().is_some()))
        .collect();
    assert_eq!(kinds, [(true, false, false), (true, true, false), (false, false, true)]);
}
