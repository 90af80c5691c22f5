//! No function that a predicate may call is left out of the suite.

use std::collections::BTreeSet;

/// What policy knows, and what the suite tries, in each flavour.
const FLAVOURS: [(&str, &[&str]); 2] = [
    (
        include_str!("../../../../policy/src/predicate/functions/duckdb.txt"),
        &[super::suite::FILTERS, include_str!("../cases/sources/lists.txt")],
    ),
    (
        include_str!("../../../../policy/src/predicate/functions/bigquery.txt"),
        &[include_str!("../cases/sources/filters.bigquery.txt")],
    ),
];

/// The names before the first bracket of each line.
fn known(functions: &str) -> BTreeSet<String> {
    let lines = functions.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('(')).map(|(name, _)| name.to_lowercase()).collect()
}

/// Words that are not within a text.
fn words(filter: &str) -> BTreeSet<String> {
    let outside = filter.split('\'').step_by(2);
    let words = outside.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.map(str::to_lowercase).collect()
}

#[test]
fn every_function_of_a_predicate_is_tried() {
    for (functions, files) in FLAVOURS {
        let tried: BTreeSet<String> = files.iter().flat_map(|file| super::suite::cases(file)).flat_map(words).collect();
        let known = known(functions);
        assert!(known.len() > 40, "{known:?}");
        let left_out: Vec<_> = known.difference(&tried).collect();
        assert!(left_out.is_empty(), "{left_out:?}");
    }
}
